/* SPDX-License-Identifier: MIT */
/* Commands that run another command under a lock, as in users' scripts. */
#ifndef TSEM_BENCH_COMMAND_H
#define TSEM_BENCH_COMMAND_H

#include <sys/types.h>

#include "workload.h"

enum { WORDS_MAX = 12 };

struct command {
	const char *name;
	bool slow;                    /* takes a tenth of a second or more: run less often */
	bool dies;                    /* its end is the death of a holder */
	const char *words[WORDS_MAX]; /* %s: the semaphore, %p: the lock file; the words of the job follow */
};

extern const struct command all_commands[];

/* A directory for the locks, and an environment that keeps all files of the commands in it. */
void commands_begin(const struct options *options);
void commands_end(void);

/* Gives back what commands have held that have died. */
void commands_recover(void);

/* Whether the command is installed and wanted; prints a line if it is missing. */
bool command_is_there(const struct command *command, const struct options *options);

/* Starts the command around the job, or `words` alone if `job` is NULL. */
pid_t command_start(const struct command *command, const char *const *words, const char *const *job);
void command_wait(const struct command *command, pid_t pid);

/* A path in the directory. */
const char *commands_path(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* Commands that run another one under a lock: what users write in their scripts. */
#ifndef TSEM_BENCH_COMMAND_H
#define TSEM_BENCH_COMMAND_H

#include <sys/types.h>

#include "workload.h"

enum { WORDS_MAX = 12 };

struct command {
	const char *name;
	bool slow;                    /* takes a tenth of a second and more: run it less often */
	const char *words[WORDS_MAX]; /* %s: the semaphore, %p: the lock file; the job's words follow */
};

extern const struct command all_commands[];

/* A directory for the locks, and an environment that keeps all traces in it. */
void commands_begin(const struct options *options);
void commands_end(void);

/* Whether it is installed and wanted; says so if it is missing. */
bool command_is_there(const struct command *command, const struct options *options);

/* Starts it around the job, or around nothing when `job` is NULL: then `words` alone. */
pid_t command_start(const struct command *command, const char *const *words, const char *const *job);
void command_wait(const struct command *command, pid_t pid);

/* A path in the directory. */
const char *commands_path(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* Who the calling process is, as it stands in a record; and noticing that it has forked. */
#ifndef TSEM_LIB_IDENTITY_H
#define TSEM_LIB_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct identity {
	uint64_t who;    /* an OWNER value of shm/layout.h */
	uint32_t pid_ns; /* inode numbers of the namespaces the pid and the start time belong to; 0: not known */
	uint32_t time_ns;
	uint32_t uid;
};

/* What one line of /proc/PID/stat says. */
struct process_stat {
	char state;
	uint64_t threads;
	uint64_t start; /* clock ticks since boot */
};

/*
 * The calling process. Costs no system call but for the first time in a process, also in a forked one. 0 and false: no
 * memory (ENOMEM), which only the first call of a program can meet.
 */
uint64_t identity_who(void);
bool identity_get(struct identity *identity);

/* The calling process, read afresh: in a child of vfork() the parent's memory is not to be believed, nor written to. */
void identity_read(struct identity *identity);

/* False if there is no such process here, or no /proc to ask. `pid` "self" is the calling one. */
bool process_stat_read(const char *pid, struct process_stat *stat);

/* Writes `pid` in decimal: snprintf is not async-signal-safe. */
void pid_to_text(pid_t pid, char text[12]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What /proc says of processes. Every function works in signal handlers and after vfork(), and reads in small pieces,
 * for the stack of a signal handler may be small.
 */
#ifndef TSEM_LIB_PROC_H
#define TSEM_LIB_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What one line of /proc/PID/stat says. */
struct process_stat {
	char state;
	uint64_t threads;
	uint64_t start; /* clock ticks since boot, by the clock of the reader's time namespace: see start_since_boot() */
	bool exited;    /* a zombie that ended by itself and not by a signal, as far as we may know */
};

/* False, with errno, if there is no such process here, or no /proc to ask. `pid` "self" is the calling one. */
bool process_stat_read(const char *pid, struct process_stat *stat);

/*
 * The same from what the kernel says of the first thread alone, without the sums over all threads, which take it a
 * millisecond where there are 10,000. Not for `exited`: of what ended the process only the whole knows.
 */
bool process_stat_read_quickly(const char *pid, struct process_stat *stat);

/* The same of thread `tid` of `pid`. */
bool thread_stat_read(const char *pid, const char *tid, struct process_stat *stat);

/* How many numbers this process has: one in the PID namespace of /proc, and one in each below it. -1: no /proc. */
int own_pids_count(void);

/* The inode number of a namespace of the process; 0 if it cannot be told. */
uint32_t namespace_of(const char *pid, const char *kind);

/* That of this process's PID namespace; 0, with errno, if it cannot be told. */
uint32_t own_pid_namespace(void);

#define BOOT_OFFSET_UNKNOWN INT64_MIN

/*
 * By how many nanoseconds the boot time of this process's time namespace is ahead of the kernel's. It changes only when
 * the process enters another time namespace: by setns(), or by exec() after unshare().
 */
int64_t boot_offset_read(void);

/*
 * `start` of a process_stat that was read where boot time is ahead by `offset`, in ticks of the kernel's own boot time.
 * All processes get the same value, or one less: see is_same_start(). 0: cannot be told.
 */
uint64_t start_since_boot(uint64_t start, int64_t offset);

/*
 * Start times, both known, that may be of the same process. An offset that is no multiple of a tick moves a start
 * across the border of two ticks, so a difference of one tick means nothing.
 */
bool is_same_start(uint64_t a, uint64_t b);

/* Writes `pid` in decimal: snprintf is not async-signal-safe. */
void pid_to_text(pid_t pid, char text[12]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Reading /proc. Every function works in signal handlers and after vfork(), and reads in small pieces, because the
 * stack of a signal handler may be small.
 */
#ifndef TSEM_LIB_PROC_H
#define TSEM_LIB_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Part of the line in /proc/PID/stat or /proc/PID/task/TID/stat. */
struct process_stat {
	char state;
	uint64_t threads;
	uint64_t start; /* clock ticks since boot, by the clock of the reader's time namespace: see start_since_boot() */
	bool exited;    /* a zombie that no signal killed, or whose exit code the kernel hides: another user's process */
};

/*
 * Reads the line of process `pid`, which may be "self", or of its thread `thread` unless that is NULL. Returns false,
 * with errno, if no such process or no /proc exists. The line of one thread is cheaper: for a whole process the kernel
 * adds up the times of all threads, which takes a millisecond for 10,000. But only the line of the whole process sets
 * `exited`.
 */
bool process_stat_read(const char *pid, const char *thread, struct process_stat *stat);

/* A process has one pid in the PID namespace of /proc, and one in each namespace below it down to its own. */
struct process_pids {
	int count;
	uint32_t innermost; /* the one in its own namespace */
};

/* Reads the pids of process `pid`, which may be "self". False: no such process, or no /proc. */
bool process_pids_read(const char *pid, struct process_pids *pids);

/* Returns the inode number of the process's namespace /proc/PID/ns/KIND; 0: not known. */
uint32_t namespace_of(const char *pid, const char *kind);

/*
 * Returns the inode number of this process's PID namespace; 0, with errno: not known. Linux 6.11 needs no /proc for it.
 */
uint32_t own_pid_namespace(void);

#define BOOT_OFFSET_UNKNOWN INT64_MIN

/*
 * Reads by how many nanoseconds the boot time of this process's time namespace is ahead of the kernel's. The offset
 * changes only when the process enters another time namespace: by setns(), or by exec() after unshare().
 */
int64_t boot_offset_read(void);

/*
 * Converts `start` of a process_stat to ticks of the kernel's boot time. `offset` is the boot offset of the process
 * that read it. The results of two processes differ by at most one tick: see is_same_start(). 0: not known.
 */
uint64_t start_since_boot(uint64_t start, int64_t offset);

/*
 * Whether two start times are both known and may be those of one process. A boot offset that is not a multiple of a
 * tick moves a start into a neighbouring tick, so a difference of one tick means nothing.
 */
bool is_same_start(uint64_t a, uint64_t b);

/* Whether /proc gives this process the number that getpid() does. */
bool proc_is_ours(void);

/* Writes `pid` in decimal. snprintf() is not async-signal-safe. */
void pid_to_text(pid_t pid, char text[12]);

#endif

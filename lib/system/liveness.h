/* SPDX-License-Identifier: MIT */
/*
 * Judges whether a process of which only the numbers are known is dead. DEAD means certainly dead; any doubt counts as
 * alive. The owner of a record goes through owner.h, which decides some cases by the record alone and asks here for all
 * others.
 */
#ifndef TSEM_LIB_LIVENESS_H
#define TSEM_LIB_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum liveness { LIVENESS_DEAD, LIVENESS_ALIVE, LIVENESS_UNKNOWN };

/* A process, as a record names it. */
struct process_id {
	uint32_t pid;
	uint64_t start; /* as start_since_boot() returns it; 0: not known */
	uint32_t pid_ns;
};

/* Returns an enum liveness. Async-signal-safe; errno keeps its value. */
int liveness_judge(const struct process_id *owner);

/*
 * Whether the process is a zombie that no signal killed. False also if the process is gone or /proc does not show it.
 * True also for another user's zombie if the kernel hides its exit code.
 */
bool has_exited(pid_t pid, uint64_t start);

/*
 * Whether /proc shows this process's own PID namespace: in a new namespace without a /proc of its own, /proc/1 is the
 * host's. /proc/self must lead to this process's pid. As the pids in two namespaces may be equal by chance, /proc must
 * also have no second pid for this process.
 */
bool proc_is_trustworthy(void);

/*
 * Reads the start of the process `pid`, as start_since_boot() returns it; 0: not known beyond doubt. The cached boot
 * offset may be out of date, so this reads the offset again, and checks it with this process's own start, which never
 * changes.
 */
uint64_t start_read(const char *pid);

#endif

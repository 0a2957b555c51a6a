/* SPDX-License-Identifier: MIT */
/*
 * Finds the pids by which the calling process knows processes of PID namespaces below its own, such as those of
 * containers seen from the host.
 */
#ifndef TSEM_LIB_INNER_PROCESS_H
#define TSEM_LIB_INNER_PROCESS_H

#include "system/liveness.h"

struct inner_process {
	struct process_id id; /* in its own namespace */
	pid_t here;
};

struct inner_processes {
	struct inner_process *all;
	size_t n;
};

/*
 * Reads /proc once, from beginning to end. Without a /proc of the caller's own namespace, and without memory, there are
 * none; nor are there those whose namespace the caller may not see.
 */
struct inner_processes inner_processes_read(void);

void inner_processes_free(struct inner_processes *processes);

/*
 * Returns the process's pid here; 0: not found. One that is found and has not exited is alive if *verdict is UNKNOWN.
 */
pid_t inner_process_judge(const struct inner_processes *processes, const struct process_id *id, enum liveness *verdict);

#endif

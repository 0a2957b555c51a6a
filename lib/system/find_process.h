/* SPDX-License-Identifier: MIT */
/* A process that a caller of the interface names by its pid. */
#ifndef TSEM_LIB_FIND_PROCESS_H
#define TSEM_LIB_FIND_PROCESS_H

#include "tsem.h"

/* The inside of a tsem_process. */
struct process {
	uint64_t owner;  /* a PROCESS owner word: the pid, and the start time or 0 if it cannot be told */
	uint64_t pid_ns; /* of the process that found it */
};

/* -ESRCH: no process has the pid, or it has ended. -ENOMEM, -EMFILE, -ENFILE. */
int find_process(pid_t pid, struct process *process);

/* Finds the same process again, and completes what is known of it. -ESRCH: it is gone. */
int find_process_again(struct process *process);

struct process process_inside(const tsem_process *process);

#endif

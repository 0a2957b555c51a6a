/* SPDX-License-Identifier: MIT */
/* The descendants of this process, by /proc: a build has at most as many jobs as its processes have threads. */
#ifndef TSEM_CLI_JOBSERVER_PROCESS_TREE_H
#define TSEM_CLI_JOBSERVER_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of one scan. */
struct process_tree {
	bool known;           /* false: /proc does not show all processes, and the rest means nothing */
	bool asleep;          /* every thread is */
	size_t threads;       /* a zombie counts as one */
	uint64_t fingerprint; /* differs from the last scan's if any thread has run since */
};

/* Makes orphaned descendants children of this process, so that scans find them. */
void adopt_orphans(void);

/* Stops looking at threads once there are `enough`. */
struct process_tree process_tree_scan(size_t enough);

#endif

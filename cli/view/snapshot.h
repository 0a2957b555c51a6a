/* SPDX-License-Identifier: MIT */
/* A semaphore at one instant: the counts, and everybody who holds or waits. */
#ifndef TSEM_CLI_SNAPSHOT_H
#define TSEM_CLI_SNAPSHOT_H

#include "tsem.h"

struct snapshot {
	struct tsem_stat stat;
	struct tsem_owner *owners; /* holders, the oldest first, then waiters, the first in line first */
	size_t n;
	size_t room;
	uint32_t *slots; /* TSEM_SLOTS_MAX, which the owners point into */
	size_t slots_n;
};

/* Opens a semaphore to look at it, whoever owns it. */
int open_for_viewing(const char *name, tsem **sem);

/* Overwrites what an earlier one left there; zeroed memory at first. 0, or a negative errno. */
int snapshot_take(tsem *sem, struct snapshot *snapshot);

/* The same by name, for once. */
int snapshot_of(const char *name, struct snapshot *snapshot);

void snapshot_free(struct snapshot *snapshot);

#endif

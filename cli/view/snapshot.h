/* SPDX-License-Identifier: MIT */
/* A semaphore at one instant: its counts, holders and waiters. */
#ifndef TSEM_CLI_SNAPSHOT_H
#define TSEM_CLI_SNAPSHOT_H

#include "reason.h"
#include "tsem.h"
#include "view/describe.h"

struct snapshot {
	struct tsem_stat stat;
	struct tsem_owner *owners; /* holders, the oldest first, then waiters in the order of the queue */
	struct remote *remotes;    /* one for each owner, whose texts belong to the snapshot; NULL: /proc tells of them */
	size_t n;
	size_t room;
	uint32_t *slots; /* an array of TSEM_SLOTS_MAX, which the owners point into */
	size_t slots_n;
	struct reason reason; /* that a request has to wait */
};

/* Opens a semaphore read-only, also one of another user. */
int open_for_viewing(const char *name, tsem **sem);

/* Of an open semaphore: as snapshot_of(). */
int snapshot_take(tsem *sem, struct snapshot *snapshot);

/* Replaces the former contents; the memory is zeroed before the first call. 0, or a negative errno. */
int snapshot_of(const char *name, struct snapshot *snapshot);

struct participant snapshot_participant(const struct snapshot *snapshot, size_t i);

void snapshot_free(struct snapshot *snapshot);

#endif

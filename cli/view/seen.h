/* SPDX-License-Identifier: MIT */
/* The owners that two looks at a semaphore have found, and what became of those that only the first one has found. */
#ifndef TSEM_CLI_SEEN_H
#define TSEM_CLI_SEEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TICKET_MASK ((UINT64_C(1) << 48) - 1) /* tickets are counted modulo 2^48 */

/* An owner as the last look found it. */
struct seen {
	uint64_t ticket;
	uint32_t count;
	pid_t pid;      /* in its own PID namespace */
	pid_t pid_here; /* 0: not known */
	bool holds, dead;
	uint64_t since_ns; /* on the monotonic clock */
	json_t *about;     /* the process, for the event of its end */

	size_t index;        /* in the snapshot of this look */
	struct seen *before; /* by the last look; NULL: it is new */
	bool stays, runs;    /* by the next look */
};

/* For qsort(): the oldest first, however often the tickets have begun again at 0 since. */
int seen_by_ticket(const void *a, const void *b);

/* Of the owners that are gone since the last look, and of the new ones. */
struct changes {
	uint64_t arrived; /* permits */
	uint64_t held;    /* permits of holders that do not run */
	uint64_t waited;  /* waiters */
};

/* Pairs the owners of both looks, which are sorted by ticket. */
struct changes seen_compare(struct seen *before, size_t before_n, struct seen *now, size_t now_n);

/*
 * A holder has released, or was dead and has been recovered; one that runs was not recovered. A waiter has given up; or
 * it was admitted here, or with tsem_acquire_any() elsewhere, or has died. What the counters rose by tells, if nothing
 * else can have raised them: no process came and went unseen. Otherwise an owner has "left", which says nothing more.
 */
struct fates {
	const char *holder, *waiter;
	uint64_t recovered, given_up; /* what these do not explain */
};

/* `recovered`, `given_up`: by what the counters rose. `all_seen`: no process came and went unseen. */
struct fates fates_of(const struct changes *changes, uint64_t recovered, uint64_t given_up, bool all_seen);

#endif

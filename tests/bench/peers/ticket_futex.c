/* SPDX-License-Identifier: MIT */
/* The plain ticket lock with one futex: in order, but a give wakes all waiters, because it cannot tell them apart. */
#include <limits.h>
#include <stdbool.h>

#include "peer.h"
#include "support.h"

struct ticket_futex {
	atomic_uint ticket;
	atomic_uint grant;
};

static void *
futex_create(unsigned permits)
{
	struct ticket_futex *lock = fresh_line(sizeof(*lock));
	atomic_init(&lock->grant, permits);
	return lock;
}

static void
futex_destroy(void *semaphore)
{
	fresh_line_free(semaphore, sizeof(struct ticket_futex));
}

static inline void
futex_take(void *semaphore, tsem_hold *hold)
{
	struct ticket_futex *lock = semaphore;
	(void)hold;
	const unsigned ticket = atomic_fetch_add(&lock->ticket, 1);
	for (;;) {
		const unsigned grant = atomic_load(&lock->grant);
		if ((int)(grant - ticket) > 0)
			return;
		futex_wait(&lock->grant, grant, BETWEEN_PROCESSES);
	}
}

static inline void
futex_give(void *semaphore, tsem_hold *hold)
{
	struct ticket_futex *lock = semaphore;
	(void)hold;
	const unsigned grant = atomic_fetch_add(&lock->grant, 1);
	if ((int)(atomic_load(&lock->ticket) - grant) > 0)
		futex_wake(&lock->grant, INT_MAX, BETWEEN_PROCESSES);
}

DEFINE_PAIRS(futex)

static size_t
futex_bytes(void *semaphore)
{
	(void)semaphore;
	return sizeof(struct ticket_futex);
}

const struct peer peer_ticket_futex = {
	.name = "ticket-futex",
	.traits = HERD,
	.create = futex_create,
	.destroy = futex_destroy,
	.take = futex_take,
	.give = futex_give,
	.bytes = futex_bytes,
	.pairs = futex_pairs,
};

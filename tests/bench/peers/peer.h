/* SPDX-License-Identifier: MIT */
/*
 * A semaphore as its users would use it. Workloads know peers by this table only. A peer that is a lock is a semaphore
 * with one permit that only its taker may give back.
 */
#ifndef TSEM_BENCH_PEER_H
#define TSEM_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>

#include "tsem.h"

enum trait {
	THREADS_ONLY = 1, /* shares pointers: not between processes */
	SPINS = 2,        /* spins only: not with more participants than CPUs */
	LOCK = 4,         /* one permit, and only its taker gives it back */
	HERD = 8,         /* a give wakes all waiters: not with thousands of them */
	RECOVERS = 16,    /* the permit of a killed process comes back */
	LOOKS = 32,       /* a sleeping waiter wakes up by itself from time to time */
};

struct peer {
	const char *name;
	unsigned traits;
	void *(*create)(unsigned permits);
	void (*destroy)(void *semaphore);
	/* `hold` belongs to the participant; only owned permits of tsem need it. */
	void (*take)(void *semaphore, tsem_hold *hold);
	void (*give)(void *semaphore, tsem_hold *hold);
	void (*give_many)(void *semaphore, unsigned count); /* in as few calls as possible; NULL: the peer cannot */
	size_t (*bytes)(void *semaphore);                   /* the memory of one; NULL: the kernel hides it */
	/*
	 * `count` rounds of take and give: a loop in the peer's own file, so that it calls no function through a pointer.
	 */
	void (*pairs)(void *semaphore, tsem_hold *hold, unsigned long count);
};

#define DEFINE_PAIRS(name)                                                          \
	static void name##_pairs(void *semaphore, tsem_hold *hold, unsigned long count) \
	{                                                                               \
		for (unsigned long i = 0; i < count; i++) {                                 \
			name##_take(semaphore, hold);                                           \
			name##_give(semaphore, hold);                                           \
		}                                                                           \
	}

extern const struct peer peer_tsem, peer_tsem_owned, peer_glibc, peer_sysv, peer_sysv_undo, peer_ticket_futex,
	peer_ticket_semaphore, peer_twa_semaphore, peer_chains, peer_key_wait;

extern const struct peer *const all_peers[];

/* Of a semaphore of tsem: its name, and how often a process came, to get the permit or to wait. */
const char *tsem_peer_name(const void *semaphore);
uint64_t tsem_peer_arrivals(void *semaphore);

/* NULL: there is none of this name. */
const struct peer *peer_find(const char *name);

#endif

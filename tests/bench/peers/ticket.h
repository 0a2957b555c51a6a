/* SPDX-License-Identifier: MIT */
/* The two counters that all of the paper's semaphores have. A ticket is enabled once `grant` is above it. */
#ifndef TSEM_BENCH_TICKET_H
#define TSEM_BENCH_TICKET_H

#include "support.h"

struct counters {
	_Atomic uint64_t ticket;
	_Atomic uint64_t grant;
};

static inline bool
is_enabled(struct counters *counters, uint64_t ticket)
{
	return (int64_t)(atomic_load(&counters->grant) - ticket) > 0;
}

enum { BUCKETS = 4096 };

/* The paper's ticket-aware hash: neighbouring tickets use different cache lines. */
static inline unsigned
bucket_of(const struct counters *counters, uint64_t ticket)
{
	return (unsigned)(ticket * 17U + (uintptr_t)counters / 64) % BUCKETS;
}

/* Rounds of spinning before a waiter sleeps. */
enum { SPIN_ROUNDS = 1000 };

#endif

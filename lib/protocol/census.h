/* SPDX-License-Identifier: MIT */
/* The holders and waiters of one instant, read from a segment in which everything moves. */
#ifndef TSEM_LIB_CENSUS_H
#define TSEM_LIB_CENSUS_H

#include "protocol/handle.h"

struct counters {
	uint64_t tickets;
	uint64_t grants;
	uint32_t capacity;
	uint64_t limit; /* E */
};

enum role { ROLE_NONE, ROLE_HOLDER, ROLE_WAITER, ROLE_ORPHAN };

/* A copy of a record, all of it from one use. */
struct sighting {
	enum role role;
	uint32_t index;
	uint64_t owner;
	uint64_t state;
	uint64_t ticket;
	int64_t distance; /* of the ticket from G, so that nonsense in a segment has an order, too */
	uint64_t since;
	uint64_t until;
	uint32_t count;
	uint32_t pid_ns;
	uint32_t uid;
	uint32_t use;
};

struct census {
	struct counters c;
	uint64_t queued; /* the permits that waiters wait for, and those of orphans */
	uint64_t held;   /* the permits of holders */
	uint32_t waiting;
	uint64_t first_ticket; /* of the first waiter */
	uint32_t first_count;  /* its permits; 0: none waits */
	struct sighting *seen; /* holders and waiters, up to `room` of them */
	size_t room;
	size_t n;
};

/*
 * Reads the counters and all records until nothing has moved meanwhile, so that they belong together. Each pass costs a
 * cache line for each record, and no system call. On a semaphore that never stands still for so long, the last pass
 * counts as it is.
 */
void take_census(struct tsem *sem, struct census *census);

/* T, G and C of one instant. */
struct counters census_counters(const struct tsem *sem);

/* What the record was at the instant of `c`. A record that keeps changing while it is read has no role. */
struct sighting census_sight(const struct record *record, uint32_t index, const struct counters *c);

/* The position of `ticket` in the queue, from 1. Waiters in front of it count, live or dead; orphans do not. */
uint32_t census_position(struct tsem *sem, uint64_t ticket);

/*
 * Whether no process holds, recorded or not, and unless `holders_only` none waits. Never true in error. False also on a
 * semaphore that never stands still for one pass over the records.
 */
bool census_is_idle(struct tsem *sem, bool holders_only);

#endif

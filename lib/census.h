/* SPDX-License-Identifier: MIT */
/* Who holds and who waits at one instant, read from a segment in which everything moves. */
#ifndef TSEM_LIB_CENSUS_H
#define TSEM_LIB_CENSUS_H

#include "handle.h"

struct counters {
	uint64_t tickets;
	uint64_t grants;
	uint32_t capacity;
	uint64_t limit; /* E */
};

enum role { ROLE_NONE, ROLE_HOLDER, ROLE_WAITER, ROLE_LEFT };

/* A record, copied while it was one owner's. */
struct sighting {
	enum role role;
	uint32_t index;
	uint64_t owner;
	uint64_t state;
	uint64_t ticket;
	uint64_t since;
	uint64_t until;
	uint32_t count;
	uint32_t pid_ns;
	uint32_t uid;
	uint32_t use;
};

struct census {
	struct counters c;
	uint64_t queued; /* permits that waiters, and places that were given up, stand in line for */
	uint64_t held;   /* permits of recorded holders */
	uint32_t waiting;
	struct sighting *seen; /* holders and waiters, as far as there is room; NULL: not wanted */
	size_t room;
	size_t n;
};

/*
 * Counts until nothing has moved meanwhile, so that counters and records belong together. Each look costs a cache line
 * per record and no system call. Where nothing ever stands still for so long, the last look is taken as it is.
 */
void take_census(struct tsem *sem, struct census *census);

/* The place in line of `ticket`, from 1: live or dead, those who wait in front of it count, places given up do not. */
uint32_t census_position(struct tsem *sem, uint64_t ticket);

/*
 * Nobody holds, recorded or not, and unless `holders_only` nobody waits. Never true in error; false also where
 * nothing ever stands still for as long as a look at the records takes.
 */
bool census_is_idle(struct tsem *sem, bool holders_only);

#endif

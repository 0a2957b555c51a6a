/* SPDX-License-Identifier: MIT */
/* Recovery of all records, and how often it runs. */
#ifndef TSEM_LIB_RECOVER_H
#define TSEM_LIB_RECOVER_H

#include "clock.h"
#include "handle.h"

/*
 * Sleeping waiters wake up at ticks, the multiples of TICK, and the first of them looks for dead owners, for all. A
 * waiter that should have been woken by a process that died is found by such a look, too. tsem(7) promises half a
 * second; the difference is for a loaded machine. All wake up at the same moments, because a thousand wake-ups one
 * after another, each from an idle machine, cost it twice as much.
 */
#define TICK (400 * NS_PER_MS)

/* A look within this time counts for all other processes. */
#define LOOK_EVERY (50 * NS_PER_MS)

static inline uint64_t
next_tick(uint64_t now)
{
	return (now / TICK + 1) * TICK;
}

/* Recovers all holders and the front of the queue. */
void recover_all(struct tsem *sem, uint32_t *permits);

/*
 * The same, and notices a removal, wakes overlooked waiters, and frees records for waiters that want one; unless
 * another process has done all that within LOOK_EVERY and since the last tick. `now` may be a little behind the clock.
 * Returns the time at which the caller has to call this again.
 */
uint64_t recover_if_due(struct tsem *sem, uint64_t now);

/* recover_all() for a try that is about to fail, at most every 10 ms for each handle. True: it ran, so try again. */
bool recover_before_failing(struct tsem *sem);

/* Frees the records of dead owners that have neither a permit nor a ticket. Returns their number. */
uint32_t recover_spare_records(struct tsem *sem);

#endif

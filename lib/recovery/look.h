/* SPDX-License-Identifier: MIT */
/*
 * Which sleeping process looks for dead owners, and when.
 *
 *     sleep                                       looks at each multiple of
 *     for a ticket (acquire, take, all, any)
 *         of the last waiter in line              LOOKOUT_EVERY, and as much again for each LOOKOUT_HOLDERS
 *                                                 holders; at most TICK; TICK after LOOKOUT_FOR
 *         of the DEPUTIES before it               TICK
 *         of any other waiter                     SLOW_TICK, and as much again for each SLOW_LINE + 1 waiters
 *     for idleness                                TICK
 *
 * Semaphores in a program's own memory are no exception. At such a time, a process looks unless a process of its PID
 * namespace has completed a look that began there, and could judge all owners of that namespace: so a process that
 * cannot judge an owner, and one that is killed or stopped in its look, take nothing away from the others. A waiter
 * looks as well when it begins to sleep, and when it is woken without being enabled, unless a look of its namespace
 * began less than the last waiter's time before.
 *
 * The last waiter is the one that looks often, because it knows from T that it is the last, without being told. What it
 * sees serves all: it recovers the dead, and wakes the waiters that a dead process should have woken. For owners of
 * other PID namespaces, it wakes a waiter of each. Each waiter finds out how many are behind it whenever it is due;
 * dead and stopped ones count. So if the last ones leave within the longer time, others take their place at its end;
 * and while the last ones are dead or stopped, or have no descriptor for a look, the others look at their longer times.
 */
#ifndef TSEM_LIB_LOOK_H
#define TSEM_LIB_LOOK_H

#include "protocol/handle.h"
#include "system/clock.h"

#define LOOKOUT_EVERY (50 * NS_PER_MS)
#define LOOKOUT_FOR (30 * NS_PER_SECOND) /* of waiting. Many semaphores may each have a last waiter */
#define TICK (400 * NS_PER_MS)
#define SLOW_TICK (3500 * NS_PER_MS)

enum { DEPUTIES = 7, SLOW_LINE = 1000, LOOKOUT_HOLDERS = 32 };

static inline uint64_t
next_multiple(uint64_t now, uint64_t period)
{
	return (now / period + 1) * period;
}

/* At the multiples of which time the last waiter looks at first. */
uint64_t lookout_period(const struct tsem *sem);

/*
 * Looks, unless another look is enough: see above. `due`: the time at which the look was due; 0: the caller begins to
 * sleep or was woken. `now` may be a little behind the clock.
 *
 * A look recovers all owners that this process can judge, notices a removal, wakes overlooked waiters,
 * counts waiters and holders, and calls waiters that can judge the other owners.
 */
void look_unless_done(struct tsem *sem, uint64_t now, uint64_t due);

#endif

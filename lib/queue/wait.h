/* SPDX-License-Identifier: MIT */
/*
 * How a waiter sleeps on its word of the waiting array until its ticket is enabled.
 *
 * All sleeps of the library, which platform.sleep() and platform.sleep_any() do:
 *
 *     wait.c          wait_sleeping()         for a ticket, or one of several
 *     idle.c          sleep_until_idle()      for idleness
 *     removal.c       sleep_for()             for another remover, a second at most
 *
 * Before a sleep, the first two look for dead owners if look.h says so. (shm/attach.c waits up to 20 ms for a lease.)
 */
#ifndef TSEM_LIB_WAIT_H
#define TSEM_LIB_WAIT_H

#include <errno.h>

#include "queue/spin.h"
#include "system/clock.h"

/* Whether the sleep ended with `rc` because of a signal, and `flags` say that this ends the wait. */
static inline bool
wait_is_interrupted(int rc, unsigned flags)
{
	return rc == -EINTR && (flags & TSEM_INTERRUPTIBLE) != 0;
}

/* When a sleeping waiter has to wake up by itself. */
struct timers {
	uint64_t began;
	uint64_t look;     /* 0: it has not looked yet */
	uint64_t progress; /* to report; NS_FOREVER: the wait has no progress function */
};

/* For how long a waiter sleeps while its word says that a post is about to enable it. */
struct posted {
	uint32_t word; /* as last announced */
	uint64_t pause;
};

/* A waiter that is about to sleep. The caller sets the first two members, and clears the others. */
struct sleeper {
	struct tsem *sem;
	const struct waiter *waiter;
	uint32_t announced; /* its word, as it announced itself there */
	struct posted posted;
	struct timers timers;
};

/*
 * Sleeps until one of the tickets is enabled, or a setter that lowered the capacity has made its record HELD: 0, and
 * `*which` says which one. The caller relies on this finding: if a setter lowers the capacity afterwards, E may
 * say no. -ETIMEDOUT, -EINTR, -ECANCELED or -EIDRM: the tickets are still the caller's, which has to give them up.
 * `*now`: when the wait begins, and then when it has ended.
 *
 * Before each sleep a waiter looks for dead owners if it is time to, or if another process has ended the last sleep;
 * and it reports progress. If it learns at the time of such a look that the semaphore was removed or that all waits
 * were cancelled, it wakes the other waiters, because the process that did so may have died before it woke them.
 */
int wait_sleeping(struct sleeper *sleepers, size_t n, uint64_t *now, size_t *which);

/* In ns; NS_FOREVER for NULL. */
uint64_t wait_deadline(const struct timespec *deadline);

/*
 * The deadline by CLOCK_MONOTONIC, whose time is `now`; NS_FOREVER: none. With TSEM_REALTIME, which alone needs `now`, it
 * moves when the clock is set.
 */
uint64_t wait_until(const struct tsem_wait *options, uint64_t now);

/* The first one whose ticket is enabled or whose record is HELD; n: none. */
size_t wait_find_enabled(const struct sleeper *sleepers, size_t n);

/* Counts a wait that neither the arrival nor a short spin ended. */
void wait_count(struct tsem *sem, uint64_t ns);

/* ---- the parts of a sleep ---- */

/*
 * Announces on the word that a waiter is about to sleep there, and returns the value to sleep on. `announced`: what the
 * last call of this wait returned, or 0; if the word is still that, there is nothing to write. The waiter reads E,
 * `cancels` and `removed` after this call, because a process that changed them before may not have seen the waiter.
 */
uint32_t wait_announce(_Atomic uint32_t *word, uint32_t announced);

#define POSTED_PAUSE (20 * UINT64_C(1000))

/*
 * Returns the time at which a waiter that has announced itself must read E again. If a post is about to enable it, this
 * is after a pause, because the poster may have died before it moved G. The pause doubles each time, and starts anew
 * when the word has changed. NS_FOREVER: no post is about to, or the pause has grown to a tick.
 */
uint64_t wait_posted(const struct waiter *waiter, uint32_t announced, uint64_t now, struct posted *posted);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * How a waiter with a ticket waits until it is enabled: it spins for a little while if that has been paying off, and
 * then sleeps on its word of the waiting array.
 *
 * All sleeps of the library, which platform.sleep() and platform.sleep_any() do:
 *
 *     wait.c          sleep_until_enabled()   for one ticket            wait_check()
 *     several.c       sleep_until_any()       for one of several        wait_check()
 *     idle.c          sleep_until_idle()      for idleness              look_unless_done()
 *     removal.c       sleep_for()             for another remover, a second at most
 *
 * The last column names the function that runs when the sleep times out; look.h says when that is.
 * (shm/attach.c also waits up to 20 ms for a file that is being published.)
 */
#ifndef TSEM_LIB_WAIT_H
#define TSEM_LIB_WAIT_H

#include <errno.h>

#include "system/clock.h"
#include "protocol/handle.h"

/* The most rounds that a waiter spins. */
enum { SPIN_MAX = 2000 };

struct waiter {
	uint32_t count;
	const struct tsem_wait *options;
	struct record *record;
	uint64_t ticket;
	uint64_t until;   /* the deadline in ns, or NS_FOREVER */
	uint32_t cancels; /* the header's, read before the wait began */
};

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

/* ---- before the queue ---- */

/*
 * Not a number of pauses, because a pause lasts four times as long on one processor as on another. The longer it is, the
 * more two contending processes do per second, and the longer a process stays out of the queue in vain if the waiter
 * was done at once. A sleep and a wake-up take longer than this.
 */
#define BACKOFF_FOR (4 * UINT64_C(1000))

/* The backoff of a process that has just let a waiter in: it stays out of the queue, so that the waiter can work. */
void wait_backoff(const struct tsem *sem);

/* ---- in the queue ---- */

/* 0 where spinning is pointless: on a single processor. */
uint32_t wait_spin_ceiling(void);

/*
 * Spins if the ticket is near the front and spinning has been paying off. True: the record is HELD, or the ticket is
 * enabled. The record may then be in any state; RELEASING or IDLE if the ticket was skipped.
 */
bool wait_spinning(struct tsem *sem, const struct waiter *waiter);

/*
 * Sleeps until the ticket is enabled, or a setter that lowered the capacity has made the record HELD: 0. -ETIMEDOUT,
 * -EINTR, -ECANCELED or -EIDRM: the ticket is still the caller's, which has to give it up. Sets `*now` to the time at
 * which the wait ended.
 */
int wait_sleeping(struct tsem *sem, const struct waiter *waiter, uint64_t *now);

/* Whether the ticket is enabled or the record HELD. */
bool wait_is_over(const struct tsem *sem, const struct waiter *waiter);

/* Counts a wait that neither the arrival nor a short spin ended. */
void wait_count(struct tsem *sem, uint64_t ns);

/* ---- the parts of a sleep, for the loops above ---- */

/* Of a wait that begins now. */
struct timers wait_timers(const struct tsem_wait *options, uint64_t now);

/* The time at which the waiter has to wake up: its deadline, a timer, or `again`. */
static inline uint64_t
wait_until(const struct waiter *waiter, const struct timers *timers, uint64_t again)
{
	return earlier_of(earlier_of(waiter->until, again), earlier_of(timers->look, timers->progress));
}

/*
 * What a waiter does before each sleep: looks for dead owners if it is time to, or if it was woken, reports progress,
 * and sets the timers. -EIDRM, -ECANCELED: the wait ends without a permit. `woken`: another
 * process has ended the last sleep, and yet the wait is not over. If a waiter learns only when it looks that the
 * semaphore was removed or that all waits were cancelled, it wakes the other waiters, because the process that did so
 * may have died before it woke them.
 */
int wait_check(struct tsem *sem, const struct waiter *waiter, uint64_t now, bool woken, struct timers *timers);

/* The word that the waiter sleeps on. */
_Atomic uint32_t *wait_word(struct tsem *sem, const struct waiter *waiter);

/*
 * Announces on the word that a waiter is about to sleep there, and returns the value to sleep on. `announced`: what the
 * last call of this wait returned, or 0; if the word is still that, there is nothing to write. The waiter reads E,
 * `cancels` and `removed` after this call, because a process that changed them before may not have seen the waiter.
 */
uint32_t wait_announce(_Atomic uint32_t *word, uint32_t announced);

/* For how long a waiter sleeps while its word says that a post is about to enable it. */
struct posted {
	uint32_t word; /* as last announced */
	uint64_t pause;
};

#define POSTED_PAUSE (20 * UINT64_C(1000))

/*
 * Returns the time at which a waiter that has announced itself must look again. If a post is about to enable it, this
 * is after a pause, because the poster may have died before it moved G. The pause doubles each time, and starts anew
 * when the word has changed. NS_FOREVER: no post is about to, or the pause has grown to a tick.
 */
uint64_t wait_posted(const struct waiter *waiter, uint32_t announced, uint64_t now, struct posted *posted);

/* Clears SLEEPERS if the waiter slept there alone. A post cannot: it must not touch the word after it has moved G. */
void wait_retract(_Atomic uint32_t *word, const struct waiter *waiter, uint32_t announced);

#endif

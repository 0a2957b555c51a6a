/* SPDX-License-Identifier: MIT */
/*
 * A mutex in the manner of the benaphore: a counter in front of a semaphore, so that locking and unlocking are one atomic
 * operation each while nobody competes.
 *
 * With tsem this is a lesson and no need: a semaphore of one permit makes no system call either while nobody competes, and
 * gives the lock back when its holder dies, which a counter cannot do (see recursive_mutex.h). Here, when a holder dies,
 * the others wait for ever.
 */
#ifndef BENAPHORE_H
#define BENAPHORE_H

#include <errno.h>
#include <stdatomic.h>

#include <tsem.h>

struct benaphore {
	atomic_uint *wanted; /* those who hold or wait; 0 at first, in memory that all share */
	tsem *baton;         /* made with 0 permits */
};

static inline int
benaphore_lock(const struct benaphore *mutex)
{
	return atomic_fetch_add(mutex->wanted, 1) > 0 ? tsem_take(mutex->baton, 1, NULL) : 0;
}

static inline int
benaphore_try_lock(const struct benaphore *mutex)
{
	unsigned nobody = 0;
	return atomic_compare_exchange_strong(mutex->wanted, &nobody, 1) ? 0 : -EAGAIN;
}

/* Whoever waits gets the lock from hand to hand: nobody comes in between. */
static inline int
benaphore_unlock(const struct benaphore *mutex)
{
	return atomic_fetch_sub(mutex->wanted, 1) > 1 ? tsem_post(mutex->baton, 1, NULL) : 0;
}

#endif

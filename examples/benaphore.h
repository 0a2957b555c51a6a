/* SPDX-License-Identifier: MIT */
/*
 * A benaphore is a mutex with a counter in front of a semaphore, so that locking and unlocking without contention are
 * one atomic operation each.
 *
 * With tsem the counter is a lesson and not a need. A semaphore of one permit also makes no system call without
 * contention, and gives the lock back when its holder dies, which a counter cannot do (see recursive_mutex.h). Here,
 * when a holder dies, the others wait forever.
 */
#ifndef BENAPHORE_H
#define BENAPHORE_H

#include <errno.h>
#include <stdatomic.h>

#include <tsem.h>

struct benaphore {
	atomic_uint *wanted; /* holders and waiters; 0 at first, in shared memory */
	tsem *baton;         /* created with 0 permits */
};

static inline int
benaphore_lock(const struct benaphore *mutex)
{
	return atomic_fetch_add(mutex->wanted, 1) > 0 ? tsem_take(mutex->baton, 1, NULL) : 0;
}

static inline int
benaphore_try_lock(const struct benaphore *mutex)
{
	unsigned none = 0;
	return atomic_compare_exchange_strong(mutex->wanted, &none, 1) ? 0 : -EAGAIN;
}

/* The next waiter gets the lock directly: no newcomer gets in between. */
static inline int
benaphore_unlock(const struct benaphore *mutex)
{
	return atomic_fetch_sub(mutex->wanted, 1) > 1 ? tsem_post(mutex->baton, 1, NULL) : 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The owner of this mutex, a thread of any process, may lock it again. Only the first lock and the last unlock use the
 * semaphore, which keeps the other processes out; only the owner uses the depth. If a process dies with the lock, the
 * next owner is told, as with robust mutexes: what the mutex protects may be unfinished.
 */
#ifndef RECURSIVE_MUTEX_H
#define RECURSIVE_MUTEX_H

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include <tsem.h>

/* Each process has its own structure for the same semaphore; its threads share the structure. */
struct recursive_mutex {
	tsem *sem;            /* created with 1 permit */
	_Atomic(pid_t) owner; /* the owning thread, if it belongs to this process */
	unsigned depth;       /* only the owner uses it, as it does the hold */
	tsem_hold hold;
};

/* Tells whether the calling thread has the mutex. No other thread can store its number, so the load needs no order. */
static inline int
recursive_mutex_is_mine(struct recursive_mutex *mutex)
{
	return atomic_load_explicit(&mutex->owner, memory_order_relaxed) == gettid();
}

/* Returns 0 or a negative error number. *abandoned: the last owner died with the mutex. */
static inline int
recursive_mutex_lock(struct recursive_mutex *mutex, const struct timespec *deadline, bool *abandoned)
{
	*abandoned = false;
	if (recursive_mutex_is_mine(mutex)) {
		mutex->depth++;
		return 0;
	}
	tsem_hold hold; /* another thread may be using mutex->hold at this moment */
	int rc = tsem_acquire(mutex->sem, 1, deadline, &hold);
	if (rc < 0)
		return rc;
	mutex->hold = hold;
	mutex->depth = 1;
	atomic_store_explicit(&mutex->owner, gettid(), memory_order_relaxed);
	*abandoned = tsem_hold_recovered(&hold);
	return 0;
}

/* Returns -EPERM if the calling thread does not have the mutex. */
static inline int
recursive_mutex_unlock(struct recursive_mutex *mutex)
{
	if (!recursive_mutex_is_mine(mutex))
		return -EPERM;
	if (--mutex->depth > 0)
		return 0;
	tsem_hold hold = mutex->hold; /* after the release, the next owner may overwrite the original */
	atomic_store_explicit(&mutex->owner, 0, memory_order_relaxed);
	return tsem_release(&hold);
}

#endif

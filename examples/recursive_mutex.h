/* SPDX-License-Identifier: MIT */
/*
 * A mutex that its owner, a thread of any process, may lock again. Only the first lock and the last unlock meet the
 * semaphore, which keeps the other processes out; the depth is the owner's own affair. If a process dies with the lock, the next
 * one gets it and is told, as with robust mutexes: what the mutex protects may be half-done.
 */
#ifndef RECURSIVE_MUTEX_H
#define RECURSIVE_MUTEX_H

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include <tsem.h>

/* Each process has one of its own, over the same semaphore; its threads share it. */
struct recursive_mutex {
	tsem *sem;            /* made with 1 permit */
	_Atomic(pid_t) owner; /* the thread, if it is one of this process */
	unsigned depth;       /* the owner's, like the hold */
	tsem_hold hold;
};

/* Whether the calling thread has it: nobody else could have stored its number, so it needs no order. */
static inline int
recursive_mutex_is_mine(struct recursive_mutex *mutex)
{
	return atomic_load_explicit(&mutex->owner, memory_order_relaxed) == gettid();
}

/* 0, or a negative error number. *abandoned: the last owner died with it. */
static inline int
recursive_mutex_lock(struct recursive_mutex *mutex, const struct timespec *deadline, bool *abandoned)
{
	*abandoned = false;
	if (recursive_mutex_is_mine(mutex)) {
		mutex->depth++;
		return 0;
	}
	tsem_hold hold; /* mutex->hold may be another thread's at this moment */
	int rc = tsem_acquire(mutex->sem, 1, deadline, &hold);
	if (rc < 0)
		return rc;
	mutex->hold = hold;
	mutex->depth = 1;
	atomic_store_explicit(&mutex->owner, gettid(), memory_order_relaxed);
	*abandoned = tsem_hold_recovered(&hold);
	return 0;
}

/* EPERM: it is not the calling thread's. */
static inline int
recursive_mutex_unlock(struct recursive_mutex *mutex)
{
	if (!recursive_mutex_is_mine(mutex))
		return -EPERM;
	if (--mutex->depth > 0)
		return 0;
	tsem_hold hold = mutex->hold; /* released, it is the next owner's to overwrite */
	atomic_store_explicit(&mutex->owner, 0, memory_order_relaxed);
	return tsem_release(&hold);
}

#endif

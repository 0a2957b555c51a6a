/* SPDX-License-Identifier: MIT */
/*
 * This lock admits many readers or one writer. A reader takes one permit of the semaphore, and a writer takes all of
 * them. The queue is first come, first served, so neither starves: a reader that comes after a waiting writer waits
 * behind it. If a writer dies, the next holder can ask tsem_hold_recovered().
 */
#ifndef READ_WRITE_LOCK_H
#define READ_WRITE_LOCK_H

#include <tsem.h>

/* The number of readers at the same time, and of permits that the semaphore is created with. */
#define READ_WRITE_LOCK_READERS 1000U

/* tsem_release(hold) ends both. */
static inline int
read_write_lock_read(tsem *lock, const struct timespec *deadline, tsem_hold *hold)
{
	return tsem_acquire(lock, 1, deadline, hold);
}

static inline int
read_write_lock_write(tsem *lock, const struct timespec *deadline, tsem_hold *hold)
{
	return tsem_acquire(lock, READ_WRITE_LOCK_READERS, deadline, hold);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Many readers or one writer, and nobody starves: a reader takes one permit of the semaphore, a writer all of them, and
 * the line is first come, first served. Readers who come after a waiting writer wait behind it. If a writer dies, whoever
 * comes next can ask tsem_hold_recovered().
 */
#ifndef READ_WRITE_LOCK_H
#define READ_WRITE_LOCK_H

#include <tsem.h>

/* So many readers at the same time; the number of permits that the semaphore is made with. */
#define READ_WRITE_LOCK_READERS 1000U

/* Both end with tsem_release(hold). */
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

/* SPDX-License-Identifier: MIT */
/* Waiting until a record is free, where all are in use: how a waiter sleeps, and what wakes it. */
#ifndef TSEM_LIB_RECORD_WAIT_H
#define TSEM_LIB_RECORD_WAIT_H

#include "wait.h"

/* Whether a waiter may sleep until a record is free. */
static inline bool
record_is_wanted(const struct header *header)
{
	return (LOAD_SEQ(&header->record_waiters) & WORD_SLEEPERS) != 0;
}

/*
 * Says that `n` records are free, and wakes as many of those who sleep for one, the longest sleepers first. One load if none
 * sleeps. The records were freed by sequentially consistent stores: so either this sees the sleeper, or that one, which says
 * that it sleeps before it searches, finds the record. Async-signal-safe.
 */
void record_wake(struct header *header, uint32_t n);

/* Wakes all of them, to find that the wait is over. */
void record_wake_all(struct header *header);

/*
 * For a process that looks around for all: frees the records of the dead, and wakes a sleeper for each free record. The
 * process that should have done so may have died before it did, and so may the one that was woken.
 */
void recover_free_records(struct tsem *sem);

/*
 * For a caller that comes while others sleep: lets those go first that were woken for a record and do not have it yet.
 * Otherwise a thread that frees a record and claims one again is always faster than they are. 0, or -EINTR if the waiter
 * asked for it.
 */
int record_wait_yield(const struct tsem *sem, const struct waiter *waiter);

/*
 * Sleeps until there is a record to look for, which may be gone by then: 0. -ETIMEDOUT, -EINTR, -ECANCELED or -EIDRM: the
 * wait is over. The waiter has no record yet: NULL.
 */
int record_wait(struct tsem *sem, const struct waiter *waiter, struct pace *pace);

#endif

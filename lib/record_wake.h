/* SPDX-License-Identifier: MIT */
/* Waking the waiters that wait for a free record. record_wait.h has the other side. */
#ifndef TSEM_LIB_RECORD_WAKE_H
#define TSEM_LIB_RECORD_WAKE_H

#include "layout.h"

/* Whether a waiter may sleep until a record is free. */
static inline bool
record_is_wanted(const struct header *header)
{
	return (LOAD_SEQ(&header->record_waiters) & WORD_SLEEPERS) != 0;
}

/*
 * Wakes up to `n` waiters, the longest sleepers first: `n` records are free. One load if no waiter sleeps. The caller
 * has freed the records by sequentially consistent stores, and a waiter sets the bit before it searches: so either this
 * call sees the bit, or the waiter finds the record. Async-signal-safe.
 */
void record_wake(struct header *header, uint32_t n);

/* Wakes all of them: their wait is over for another reason. */
void record_wake_all(struct header *header);

#endif

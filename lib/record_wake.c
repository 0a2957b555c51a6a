/* SPDX-License-Identifier: MIT */
#include "record_wake.h"

#include <limits.h>

#include "platform.h"

/*
 * While the bit is set, a waiter that falls asleep has nothing to write. So the bit is cleared only together with
 * another step of the sequence number, and then all waiters that have relied on the bit are woken.
 */
void
record_wake(struct header *header, uint32_t n)
{
	_Atomic uint32_t *word = &header->record_waiters;
	if (!record_is_wanted(header))
		return;
	const uint32_t stepped = ADD_SEQ(word, WORD_STEP) + WORD_STEP;
	if (platform.wake(word, UINT32_MAX, (int)n) > 0)
		return;
	if (CAS_SEQ32(word, stepped, (stepped + WORD_STEP) & ~WORD_SLEEPERS))
		platform.wake(word, UINT32_MAX, INT_MAX);
}

void
record_wake_all(struct header *header)
{
	if (!record_is_wanted(header))
		return;
	ADD_SEQ(&header->record_waiters, WORD_STEP);
	AND_SEQ(&header->record_waiters, ~WORD_SLEEPERS);
	platform.wake(&header->record_waiters, UINT32_MAX, INT_MAX);
}

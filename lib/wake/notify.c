/* SPDX-License-Identifier: MIT */
#include "wake/notify.h"

#include <limits.h>

#include "system/platform.h"

/*
 * The bits are cleared first: a process that read `idle` before the increment may have set its bit before it was
 * cleared.
 */
static void
notify_bits(struct tsem *sem, uint64_t bits)
{
	struct header *header = sem->segment.header;
	AND_SEQ(&header->pending, ~bits);
	ADD_SEQ(&header->idle, 1);
	platform.wake(&header->idle, (uint32_t)bits, INT_MAX);
}

/*
 * The third Dekker pair beside those of protocol.h. A process that waits for idleness sets its bit in `pending` and
 * then reads the counters and records; a process that moves G reads `pending` afterwards. So either the waiting process
 * sees the move, or the mover sees the bit. (A post reads `pending` before it moves G, and its compare-and-swap fails
 * if a process has called bump_grants() since.)
 *
 * Every way to idleness ends with a move of G: a release, a post, or a skipped ticket. The semaphore is unused only if
 * T is not ahead of G. Whether no process holds while some wait takes a look at the records; the woken process takes
 * it.
 */
void
notify_idle(struct tsem *sem)
{
	struct header *header = sem->segment.header;
	const uint64_t pending = LOAD_SEQ(&header->pending);
	if ((pending & (PENDING_IDLE | PENDING_HOLDERS)) == 0)
		return;
	const uint64_t grants = LOAD_SEQ(&header->grants);
	const uint64_t tickets = LOAD_SEQ(&header->tickets);
	const bool all_back = counter_diff(counter_value(tickets), counter_value(grants)) <= 0;
	const uint64_t due = pending & (all_back ? PENDING_IDLE | PENDING_HOLDERS : PENDING_HOLDERS);
	if (due != 0)
		notify_bits(sem, due);
}

void
notify_forget(struct tsem *sem, uint64_t bits)
{
	const uint64_t left = LOAD_SEQ(&sem->segment.header->pending) & bits;
	if (left != 0)
		notify_bits(sem, left);
}

void
notify_removal(struct tsem *sem)
{
	_Atomic uint32_t *idle = &sem->segment.header->idle;
	ADD_SEQ(idle, 1);
	platform.wake(idle, UINT32_MAX, INT_MAX);
}

/* SPDX-License-Identifier: MIT */
/*
 * A barrier: nobody passes before all have come. The last one to arrive posts for all the others at once. There are two
 * doors, used in turn: those who come for the next round must not go through before the slow ones of this round.
 *
 * As with every barrier, all wait for ever if a participant dies before it has arrived; a deadline for tsem_take() would
 * be the way to notice.
 */
#ifndef BARRIER_H
#define BARRIER_H

#include <stdatomic.h>

#include <tsem.h>

struct barrier {
	atomic_ulong *arrived; /* since the beginning; 0 at first, in memory that all share */
	tsem *doors[2];        /* made with 0 permits */
	unsigned participants;
};

/* 1 for the last to arrive, 0 for the others; or a negative error number. */
static inline int
barrier_wait(const struct barrier *barrier)
{
	const unsigned long before_me = atomic_fetch_add(barrier->arrived, 1);
	const unsigned long others = barrier->participants - 1;
	tsem *door = barrier->doors[before_me / barrier->participants % 2];
	if (before_me % barrier->participants < others)
		return tsem_take(door, 1, NULL);
	int rc = others > 0 ? tsem_post(door, (uint32_t)others, NULL) : 0;
	return rc < 0 ? rc : 1;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * No participant passes this barrier before all have arrived. The last one to arrive posts for all the others at once.
 * Two doors are used in turn, because a participant of the next round must not go through before the slow ones of this
 * round.
 *
 * As with every barrier, all wait forever if a participant dies before it has arrived. A deadline for tsem_take() would
 * show that.
 */
#ifndef BARRIER_H
#define BARRIER_H

#include <stdatomic.h>

#include <tsem.h>

struct barrier {
	atomic_ulong *arrived; /* arrivals since the beginning; 0 at first, in shared memory */
	tsem *doors[2];        /* created with 0 permits */
	unsigned participants;
};

/* Returns 1 to the last participant, 0 to the others, or a negative error number. */
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

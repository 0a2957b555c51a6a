/* SPDX-License-Identifier: MIT */
#ifndef TSEM_LIB_HOLD_H
#define TSEM_LIB_HOLD_H

#include "queue.h"

struct hold *hold_inside(tsem_hold *hold);

static inline struct tsem *
hold_sem(const struct hold *hold)
{
	return (struct tsem *)(uintptr_t)hold->sem;
}

static inline bool
hold_is_lent(const struct hold *hold)
{
	return (hold->flags & HOLD_LENT) != 0;
}

/* The state of a hold that is still what it was: HELD under its ticket. */
bool hold_is_held(const struct record *record, uint64_t ticket, uint64_t *state);

/* An enabled place becomes a hold. */
void hold_become(struct tsem *sem, const struct queue_place *place, tsem_hold *hold);

/* tsem_try_acquire() without its check of `count`: whoever removes a semaphore takes what was over-posted, too. */
int hold_try_unchecked(struct tsem *sem, uint32_t count, tsem_hold *hold);

/* tsem_release() of a hold that nobody has used: what it was told of is told to the next one. */
void hold_return(tsem_hold *hold);

#endif

/* SPDX-License-Identifier: MIT */
/* What the operations on more than one semaphore, and on more than its permits, do. */
#ifndef TSEM_TESTS_CRASH_ACTS_H
#define TSEM_TESTS_CRASH_ACTS_H

#include "operation.h"

/* What an operation that SETS makes of a capacity. */
uint32_t capacity_after(const struct operation *operation, uint32_t capacity);

int act_set_raise(struct actor *actor);
int act_set_lower(struct actor *actor);
int act_set_drain(struct actor *actor);
int act_cancel(struct actor *actor);
int act_wait_idle(struct actor *actor);
int act_wait_holders(struct actor *actor);

int act_acquire_all(struct actor *actor);
int act_acquire_all_too_late(struct actor *actor);
int act_release_all(struct actor *actor);
int act_acquire_any(struct actor *actor);
int act_acquire_any_beside(struct actor *actor);
int act_acquire_any_too_late(struct actor *actor);
int act_release_any(struct actor *actor);
int act_post_and_take(struct actor *actor);
int act_undo_post_and_take(struct actor *actor);
int act_post_and_take_same(struct actor *actor);

int act_slots(struct actor *actor);

#endif

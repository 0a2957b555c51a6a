/* SPDX-License-Identifier: MIT */
/* Operations on more than one semaphore, and those that are not about permits only. */
#ifndef TSEM_TESTS_CRASH_OPERATION_OTHER_H
#define TSEM_TESTS_CRASH_OPERATION_OTHER_H

#include "operation.h"

/* The capacity after an operation with SETS. */
uint32_t capacity_after(const struct operation *operation, uint32_t capacity);

int do_set_raise(struct executor *executor);
int do_set_lower(struct executor *executor);
int do_set_drain(struct executor *executor);
int do_cancel(struct executor *executor);
int do_declare(struct executor *executor);
int do_wait_idle(struct executor *executor);
int do_wait_holders(struct executor *executor);

int do_acquire_all(struct executor *executor);
int do_acquire_all_too_late(struct executor *executor);
int do_release_all(struct executor *executor);
int do_acquire_any(struct executor *executor);
int do_acquire_any_beside(struct executor *executor);
int do_acquire_any_too_late(struct executor *executor);
int do_release_any(struct executor *executor);
int do_post_and_take(struct executor *executor);
int do_undo_post_and_take(struct executor *executor);
int do_post_and_take_same(struct executor *executor);

int do_slots(struct executor *executor);

#endif

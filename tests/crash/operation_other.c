/* SPDX-License-Identifier: MIT */
#include "operation_other.h"

#include <errno.h>

#include "calls/named_owner.h"

/* ---- the capacity, cancellation, idleness ---- */

static uint32_t
higher(uint32_t capacity)
{
	return capacity + 2;
}

static uint32_t
lower(uint32_t capacity)
{
	return capacity > 2 ? 1 : capacity - 1;
}

int
do_set_raise(struct executor *executor)
{
	return tsem_set(executor->sem, higher(executor->capacity));
}

int
do_set_lower(struct executor *executor)
{
	return tsem_set(executor->sem, lower(executor->capacity));
}

int
do_set_drain(struct executor *executor)
{
	return tsem_set(executor->sem, 0);
}

uint32_t
capacity_after(const struct operation *operation, uint32_t capacity)
{
	if (operation->run == do_set_drain)
		return 0;
	return operation->run == do_set_raise ? higher(capacity) : lower(capacity);
}

int
do_cancel(struct executor *executor)
{
	return tsem_cancel(executor->sem);
}

/* ---- declared dead ---- */

/* Another process, for which this one stands, declares the owner of the hold dead. */
int
do_declare(struct executor *executor)
{
	const struct hold *hold = hold_inside(&executor->hold);
	const uint64_t owner = LOAD_SEQ(&executor->sem->segment.records[hold->record].owner);
	declare_dead(executor->sem, hold->record, owner, hold_ticket(hold), NULL);
	return tsem_release(&executor->hold) == -EPERM ? 0 : -EINVAL;
}

int
do_wait_idle(struct executor *executor)
{
	return tsem_wait_idle(executor->sem, 0, NULL);
}

int
do_wait_holders(struct executor *executor)
{
	return tsem_wait_idle(executor->sem, TSEM_HOLDERS, NULL);
}

/* ---- several semaphores ---- */

static const struct timespec long_ago = {.tv_sec = 0, .tv_nsec = 1};
static const struct tsem_wait too_late = {.size = sizeof(too_late), .deadline = &long_ago};

/* The semaphore is the second of the three by UUID. */
static int
acquire_all(struct executor *executor, const struct tsem_wait *wait)
{
	tsem *const sems[] = {executor->beside[1], executor->sem, executor->beside[0]};
	tsem_hold holds[3];
	int rc = tsem_acquire_all(sems, 3, wait, holds);
	if (rc < 0)
		return rc;
	executor->hold = holds[1];
	executor->others[0] = holds[2];
	executor->others[1] = holds[0];
	return 0;
}

int
do_acquire_all(struct executor *executor)
{
	return acquire_all(executor, NULL);
}

int
do_acquire_all_too_late(struct executor *executor)
{
	return acquire_all(executor, &too_late);
}

int
do_release_all(struct executor *executor)
{
	if (executor->result != 0)
		return 0;
	int rc = tsem_release(&executor->hold);
	for (int i = 0; i < BESIDE && rc == 0; i++)
		rc = tsem_release(&executor->others[i]);
	return rc;
}

/* If all of them have a permit, tsem_acquire_any() returns the first. */
static int
acquire_any(struct executor *executor, tsem *first, tsem *second, const struct tsem_wait *wait)
{
	tsem *const sems[] = {first, second, executor->beside[0]};
	size_t which = 0;
	int rc = tsem_acquire_any(sems, 3, wait, &executor->hold, &which);
	executor->elsewhere = rc == 0 && sems[which] != executor->sem;
	return rc;
}

int
do_acquire_any(struct executor *executor)
{
	return acquire_any(executor, executor->sem, executor->beside[1], NULL);
}

int
do_acquire_any_beside(struct executor *executor)
{
	return acquire_any(executor, executor->beside[1], executor->sem, NULL);
}

int
do_acquire_any_too_late(struct executor *executor)
{
	return acquire_any(executor, executor->sem, executor->beside[1], &too_late);
}

int
do_release_any(struct executor *executor)
{
	return executor->result == 0 ? tsem_release(&executor->hold) : 0;
}

int
do_post_and_take(struct executor *executor)
{
	return tsem_post_and_take(executor->beside[0], executor->sem);
}

int
do_undo_post_and_take(struct executor *executor)
{
	return executor->result == 0 ? tsem_post_and_take(executor->sem, executor->beside[0]) : 0;
}

int
do_post_and_take_same(struct executor *executor)
{
	return tsem_post_and_take(executor->sem, executor->sem);
}

/* ---- slots ---- */

int
do_slots(struct executor *executor)
{
	executor->slot_count = (uint32_t)tsem_hold_slots(&executor->hold, executor->slots, SLOTS_SEEN_MAX);
	return executor->slot_count == executor->count ? 0 : -ERANGE;
}

/* SPDX-License-Identifier: MIT */
/* All processes have ended: checks that everything is available and can be used. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "beside.h"
#include "protocol/handle.h"
#include "records/record.h"
#include "rest.h"

/*
 * Acquires the whole capacity as one hold: the hold must have every slot from 0 on, and must learn that a holder has
 * died, if no earlier hold has learnt it.
 */
static void
check_hold(struct run *run)
{
	struct tsem *sem = run->fixture->sem;
	const uint32_t capacity = run->fixture->capacity;
	uint32_t slots[CAPACITY_MAX];
	tsem_hold hold;
	int rc = tsem_try_acquire(sem, capacity, &hold);
	if (rc != 0) {
		run_fault(run, "the whole capacity cannot be acquired: %s", strerror(-rc));
		return;
	}
	const size_t n = tsem_hold_slots(&hold, slots, CAPACITY_MAX);
	for (uint32_t i = 0; i < capacity; i++) {
		if (n != capacity || slots[i] != i)
			run_fault(run, "%zu slots of %u are to be had, number %u is %u", n, capacity, i, slots[i]);
	}
	if (run->abandoned && !run->notified && !tsem_hold_recovered(&hold))
		run_fault(run, "a holder has died, and no later hold has learnt it");
	rc = tsem_release(&hold);
	record_free_cached(sem);
	if (rc != 0)
		run_fault(run, "the whole capacity cannot be released: %s", strerror(-rc));
}

/* Checks that the whole capacity can be taken at once. Leaves the semaphore with exactly that available. */
static void
check_whole(struct run *run, uint64_t available)
{
	struct tsem *sem = run->fixture->sem;
	const uint32_t capacity = run->fixture->capacity;
	int rc = 0;
	for (; rc == 0 && available > capacity; available--)
		rc = tsem_try_take(sem, 1);
	if (rc == 0 && available < capacity)
		rc = tsem_post(sem, capacity - (uint32_t)available, NULL);
	if (rc == 0)
		rc = tsem_try_take(sem, capacity);
	if (rc == 0)
		rc = tsem_post(sem, capacity, NULL);
	if (rc != 0)
		run_fault(run, "the whole capacity cannot be taken: %s", strerror(-rc));
}

/* A name is absent or complete, and an existing semaphore can be used. */
static void
check_created(struct run *run)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	tsem *sem;
	int rc = tsem_open(run->fixture->absent, 0, &sem);
	if (rc == -ENOENT)
		rc = tsem_create(run->fixture->absent, &config, &sem);
	else if (rc == 0 && tsem_stat(sem, &stat) == 0 && (stat.capacity != 5 || stat.max != 7 || stat.mode != 0640))
		run_fault(run, "created incomplete: capacity %u, max %u, mode %o", stat.capacity, stat.max, stat.mode);
	if (rc == 0) {
		const uint32_t permits = stat.capacity == 0 ? 1 : 6; /* see create() in operation.c */
		rc = stat.capacity != 0 && stat.available != permits ? -ERANGE : tsem_try_take(sem, permits);
		tsem_close(sem);
	}
	if (rc != 0)
		run_fault(run, "created in part: %s", strerror(-rc));
	tsem_remove(run->fixture->absent, TSEM_FORCE);
}

/* True: the semaphore was removed, so there is nothing more to check. */
static bool
check_removed(struct run *run)
{
	tsem *sem;
	int rc = tsem_open(run->fixture->name, 0, &sem);
	if (rc == 0)
		tsem_close(sem);
	else if (rc != -ENOENT)
		run_fault(run, "removed in part: %s", strerror(-rc));
	if (rc != -ENOENT)
		return false;
	rc = try_removed(run->fixture->sem);
	if (rc != -EIDRM)
		run_fault(run, "removed, and a handle still admits: %s", strerror(-rc));
	tsem_close(run->fixture->sem);
	run->fixture->sem = NULL;
	return true;
}

/* The name is there or not. What a handle does has been checked; if it has no name any more, the next run needs another. */
static void
check_unlinked(struct run *run)
{
	tsem *sem;
	const int rc = tsem_open(run->fixture->name, 0, &sem);
	if (rc == 0) {
		tsem_close(sem);
	} else if (rc == -ENOENT) {
		tsem_close(run->fixture->sem);
		run->fixture->sem = NULL;
	} else {
		run_fault(run, "unlinked in part: %s", strerror(-rc));
	}
}

void
invariants_check_end(struct run *run)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	char text[REST_TEXT];
	const unsigned flags = run->operation[0]->flags | (run->operation[1] == NULL ? 0 : run->operation[1]->flags);
	if ((flags & CREATES) != 0)
		check_created(run);
	if ((flags & REMOVES) != 0 && check_removed(run))
		return;
	int rc = tsem_recover(run->fixture->sem, NULL);
	if (rc == 0)
		rc = tsem_stat(run->fixture->sem, &stat);
	if (rc != 0)
		run_fault(run, "recover: %s", strerror(-rc));
	if (!are_records_at_rest(run->fixture->sem, text))
		run_fault(run, "%s", text);

	const int64_t expected = (int64_t)run->fixture->capacity + run->extra;
	if (!invariants_allow(run, (int64_t)stat.available, expected))
		run_fault(run, "available %" PRIu64 ", expected %" PRId64, stat.available, expected);
	if (!is_at_rest(&stat, stat.available, stat.available, text)) /* what is available has been checked */
		run_fault(run, "%s", text);
	check_whole(run, stat.available);
	check_hold(run);
	beside_check(run);
	if ((flags & UNLINKS) != 0)
		check_unlinked(run);
}

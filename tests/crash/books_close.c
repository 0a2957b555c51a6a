/* SPDX-License-Identifier: MIT */
/* Everybody is gone: is everything there, and can all of it be used? */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "beside.h"
#include "handle.h"
#include "record.h"

static void
check_records(struct cast *cast)
{
	struct tsem *sem = cast->scene->sem;
	const uint32_t i = find_record_left(sem);
	if (i == NO_RECORD)
		return;
	const struct record *record = record_at(sem, i);
	cast_fault(cast, "record %u is left over: who %#" PRIx64 " what %#" PRIx64 " gen %u count %u", i,
	           LOAD_ACQ(&record->owner), LOAD_ACQ(&record->state), LOAD_ACQ(&record->gen), LOAD_ACQ(&record->count));
}

/*
 * The whole capacity as one hold: it has every slot there is, from 0 on, and is told of a holder that has died, if nobody
 * was before.
 */
static void
check_hold(struct cast *cast)
{
	struct tsem *sem = cast->scene->sem;
	const uint32_t capacity = cast->scene->capacity;
	uint32_t slots[CAPACITY_MAX];
	tsem_hold hold;
	int rc = tsem_try_acquire(sem, capacity, &hold);
	if (rc != 0) {
		cast_fault(cast, "the whole capacity cannot be acquired: %s", strerror(-rc));
		return;
	}
	const size_t n = tsem_hold_slots(&hold, slots, CAPACITY_MAX);
	for (uint32_t i = 0; i < capacity; i++) {
		if (n != capacity || slots[i] != i)
			cast_fault(cast, "%zu slots of %u are to be had, number %u is %u", n, capacity, i, slots[i]);
	}
	if (cast->abandoned && !cast->told && !tsem_hold_recovered(&hold))
		cast_fault(cast, "a holder has died, and nobody was told");
	rc = tsem_release(&hold);
	record_free_cached(sem);
	if (rc != 0)
		cast_fault(cast, "the whole capacity cannot be released: %s", strerror(-rc));
}

/* Whether the whole capacity can be had at once; leaves the semaphore with exactly that available. */
static void
check_whole(struct cast *cast, uint64_t available)
{
	struct tsem *sem = cast->scene->sem;
	const uint32_t capacity = cast->scene->capacity;
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
		cast_fault(cast, "the whole capacity cannot be taken: %s", strerror(-rc));
}

/* A name is absent or complete, and what exists can be used. */
static void
check_created(struct cast *cast)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	tsem *sem;
	int rc = tsem_open(cast->scene->absent, 0, &sem);
	if (rc == -ENOENT)
		rc = tsem_create(cast->scene->absent, &config, &sem);
	else if (rc == 0 && tsem_stat(sem, &stat) == 0 && (stat.capacity != 5 || stat.max != 7 || stat.mode != 0640))
		cast_fault(cast, "created incomplete: capacity %u, max %u, mode %o", stat.capacity, stat.max, stat.mode);
	if (rc == 0) {
		uint32_t permits = stat.capacity == 0 ? 1 : stat.capacity;
		rc = tsem_try_take(sem, permits);
		tsem_close(sem);
	}
	if (rc != 0)
		cast_fault(cast, "half created: %s", strerror(-rc));
	tsem_remove(cast->scene->absent, TSEM_FORCE);
}

/* True: it is gone, there is a new one, and there is nothing more to check. */
static bool
check_removed(struct cast *cast)
{
	tsem *sem;
	int rc = tsem_open(cast->scene->name, 0, &sem);
	if (rc == 0)
		tsem_close(sem);
	else if (rc != -ENOENT)
		cast_fault(cast, "half removed: %s", strerror(-rc));
	if (rc != -ENOENT)
		return false;
	/* Its name may lead to a new one: who has it open gets nothing from it any more. */
	tsem_hold hold;
	rc = tsem_try_acquire(cast->scene->sem, 1, &hold);
	if (rc == -EIDRM)
		rc = tsem_try_take(cast->scene->sem, 1);
	if (rc != -EIDRM)
		cast_fault(cast, "removed, and it goes on: %s", strerror(-rc));
	tsem_close(cast->scene->sem);
	cast->scene->sem = NULL;
	return true;
}

void
books_close(struct cast *cast)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	const unsigned flags = cast->operation[0]->flags | (cast->operation[1] == NULL ? 0 : cast->operation[1]->flags);
	if ((flags & CREATES) != 0)
		check_created(cast);
	if ((flags & REMOVES) != 0 && check_removed(cast))
		return;
	int rc = tsem_recover(cast->scene->sem, NULL);
	if (rc == 0)
		rc = tsem_stat(cast->scene->sem, &stat);
	if (rc != 0)
		cast_fault(cast, "recover: %s", strerror(-rc));
	check_records(cast);
	if (is_waited_for_idleness(cast->scene->sem))
		cast_fault(cast, "whoever moves G looks after somebody who waits until nobody holds, and there is nobody");

	const int64_t expected = (int64_t)cast->scene->capacity + cast->extra;
	if (!books_is_possible(cast, (int64_t)stat.available, expected))
		cast_fault(cast, "available %" PRIu64 ", expected %" PRId64, stat.available, expected);
	const uint64_t held = stat.available < stat.capacity ? stat.capacity - stat.available : 0;
	if (stat.waiting != 0 || stat.held != held)
		cast_fault(cast, "waiting %u, held %" PRIu64 ", available %" PRIu64 " of %u", stat.waiting, stat.held,
		           stat.available, stat.capacity);
	check_whole(cast, stat.available);
	check_hold(cast);
	beside_check(cast);
}

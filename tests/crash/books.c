/* SPDX-License-Identifier: MIT */
/* What the driver knows for certain, against what the semaphore says. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cast.h"
#include "handle.h"

/* What actor `i` has, being alive and at the end of its operation. */
static int64_t
admitted(const struct cast *cast, unsigned i)
{
	const struct actor *actor = &cast->scene->shared->actors[i];
	const struct operation *operation = cast->operation[i];
	if (operation == NULL || cast->killed[i] || cast->actor[i].where != TRACEE_AT_MARK
	    || atomic_load(&actor->phase) != PHASE_END || actor->result != 0)
		return 0;
	return operation->holds ? actor->count : 0;
}

static int64_t
taken(const struct cast *cast, unsigned i)
{
	const struct actor *actor = &cast->scene->shared->actors[i];
	const struct operation *operation = cast->operation[i];
	if (operation == NULL || cast->killed[i] || cast->actor[i].where != TRACEE_AT_MARK
	    || atomic_load(&actor->phase) != PHASE_END || actor->result != 0)
		return 0;
	return (int64_t)operation->taken * actor->count;
}

static int64_t
bystander_has(const struct cast *cast)
{
	const struct bystander *bystander = &cast->scene->shared->bystander;
	return cast->bystander != 0 && atomic_load(&bystander->admitted) && !atomic_load(&bystander->may_go);
}

void
books_check_admitted(struct cast *cast)
{
	int64_t have = bystander_has(cast) + cast->drained;
	int64_t exist = (int64_t)cast->scene->capacity + cast->extra;
	for (unsigned i = 0; i < 2; i++) {
		have += admitted(cast, i);
		if (taken(cast, i) > 0)
			have += taken(cast, i);
		/* A post may have come from somebody who is not at its end yet. */
		if (cast->operation[i] != NULL && cast->operation[i]->taken < 0 && !cast->killed[i]
		    && cast->actor[i].where != TRACEE_GONE)
			exist += cast->scene->shared->actors[i].count;
		if (cast->maybe[i] > 0)
			exist += cast->maybe[i];
	}
	if (have > exist)
		cast_fault(cast, "over-admitted: %" PRId64 " permits held of %" PRId64, have, exist);
}

/* Whether `available` is one of the sums that the actors killed half-way leave possible. */
static bool
is_possible(struct cast *cast, int64_t available, int64_t expected)
{
	for (unsigned happened = 0; happened < 4; happened++) {
		const int64_t sum =
			expected + ((happened & 1) != 0 ? cast->maybe[0] : 0) + ((happened & 2) != 0 ? cast->maybe[1] : 0);
		if (sum != available)
			continue;
		cast->played->happened = happened != 0;
		return true;
	}
	return false;
}

/* What was handed over is held by a living process, or free, and nothing in between. */
static int64_t
handed_over(struct cast *cast)
{
	int64_t permits = 0;
	struct tsem *sem = cast->scene->sem;
	const uint32_t limit = LOAD_ACQ(&sem->segment.header->reserved);
	for (uint32_t i = 0; cast->other != 0 && i < limit; i++) {
		const struct record *record = record_at(sem, i);
		if (record == NULL || who_kind(LOAD_ACQ(&record->who)) != WHO_KIND_HANDED)
			continue;
		if (what_state(LOAD_ACQ(&record->what)) == STATE_HELD)
			permits += LOAD_ACQ(&record->count);
		else
			cast_fault(cast, "a hold that was handed over is left half released: what %#" PRIx64,
			           LOAD_ACQ(&record->what));
	}
	return permits;
}

void
books_check_held(struct cast *cast)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	const int64_t bystander = bystander_has(cast);
	int64_t expected = (int64_t)cast->scene->capacity + cast->extra - cast->drained - bystander;
	expected -= handed_over(cast);
	for (unsigned i = 0; i < 2; i++)
		expected -= admitted(cast, i) + taken(cast, i);
	int rc = tsem_stat(cast->scene->sem, &stat);
	/* Admitted by the books, the bystander may not have found out yet. */
	if (cast->bystander != 0 && bystander == 0)
		return;
	for (unsigned i = 0; i < 2; i++) {
		if (cast->operation[i] != NULL && (cast->operation[i]->flags & REMOVES) != 0)
			return;
		/* In the middle of something, it may have or not have what it asks for. */
		if (cast->operation[i] != NULL && !cast->killed[i] && cast->actor[i].where != TRACEE_AT_MARK)
			return;
	}
	if (rc == 0 && stat.waiting == 0 && !is_possible(cast, (int64_t)stat.available, expected))
		cast_fault(cast, "available %" PRIu64 ", expected %" PRId64 " beside the live holders", stat.available,
		           expected);
}

static void
check_records(struct cast *cast)
{
	struct tsem *sem = cast->scene->sem;
	const uint32_t limit = LOAD_ACQ(&sem->segment.header->reserved);
	for (uint32_t i = 0; i < limit; i++) {
		const struct record *record = record_at(sem, i);
		if (record == NULL || (LOAD_ACQ(&record->who) == 0 && what_state(LOAD_ACQ(&record->what)) == STATE_IDLE))
			continue;
		cast_fault(cast, "record %u is left over: who %#" PRIx64 " what %#" PRIx64 " gen %u count %u", i,
		           LOAD_ACQ(&record->who), LOAD_ACQ(&record->what), LOAD_ACQ(&record->gen), LOAD_ACQ(&record->count));
		return;
	}
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

	const int64_t expected = (int64_t)cast->scene->capacity + cast->extra;
	if (!is_possible(cast, (int64_t)stat.available, expected))
		cast_fault(cast, "available %" PRIu64 ", expected %" PRId64, stat.available, expected);
	const uint64_t held = stat.available < stat.capacity ? stat.capacity - stat.available : 0;
	if (stat.waiting != 0 || stat.held != held)
		cast_fault(cast, "waiting %u, held %" PRIu64 ", available %" PRIu64 " of %u", stat.waiting, stat.held,
		           stat.available, stat.capacity);
	check_whole(cast, stat.available);
}

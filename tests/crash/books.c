/* SPDX-License-Identifier: MIT */
/* What the driver knows for certain, against what the semaphore says. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "acts.h"
#include "beside.h"
#include "handle.h"
#include "record.h"

/* What actor `i` has, being alive and at the end of its operation. */
static int64_t
admitted(const struct cast *cast, unsigned i)
{
	const struct actor *actor = &cast->scene->shared->actors[i];
	const struct operation *operation = cast->operation[i];
	if (operation == NULL || cast->killed[i] || cast->actor[i].where != TRACEE_AT_MARK
	    || atomic_load(&actor->phase) != PHASE_END || actor->result != 0)
		return 0;
	return operation->holds && !actor->elsewhere ? actor->count : 0;
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

/* Whether `available` is one of the sums that the actors killed half-way leave possible. */
static bool
is_possible(struct cast *cast, int64_t available, int64_t expected)
{
	for (unsigned happened = 0; happened < 4; happened++) {
		const int64_t sum =
			expected + ((happened & 1) != 0 ? cast->maybe[0] : 0) + ((happened & 2) != 0 ? cast->maybe[1] : 0);
		if ((sum < 0 ? 0 : sum) != available) /* with a capacity below what is held */
			continue;
		cast->played->happened = happened != 0;
		return true;
	}
	return false;
}

/* ---- the capacity ---- */

static uint32_t
capacity_now(const struct cast *cast)
{
	return LOAD_SEQ(&cast->scene->sem->segment.header->capacity);
}

/*
 * The largest capacity that those inside can claim: whatever it has been or may have been since they called, for who was
 * enabled before a lowering counts as admitted. Only the bystander, where it called after the one setter was through, has
 * no other claim than the capacity that was left.
 */
static uint32_t
claimable(const struct cast *cast)
{
	uint32_t most = cast->scene->capacity;
	if (cast->bystander_came_late && bystander_has(cast) != 0 && !cast->restored)
		return capacity_now(cast);
	for (unsigned i = 0; i < 2; i++) {
		if (cast->operation[i] != NULL && (cast->operation[i]->flags & SETS) != 0
		    && capacity_after(cast->operation[i], cast->scene->capacity) > most)
			most = capacity_after(cast->operation[i], cast->scene->capacity);
	}
	return most;
}

/* It is what it was, or what one of the setters asked for; and if nobody else meddled, what a setter that is through did. */
void
books_check_capacity(struct cast *cast)
{
	unsigned setters = 0;
	bool known = false;
	bool through = false;
	if (cast->scene->sem == NULL || cast->restored || !cast_has(cast, SETS) || cast_has(cast, REMOVES))
		return;
	for (unsigned i = 0; i < 2; i++) {
		if (cast->operation[i] == NULL || (cast->operation[i]->flags & SETS) == 0)
			continue;
		setters++;
		known = known || capacity_now(cast) == capacity_after(cast->operation[i], cast->scene->capacity);
		through = through || atomic_load(&cast->scene->shared->actors[i].phase) >= PHASE_END;
	}
	if (!known && (through || capacity_now(cast) != cast->scene->capacity))
		cast_fault(cast, "the capacity is %u, and %u setters %s through", capacity_now(cast), setters,
		           through ? "are" : "are not");

	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem_recover(cast->scene->sem, NULL);
	if (tsem_stat(cast->scene->sem, &stat) == 0
	    && !is_possible(cast, (int64_t)stat.available, (int64_t)stat.capacity + cast->extra))
		cast_fault(cast, "available %" PRIu64 " of a capacity of %u", stat.available, stat.capacity);
}

/* ---- who has what ---- */

/* Live holders have different ones, and none that is not below the capacity. */
static void
check_slots(struct cast *cast)
{
	const struct actor *actors = cast->scene->shared->actors;
	for (unsigned i = 0; i < 2; i++) {
		for (uint32_t at = 0; admitted(cast, i) > 0 && at < actors[i].slot_count; at++) {
			const uint32_t slot = actors[i].slots[at];
			if (slot >= cast->scene->capacity || (at > 0 && slot <= actors[i].slots[at - 1]))
				cast_fault(cast, "slot %u of a capacity of %u, number %u of a hold", slot, cast->scene->capacity, at);
			for (uint32_t other = 0; i == 1 && admitted(cast, 0) > 0 && other < actors[0].slot_count; other++) {
				if (actors[0].slots[other] == slot)
					cast_fault(cast, "both have slot %u", slot);
			}
		}
	}
}

void
books_check_admitted(struct cast *cast)
{
	int64_t have = bystander_has(cast) + cast->drained;
	int64_t exist = (int64_t)claimable(cast) + cast->extra;
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
	check_slots(cast);
	if (have > exist)
		cast_fault(cast, "over-admitted: %" PRId64 " permits held of %" PRId64, have, exist);
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
	int64_t expected = (int64_t)capacity_now(cast) + cast->extra - cast->drained - bystander;
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
	const uint32_t i = find_record_left(sem);
	if (i == NO_RECORD)
		return;
	const struct record *record = record_at(sem, i);
	cast_fault(cast, "record %u is left over: who %#" PRIx64 " what %#" PRIx64 " gen %u count %u", i,
	           LOAD_ACQ(&record->who), LOAD_ACQ(&record->what), LOAD_ACQ(&record->gen), LOAD_ACQ(&record->count));
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
	record_free_kept(sem);
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
	check_hold(cast);
	beside_check(cast);
}

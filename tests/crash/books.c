/* SPDX-License-Identifier: MIT */
/* What the driver knows for certain, against what the semaphore says. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "acts.h"
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

bool
books_is_possible(struct cast *cast, int64_t available, int64_t expected)
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
	    && !books_is_possible(cast, (int64_t)stat.available, (int64_t)stat.capacity + cast->extra))
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
		if (record == NULL || owner_kind(LOAD_ACQ(&record->owner)) != OWNER_KIND_HANDED)
			continue;
		if (state_kind(LOAD_ACQ(&record->state)) == STATE_HELD)
			permits += LOAD_ACQ(&record->count);
		else
			cast_fault(cast, "a hold that was handed over is left half released: what %#" PRIx64,
			           LOAD_ACQ(&record->state));
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
	if (rc == 0 && stat.waiting == 0 && !books_is_possible(cast, (int64_t)stat.available, expected))
		cast_fault(cast, "available %" PRIu64 ", expected %" PRId64 " beside the live holders", stat.available,
		           expected);
}

/* SPDX-License-Identifier: MIT */
/* Compares what the driver knows for certain with what the semaphore says. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "operation_other.h"
#include "protocol/handle.h"
#include "run.h"

/* What executor `i` holds, if it lives and has ended its operation. */
static int64_t
admitted(const struct run *run, unsigned i)
{
	const struct executor *executor = &run->fixture->shared->executors[i];
	const struct operation *operation = run->operation[i];
	if (operation == NULL || run->killed[i] || run->executor[i].where != TRACEE_AT_MARK
	    || atomic_load(&executor->phase) != PHASE_END || executor->result != 0)
		return 0;
	return operation->holds && !executor->elsewhere ? executor->count : 0;
}

static int64_t
taken(const struct run *run, unsigned i)
{
	const struct executor *executor = &run->fixture->shared->executors[i];
	const struct operation *operation = run->operation[i];
	if (operation == NULL || run->killed[i] || run->executor[i].where != TRACEE_AT_MARK
	    || atomic_load(&executor->phase) != PHASE_END || executor->result != 0)
		return 0;
	return (int64_t)operation->taken * executor->count;
}

static int64_t
bystander_has(const struct run *run)
{
	const struct bystander *bystander = &run->fixture->shared->bystander;
	return run->bystander != 0 && atomic_load(&bystander->admitted) && !atomic_load(&bystander->may_go);
}

bool
invariants_allow(struct run *run, int64_t available, int64_t expected)
{
	for (unsigned happened = 0; happened < 4; happened++) {
		const int64_t sum =
			expected + ((happened & 1) != 0 ? run->maybe[0] : 0) + ((happened & 2) != 0 ? run->maybe[1] : 0);
		if ((sum < 0 ? 0 : sum) != available) /* the capacity is below what is held */
			continue;
		run->result->happened = happened != 0;
		return true;
	}
	return false;
}

/* ---- the capacity ---- */

static uint32_t
capacity_now(const struct run *run)
{
	return LOAD_SEQ(&run->fixture->sem->segment.header->capacity);
}

/*
 * The largest capacity that the holders can claim: each capacity that was or may have been in force since they called,
 * because a waiter that was enabled before the capacity became lower counts as admitted. If the bystander called after
 * the only setter had ended, it can claim the capacity at that time only.
 */
static uint32_t
claimable(const struct run *run)
{
	uint32_t most = run->fixture->capacity;
	if (run->bystander_after_set && bystander_has(run) != 0 && !run->restored)
		return capacity_now(run);
	for (unsigned i = 0; i < 2; i++) {
		if (run->operation[i] != NULL && (run->operation[i]->flags & SETS) != 0
		    && capacity_after(run->operation[i], run->fixture->capacity) > most)
			most = capacity_after(run->operation[i], run->fixture->capacity);
	}
	return most;
}

/*
 * The capacity is the old one, or one that a setter asked for. If the only setter has ended its operation, it is the
 * setter's.
 */
void
invariants_check_capacity(struct run *run)
{
	unsigned setters = 0;
	bool known = false;
	bool ended = false;
	if (run->fixture->sem == NULL || run->restored || !run_has_flag(run, SETS) || run_has_flag(run, REMOVES))
		return;
	for (unsigned i = 0; i < 2; i++) {
		if (run->operation[i] == NULL || (run->operation[i]->flags & SETS) == 0)
			continue;
		setters++;
		known = known || capacity_now(run) == capacity_after(run->operation[i], run->fixture->capacity);
		ended = ended || atomic_load(&run->fixture->shared->executors[i].phase) >= PHASE_END;
	}
	if (!known && (ended || capacity_now(run) != run->fixture->capacity))
		run_fault(run, "the capacity is %u, and %u setters %s ended", capacity_now(run), setters,
		          ended ? "have" : "have not");

	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem_recover(run->fixture->sem, NULL);
	if (tsem_stat(run->fixture->sem, &stat) == 0
	    && !invariants_allow(run, (int64_t)stat.available, (int64_t)stat.capacity + run->extra))
		run_fault(run, "available %" PRIu64 " of a capacity of %u", stat.available, stat.capacity);
}

/* ---- holders ---- */

/* Live holders have different slots, all of them below the capacity. */
static void
check_slots(struct run *run)
{
	const struct executor *executors = run->fixture->shared->executors;
	for (unsigned i = 0; i < 2; i++) {
		for (uint32_t at = 0; admitted(run, i) > 0 && at < executors[i].slot_count; at++) {
			const uint32_t slot = executors[i].slots[at];
			if (slot >= run->fixture->capacity || (at > 0 && slot <= executors[i].slots[at - 1]))
				run_fault(run, "slot %u of a capacity of %u, number %u of a hold", slot, run->fixture->capacity, at);
			for (uint32_t other = 0; i == 1 && admitted(run, 0) > 0 && other < executors[0].slot_count; other++) {
				if (executors[0].slots[other] == slot)
					run_fault(run, "both have slot %u", slot);
			}
		}
	}
}

void
invariants_check_admitted(struct run *run)
{
	int64_t have = bystander_has(run) + run->drained;
	int64_t exist = (int64_t)claimable(run) + run->extra;
	for (unsigned i = 0; i < 2; i++) {
		have += admitted(run, i);
		if (taken(run, i) > 0)
			have += taken(run, i);
		/* Another executor may have posted although it has not ended its operation yet. */
		if (run->operation[i] != NULL && run->operation[i]->taken < 0 && !run->killed[i]
		    && run->executor[i].where != TRACEE_GONE)
			exist += run->fixture->shared->executors[i].count;
		if (run->maybe[i] > 0)
			exist += run->maybe[i];
	}
	check_slots(run);
	if (have > exist)
		run_fault(run, "over-admitted: %" PRId64 " permits held of %" PRId64, have, exist);
}

/* A hold that was handed over is either held by a live process or released. */
static int64_t
handed_over(struct run *run)
{
	int64_t permits = 0;
	struct tsem *sem = run->fixture->sem;
	const uint32_t limit = LOAD_ACQ(&sem->segment.header->reserved);
	for (uint32_t i = 0; run->other != 0 && i < limit; i++) {
		const struct record *record = record_at(sem, i);
		if (record == NULL || owner_kind(LOAD_ACQ(&record->owner)) != OWNER_KIND_HANDED)
			continue;
		if (state_kind(LOAD_ACQ(&record->state)) == STATE_HELD)
			permits += LOAD_ACQ(&record->count);
		else
			run_fault(run, "a hold that was handed over is left half released: state %#" PRIx64,
			          LOAD_ACQ(&record->state));
	}
	return permits;
}

void
invariants_check_held(struct run *run)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	const int64_t bystander = bystander_has(run);
	int64_t expected = (int64_t)capacity_now(run) + run->extra - run->drained - bystander;
	expected -= handed_over(run);
	for (unsigned i = 0; i < 2; i++)
		expected -= admitted(run, i) + taken(run, i);
	int rc = tsem_stat(run->fixture->sem, &stat);
	/* The bystander may have been enabled without having noticed it yet. */
	if (run->bystander != 0 && bystander == 0)
		return;
	for (unsigned i = 0; i < 2; i++) {
		if (run->operation[i] != NULL && (run->operation[i]->flags & REMOVES) != 0)
			return;
		/* An executor in the middle of its operation may have what it asks for, or not. */
		if (run->operation[i] != NULL && !run->killed[i] && run->executor[i].where != TRACEE_AT_MARK)
			return;
	}
	if (rc == 0 && stat.waiting == 0 && !invariants_allow(run, (int64_t)stat.available, expected))
		run_fault(run, "available %" PRIu64 ", expected %" PRId64 " beside the live holders", stat.available, expected);
}

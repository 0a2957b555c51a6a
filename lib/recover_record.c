/* SPDX-License-Identifier: MIT */
#include "recover_record.h"

#include "notify.h"
#include "owner.h"
#include "protocol.h"
#include "record.h"
#include "removal.h"
#include "wake.h"

/* A CLAIMED record of a dead owner has its ticket if T says so. Otherwise it never will have one. */
static void
recover_claimed(struct tsem *sem, uint32_t index, struct record *record, uint64_t state)
{
	const uint64_t tickets = LOAD_SEQ(&sem->segment.header->tickets);
	if (is_last_arrival(tickets, index, state))
		finish_arrival(sem, tickets);
	else
		CAS_SEQ(&record->state, state, state_next(state, STATE_IDLE, (uint32_t)state_value(state) + 1));
}

/*
 * A command that ended by itself has abandoned nothing, even if this process sees its end before its `tsem run` does.
 */
static bool
ended_in_order(const struct record *record, uint64_t owner)
{
	return LOAD_ACQ(&record->use) == USE_COMMAND && owner_has_exited(record, owner);
}

/* Begins the release for a dead owner. `held`: the record had permits, and not only a ticket. */
static void
begin_release(struct tsem *sem, struct record *record, uint64_t owner, uint64_t state, uint32_t count, bool held,
              uint32_t *permits)
{
	/*
	 * A remover has all permits, or waits for them, from before unlink() until it has marked the semaphore. If it was
	 * killed in between, the mark must be there before these permits move. The owner of an orphan was no remover.
	 */
	if (owner_kind(owner) == OWNER_KIND_ORPHAN)
		held = false;
	else
		removal_check(sem);
	const bool abandoned = held && !ended_in_order(record, owner);
	/* Before G moves, so that the holder that gets these permits sees it. A taker leaves nothing half-done behind. */
	if (abandoned && LOAD_ACQ(&record->use) != USE_TAKE)
		STORE_SEQ(&sem->segment.header->abandoned, 1);
	if (!CAS_SEQ(&record->state, state, state_next(state, STATE_RELEASING, state_value(state))))
		return;
	if (held && permits != NULL)
		*permits += count;
	if (abandoned) {
		PROBE(recover, sem, state_value(state), count);
		ADD_RLX(&sem->segment.header->statistics.recovered, count);
	}
}

/* Takes the record one state further. False: there is nothing more to do for this owner. */
static bool
recover_step(struct tsem *sem, uint32_t index, struct record *record, uint64_t owner, bool dead, uint32_t *permits)
{
	/*
	 * Read the state only after the death is known, and the owner again after the state: otherwise this process could
	 * act on the use of the record by its next owner.
	 */
	const uint64_t state = LOAD_ACQ(&record->state);
	const uint32_t count = LOAD_ACQ(&record->count);
	const uint64_t ticket = state_value(state);
	if (LOAD_SEQ(&record->owner) != owner)
		return false;

	struct grant grant;
	int64_t ahead;
	switch (state_kind(state)) {
	case STATE_IDLE:
		record_free_for(sem, index, record, owner);
		return false;
	case STATE_CLAIMED:
		if (dead)
			recover_claimed(sem, index, record, state);
		return dead;
	case STATE_QUEUED:
		ahead = counter_diff(enabled_limit(sem), ticket);
		if (!dead || ahead < 0)
			return false;
		begin_release(sem, record, owner, state, count, ahead >= (int64_t)count, permits);
		return true;
	case STATE_HELD:
		if (dead)
			begin_release(sem, record, owner, state, count, true, permits);
		return dead;
	case STATE_RELEASING:
		if (!release_for_owner(sem, index, record, state, &grant))
			return false;
		wake_enabled(sem, &grant);
		notify_idle(sem);
		return true;
	default:
		return false;
	}
}

void
recover_record(struct tsem *sem, uint32_t index, uint32_t *permits)
{
	enum { STEPS_MAX = 16 }; /* five take any record from CLAIMED to free; the rest is for lost races */
	struct record *record = record_at(sem, index);
	const uint64_t owner = record == NULL ? 0 : LOAD_ACQ(&record->owner);
	if (owner == 0)
		return;

	/* Any process may have begun the release of a handed-over hold, and died in it. */
	const bool dead = owner_liveness(sem, record, owner) == LIVENESS_DEAD;
	if (!dead && owner_kind(owner) != OWNER_KIND_HANDED)
		return;
	for (int step = 0; step < STEPS_MAX; step++) {
		if (!recover_step(sem, index, record, owner, dead, permits))
			return;
	}
}

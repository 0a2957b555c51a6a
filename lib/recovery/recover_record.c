/* SPDX-License-Identifier: MIT */
#include "recovery/recover_record.h"

#include "protocol/protocol.h"
#include "records/owner.h"
#include "records/record.h"
#include "recovery/removal.h"
#include "wake/notify.h"
#include "wake/wake.h"

/* A record, and why this process may act for its owner. */
struct subject {
	uint32_t index;
	struct record *record;
	uint64_t owner;
	bool dead;       /* the owner, certainly: the record is freed at the end */
	uint64_t forced; /* the ticket whose owner a user calls dead; or NO_TICKET */
};

#define NO_TICKET UINT64_MAX

/* A CLAIMED record of a dead owner has its ticket if T says so; or if another process has just finished the arrival. */
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
 * A command that ends by itself abandons nothing, even if its `tsem run` has not noticed the end yet. If that is dead,
 * or in another namespace, no process can tell, and the command counts as killed.
 */
static bool
ended_in_order(const struct record *record, uint64_t owner)
{
	const struct process_id id = owner_process_id(record, owner);
	return LOAD_ACQ(&record->use) == USE_COMMAND && owner_is_in_our_namespace(record)
	       && has_exited((pid_t)id.pid, id.start);
}

/* Begins the release for the owner. `held`: the record had permits, and not only a ticket. */
static void
begin_release(struct tsem *sem, const struct subject *subject, uint64_t state, uint32_t count, bool held,
              uint32_t *permits)
{
	struct record *record = subject->record;
	const uint64_t ticket = state_value(state);
	/*
	 * From before unlink() until it has marked the semaphore, a remover has all permits that it found, or waits for
	 * them (by force, if there are records). If it was killed in between, the mark must be there before these permits
	 * move. Orphans need no look: a remover that gives up a place has marked the semaphore, if it has unlinked it.
	 */
	if (owner_kind(subject->owner) == OWNER_KIND_ORPHAN)
		held = false;
	else
		removal_notice(sem);
	/*
	 * A `tsem run` gives the permits back before it reaps its command. So if has_exited() has found no zombie for that
	 * reason, the state has changed.
	 */
	const bool abandoned = held && !ended_in_order(record, subject->owner) && LOAD_SEQ(&record->state) == state;
	/*
	 * Before G moves, so that a holder that is admitted after the death sees it, at the latest the one that gets these
	 * permits. Two recoverers may set it for one death. A taker leaves nothing half-done behind.
	 */
	if (abandoned && LOAD_ACQ(&record->use) != USE_TAKE)
		STORE_SEQ(&sem->segment.header->abandoned, 1);
	if (!CAS_SEQ(&record->state, state, state_next(state, STATE_RELEASING, ticket)))
		return;
	if (held && permits != NULL)
		*permits += count;
	if (abandoned) {
		PROBE(recover, sem, ticket, count);
		ADD_RLX(&sem->segment.header->statistics.recovered, count);
	}
}

/* Takes the record one state further. False: nothing more can be done now. */
static bool
recover_step(struct tsem *sem, const struct subject *subject, uint32_t *permits)
{
	struct record *record = subject->record;
	/*
	 * Read the state only after the death is known, and the owner again after the state: otherwise this process could
	 * act on the use of the record by its next owner.
	 */
	const uint64_t state = LOAD_ACQ(&record->state);
	const uint32_t count = LOAD_ACQ(&record->count);
	if (LOAD_SEQ(&record->owner) != subject->owner)
		return false;

	struct grant grant;
	int64_t ahead;
	const bool handed = owner_kind(subject->owner) == OWNER_KIND_HANDED;
	const bool gone = subject->dead || state_value(state) == subject->forced;
	switch (state_kind(state)) {
	case STATE_IDLE:
		if (subject->dead || handed)
			record_free_for(sem, subject->index, record, subject->owner);
		return false;
	case STATE_CLAIMED:
		if (subject->dead)
			recover_claimed(sem, subject->index, record, state);
		return subject->dead;
	case STATE_QUEUED:
		ahead = counter_diff(enabled_limit(sem), state_value(state));
		if ((!gone && !state_is_declared(state)) || ahead < 0)
			return false;
		begin_release(sem, subject, state, count, gone && ahead >= (int64_t)count, permits);
		return true;
	case STATE_HELD:
		if (gone)
			begin_release(sem, subject, state, count, true, permits);
		return gone;
	case STATE_RELEASING:
		/* Also if the owner lives: the process that began the release may be another one, and dead. */
		if (!release_for_owner(sem, subject->index, record, state, &grant))
			return false;
		wake_enabled(sem, &grant);
		notify_idle(sem);
		return true;
	default:
		return false;
	}
}

static void
recover_steps(struct tsem *sem, const struct subject *subject, uint32_t *permits)
{
	enum { STEPS_MAX = 16 }; /* four take any record from CLAIMED to free; the rest is for lost races */
	for (int step = 0; step < STEPS_MAX; step++) {
		if (!recover_step(sem, subject, permits))
			return;
	}
}

void
recover_record(struct tsem *sem, uint32_t index, uint32_t *permits)
{
	struct record *record = record_at(sem, index);
	const uint64_t owner = record == NULL ? 0 : LOAD_ACQ(&record->owner);
	if (owner == 0)
		return;

	const enum liveness liveness = owner_liveness(sem, record, owner);
	/* It cannot judge a process of its namespace, perhaps for lack of a descriptor: no other relies on its look. */
	if (liveness == LIVENESS_UNKNOWN && owner_is_in_our_namespace(record))
		STORE_RLX(&sem->unsure, true);
	const struct subject subject = {
		.index = index,
		.record = record,
		.owner = owner,
		.dead = liveness == LIVENESS_DEAD,
		.forced = NO_TICKET,
	};
	recover_steps(sem, &subject, permits);
}

void
recover_forced(struct tsem *sem, uint32_t index, uint64_t owner, uint64_t ticket, uint32_t *permits)
{
	const struct subject subject = {
		.index = index, .record = &sem->segment.records[index], .owner = owner, .forced = ticket};
	recover_steps(sem, &subject, permits);
}

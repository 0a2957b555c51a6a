/* SPDX-License-Identifier: MIT */
#include "declare.h"

#include "protocol.h"
#include "recover_front.h"
#include "ticket_word.h"
#include "wake.h"

/* Adds `bits` to the state of a waiter that is not enabled. False: it does not wait any more. */
static bool
mark_waiter(struct tsem *sem, struct record *record, uint64_t ticket, uint64_t bits)
{
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t state = LOAD_ACQ(&record->state);
		const uint32_t count = LOAD_ACQ(&record->count);
		if (state_kind(state) != STATE_QUEUED || state_value(state) != ticket || is_enabled(sem, ticket, count))
			return false;
		if (CAS_SEQ(&record->state, state, state | bits))
			return true;
	}
	return false;
}

bool
declare_cancelled(struct tsem *sem, uint32_t index, uint64_t ticket)
{
	struct record *record = &sem->segment.records[index];
	const uint32_t count = LOAD_ACQ(&record->count);
	const bool waits = mark_waiter(sem, record, ticket, STATE_CANCELLED);
	if (waits)
		wake_waiter(sem, ticket, count);
	return waits;
}

void
declare_dead(struct tsem *sem, uint32_t index, uint64_t owner, uint64_t ticket, uint32_t *permits)
{
	struct record *record = &sem->segment.records[index];
	const uint32_t count = LOAD_ACQ(&record->count);
	/* As when a waiter gives its ticket up: a process that moves E has to see the orphan, and a post, too. */
	if (mark_waiter(sem, record, ticket, STATE_DECLARED)) {
		note_orphan(sem, ticket);
		bump_grants(sem);
	}
	recover_declared(sem, index, owner, ticket, permits);
	wake_waiter(sem, ticket, count); /* a waiter, enabled or not, that lives and has not noticed */
	skip_orphans(sem);
}

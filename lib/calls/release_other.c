/* SPDX-License-Identifier: MIT */
#include "calls/release_other.h"

#include <errno.h>

#include "protocol/protocol.h"
#include "records/record.h"
#include "recovery/recover_front.h"
#include "system/identity.h"

bool
release_other(struct tsem *sem, uint32_t index, uint64_t owner, uint64_t state)
{
	struct record *record = &sem->segment.records[index];
	const uint64_t releasing = state_next(state, STATE_RELEASING, state_value(state));
	struct grant grant;
	if (!CAS_SEQ(&record->state, state, releasing))
		return false;
	if (release_for_owner(sem, index, record, releasing, &grant))
		record_free_for(sem, index, record, owner);
	grant_notify(sem, &grant);
	return true;
}

int
release_loan(struct hold *hold)
{
	/* A copy of the hold in a forked child must not end the parent's loan. */
	const uint64_t self = identity_owner();
	if (self == 0 || self != hold->lender)
		return -EPERM;
	uint64_t state;
	/*
	 * A record is HELD under a ticket only once. If it is not HELD now, the owner has died and the hold was recovered.
	 */
	if (record_is_held(hold_record(hold), hold_ticket(hold), &state))
		release_other(hold_sem(hold), hold->record, hold->lent, state);
	hold->sem = 0;
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "rest.h"

#include <inttypes.h>
#include <stdio.h>

#include "protocol/handle.h"

bool
are_records_at_rest(tsem *sem, char text[REST_TEXT])
{
	struct record *record;
	FOR_EACH_RECORD(sem, index, record) {
		const uint64_t owner = LOAD_ACQ(&record->owner);
		const uint64_t state = LOAD_ACQ(&record->state);
		if (owner == 0 && state_kind(state) == STATE_IDLE)
			continue;
		snprintf(text, REST_TEXT, "record %u is left over: owner %#" PRIx64 " state %#" PRIx64 " gen %u count %u",
		         index, owner, state, LOAD_ACQ(&record->gen), LOAD_ACQ(&record->count));
		return false;
	}
	if ((LOAD_SEQ(&sem->segment.header->pending) & (PENDING_IDLE | PENDING_HOLDERS)) == 0)
		return true;
	snprintf(text, REST_TEXT, "the semaphore says that a process waits for idleness, and there is no such process");
	return false;
}

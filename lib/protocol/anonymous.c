/* SPDX-License-Identifier: MIT */
#include "protocol/anonymous.h"

#include "protocol/protocol.h"

/*
 * No word of the segment has this number. T - G is the number of permits that were taken, by whatever call, and have
 * not come back. A record that has a ticket will move G by its permits itself. So T - G less the permits of all records
 * is what only posts bring back. A ticket and its record appear in one compare-and-swap of T, and disappear in one of
 * G.
 *
 * While G stands still, no record loses its ticket, except after an anonymous take: then the number rises. If G moves,
 * a record may have released its ticket before it is read here: then the result is too large, and never too small.
 * Arrivals after the caller has read T have later tickets, and do not count.
 */

/* Whether the record has a ticket before T as `tickets`, and G as `grants` does not have its permits yet. */
static bool
has_ticket(const struct tsem *sem, uint32_t index, uint64_t state, uint64_t grants, uint64_t tickets)
{
	const bool before = counter_diff(state_value(state), counter_value(tickets)) < 0;
	switch (state_kind(state)) {
	case STATE_CLAIMED:
		/*
		 * T again, as in finish_arrival(): if T has moved on, the record is no longer in this state, or has no ticket.
		 */
		return is_last_arrival(tickets, index, state) && LOAD_SEQ(&sem->segment.header->tickets) == tickets;
	case STATE_QUEUED:
	case STATE_HELD:
		return before;
	case STATE_RELEASING:
		return before && !is_last_release(grants, index, state);
	default:
		return false;
	}
}

/* Each read comes before the next one: the other words belong to the state that is the same before and after them. */
static uint32_t
permits_of(const struct tsem *sem, uint32_t index, const struct record *record, uint64_t grants, uint64_t tickets)
{
	uint32_t count = 0;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t state = LOAD_ACQ(&record->state);
		count = has_ticket(sem, index, state, grants, tickets) ? LOAD_ACQ(&record->count) : 0;
		if (LOAD_ACQ(&record->state) == state)
			break;
	}
	return count;
}

bool
anonymous_count(struct tsem *sem, uint64_t grants, uint64_t tickets, int64_t *anonymous)
{
	int64_t count = counter_diff(counter_value(tickets), counter_value(grants));
	struct record *record;
	for (uint32_t i = 0; record_find(sem, i, &record); i++) {
		if (record == NULL) {
			*anonymous = count;
			return true;
		}
		count -= permits_of(sem, i, record, grants, tickets);
	}
	return false;
}

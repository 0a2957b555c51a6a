/* SPDX-License-Identifier: MIT */
#include "protocol.h"

bool
finish_arrival(struct tsem *sem, uint64_t tickets)
{
	const uint64_t tag = counter_tag(tickets);
	struct record *record;
	if (!record_find(sem, tag_record(tag), &record))
		return false;
	if (record == NULL) /* TAG_NONE, or nonsense */
		return true;

	/* Acquire, each before the next: the second look at T must come after the reads that it vouches for. */
	const uint64_t state = LOAD_ACQ(&record->state);
	if (state_kind(state) != STATE_CLAIMED || state_arrival_phase(state) != tag_phase(tag))
		return true;
	const uint32_t count = LOAD_ACQ(&record->count);
	if (LOAD_SEQ(&sem->segment.header->tickets) == tickets)
		CAS_SEQ(&record->state, state, state_next(state, STATE_QUEUED, counter_value(tickets) - count));
	return true;
}

bool
finish_release(struct tsem *sem, uint64_t grants)
{
	const uint64_t tag = counter_tag(grants);
	struct record *record;
	if (!record_find(sem, tag_record(tag), &record))
		return false;
	if (record == NULL)
		return true;

	const uint64_t state = LOAD_ACQ(&record->state);
	if (state_kind(state) != STATE_RELEASING || state_release_phase(state) != tag_phase(tag))
		return true;
	const uint64_t released = state_released(record, state);
	if (LOAD_SEQ(&sem->segment.header->grants) == grants)
		CAS_SEQ(&record->state, state, released);
	return true;
}

bool
release_for_owner(struct tsem *sem, uint32_t index, struct record *record, uint64_t state, struct grant *grant)
{
	const enum move move = move_grant(sem, index, record, state, grant);
	if (move == MOVE_DONE)
		CAS_SEQ(&record->state, state, state_released(record, state));
	return move != MOVE_STUCK;
}

bool
retag_grants(struct tsem *sem, uint64_t grants, uint64_t tag, bool *done)
{
	*done = false;
	if (!is_finished(counter_tag(grants), tag) && !finish_release(sem, grants))
		return false;
	*done = CAS_SEQ(&sem->segment.header->grants, grants, counter_word_retag(grants, tag));
	return true;
}

bool
watch_grants(struct tsem *sem)
{
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t grants = LOAD_SEQ(&sem->segment.header->grants);
		bool done = tag_is_watched(counter_tag(grants));
		if (!done && !retag_grants(sem, grants, TAG_WATCHED, &done))
			return false;
		if (done)
			return true;
	}
	return false;
}

/* Once is enough: where the compare-and-swap fails, another process has changed the word since the caller's change. */
void
stir_grants(struct tsem *sem)
{
	const uint64_t grants = LOAD_SEQ(&sem->segment.header->grants);
	bool done;
	retag_grants(sem, grants, counter_tag(grants) == TAG_WATCHED ? TAG_WATCHED_TOO : TAG_WATCHED, &done);
}

/* SPDX-License-Identifier: MIT */
#include "protocol/protocol.h"

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

int
arrive(struct tsem *sem, uint64_t tag, uint32_t count, enum arrival arrival, uint64_t *ticket)
{
	struct header *header = sem->segment.header;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		/* T before E: a setter that lowers C relies on this CAS to fail if T moved since E was read. */
		const uint64_t tickets = LOAD_SEQ(&header->tickets);
		const uint64_t at = counter_value(tickets);
		if (arrival == ARRIVE_IF_UNMOVED && tickets != *ticket)
			return -EAGAIN;
		const int64_t room = counter_diff(enabled_limit(sem), at);
		if (room < (int64_t)count) {
			if (arrival == ARRIVE_IF_ENABLED)
				return -EAGAIN;
			if ((int64_t)count - room > COUNTER_DRIFT)
				return -EOVERFLOW;
		}
		if (!is_replaceable(counter_tag(tickets), tag) && !finish_arrival(sem, tickets))
			break;
		if (CAS_SEQ(&header->tickets, tickets, counter_word_advance(tickets, count, tag))) {
			*ticket = at;
			PROBE_SEM(take, sem);
			return 0;
		}
	}
	return -EBADMSG;
}

int
advance_tickets(struct tsem *sem, uint64_t tickets, uint64_t count)
{
	if (!is_replaceable(counter_tag(tickets), TAG_NONE) && !finish_arrival(sem, tickets))
		return -EBADMSG;
	const uint64_t next = counter_word_make(counter_add(counter_value(tickets), count), TAG_NONE);
	return CAS_SEQ(&sem->segment.header->tickets, tickets, next) ? 0 : -EAGAIN;
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

	/* Acquire, as in finish_arrival(). */
	const uint64_t state = LOAD_ACQ(&record->state);
	if (state_kind(state) != STATE_RELEASING || state_release_phase(state) != tag_phase(tag))
		return true;
	const uint64_t released = state_released(record, state);
	if (LOAD_SEQ(&sem->segment.header->grants) == grants)
		CAS_SEQ(&record->state, state, released);
	return true;
}

enum move
move_grants(struct tsem *sem, uint32_t index, const struct record *record, uint64_t state, struct grant *grant)
{
	struct header *header = sem->segment.header;
	const uint64_t tag = tag_make(index, state_release_phase(state));
	const uint32_t count = LOAD_ACQ(&record->count);
	grant->moved = false;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t grants = LOAD_SEQ(&header->grants);
		if (counter_tag(grants) == tag)
			return MOVE_DONE;
		if (LOAD_ACQ(&record->state) != state)
			return MOVE_OVER;
		if (!is_replaceable(counter_tag(grants), tag) && !finish_release(sem, grants))
			break;
		if (CAS_SEQ(&header->grants, grants, counter_word_advance(grants, count, tag))) {
			/* C after G, as everywhere. */
			const uint32_t capacity = LOAD_SEQ(&header->capacity);
			grant->moved = true;
			grant->from = counter_add(counter_value(grants), capacity);
			grant->to = counter_add(grant->from, count);
			PROBE_SEM(post, sem);
			return MOVE_DONE;
		}
	}
	return MOVE_STUCK;
}

bool
release_for_owner(struct tsem *sem, uint32_t index, struct record *record, uint64_t state, struct grant *grant)
{
	const enum move move = move_grants(sem, index, record, state, grant);
	if (move == MOVE_DONE)
		CAS_SEQ(&record->state, state, state_released(record, state));
	return move != MOVE_STUCK;
}

int
retag_grants(struct tsem *sem, uint64_t grants, uint64_t tag)
{
	if (!is_replaceable(counter_tag(grants), tag) && !finish_release(sem, grants))
		return -EBADMSG;
	return CAS_SEQ(&sem->segment.header->grants, grants, counter_word_retag(grants, tag)) ? 0 : -EAGAIN;
}

bool
watch_grants(struct tsem *sem)
{
	int rc = -EAGAIN;
	for (int retries = 0; rc == -EAGAIN && retries < RETRIES_MAX; retries++) {
		const uint64_t grants = LOAD_SEQ(&sem->segment.header->grants);
		rc = tag_is_watched(counter_tag(grants)) ? 0 : retag_grants(sem, grants, TAG_WATCHED_FIRST);
	}
	return rc == 0;
}

/*
 * Until it succeeds: a post that moved G in between may have left the tag NONE, for which the next one does not look.
 */
void
bump_grants(struct tsem *sem)
{
	int rc = -EAGAIN;
	for (int retries = 0; rc == -EAGAIN && retries < RETRIES_MAX; retries++) {
		const uint64_t grants = LOAD_SEQ(&sem->segment.header->grants);
		const uint64_t tag = counter_tag(grants);
		const bool has_next = tag_is_watched(tag) && tag != TAG_WATCHED_LAST;
		rc = retag_grants(sem, grants, has_next ? tag + 1 : TAG_WATCHED_FIRST);
	}
}

/* SPDX-License-Identifier: MIT */
#include "protocol.h"

bool
finish_arrival(struct tsem *sem, uint64_t tickets)
{
	const uint64_t tag = word_tag(tickets);
	struct record *record;
	if (!record_find(sem, tag_record(tag), &record))
		return false;
	if (record == NULL) /* TAG_NONE, or nonsense */
		return true;

	/* Acquire, each before the next: the second look at T must come after the reads that it vouches for. */
	const uint64_t what = LOAD_ACQ(&record->what);
	if (what_state(what) != STATE_CLAIMED || what_a(what) != tag_face(tag))
		return true;
	const uint32_t count = LOAD_ACQ(&record->count);
	if (LOAD_SEQ(&sem->segment.header->tickets) == tickets)
		CAS_SEQ(&record->what, what, what_next(what, STATE_QUEUED, word_counter(tickets) - count));
	return true;
}

bool
finish_release(struct tsem *sem, uint64_t grants)
{
	const uint64_t tag = word_tag(grants);
	struct record *record;
	if (!record_find(sem, tag_record(tag), &record))
		return false;
	if (record == NULL)
		return true;

	const uint64_t what = LOAD_ACQ(&record->what);
	if (what_state(what) != STATE_RELEASING || what_b(what) != tag_face(tag))
		return true;
	const uint64_t released = what_released(record, what);
	if (LOAD_SEQ(&sem->segment.header->grants) == grants)
		CAS_SEQ(&record->what, what, released);
	return true;
}

bool
release_for_owner(struct tsem *sem, uint32_t index, struct record *record, uint64_t what, struct grant *grant)
{
	const enum move move = move_grant(sem, index, record, what, grant);
	if (move == MOVE_DONE)
		CAS_SEQ(&record->what, what, what_released(record, what));
	return move != MOVE_STUCK;
}

int
grant_anonymously(struct tsem *sem, uint32_t count, struct grant *grant, uint32_t *previous)
{
	struct header *header = sem->segment.header;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t grants = LOAD_SEQ(&header->grants);
		const uint32_t capacity = LOAD_SEQ(&header->capacity);
		const uint64_t tickets = LOAD_SEQ(&header->tickets);
		const uint64_t limit = counter_add(word_counter(grants), capacity);
		const int64_t room = counter_diff(limit, word_counter(tickets));
		const int64_t available = room > 0 ? room : 0;
		if (room + (int64_t)count > COUNTER_DRIFT || (sem->max != 0 && room + (int64_t)count > (int64_t)sem->max))
			return -EOVERFLOW;

		/* The tag stays as it is: this grant is nobody's, and the last mover may still have to be finished. */
		if (CAS_SEQ(&header->grants, grants, grants + word_make(count, 0))) {
			const uint32_t now = LOAD_SEQ(&header->capacity);
			grant->moved = true;
			grant->from = counter_add(word_counter(grants), now);
			grant->to = counter_add(grant->from, count);
			PROBE_AT_ONCE(post, sem);
			*previous = available < (int64_t)UINT32_MAX ? (uint32_t)available : UINT32_MAX;
			return 0;
		}
	}
	return -EBADMSG;
}

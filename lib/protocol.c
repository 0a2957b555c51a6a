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

bool
retag_grants(struct tsem *sem, uint64_t grants, uint64_t tag, bool *done)
{
	*done = false;
	if (!is_finished(word_tag(grants), tag) && !finish_release(sem, grants))
		return false;
	*done = CAS_SEQ(&sem->segment.header->grants, grants, word_retag(grants, tag));
	return true;
}

bool
watch_grants(struct tsem *sem)
{
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t grants = LOAD_SEQ(&sem->segment.header->grants);
		bool done = tag_is_watched(word_tag(grants));
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
	retag_grants(sem, grants, word_tag(grants) == TAG_WATCHED ? TAG_WATCHED_TOO : TAG_WATCHED, &done);
}

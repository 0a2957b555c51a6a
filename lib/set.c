/* SPDX-License-Identifier: MIT */
/* Another capacity at run time. */
#include <errno.h>

#include "idle.h"
#include "protocol.h"
#include "queue.h"
#include "recover.h"

/*
 * A waiter that the old capacity had enabled, and that has not noticed, is admitted: HELD is a state and not a comparison
 * because E may now lie below its ticket again. It may be falling asleep at this moment, so it is woken.
 */
static void
admit(struct tsem *sem, struct record *record, uint64_t before, uint64_t limit)
{
	const uint64_t what = LOAD_ACQ(&record->what);
	const uint32_t count = LOAD_ACQ(&record->count);
	const uint64_t ticket = what_value(what);
	if (what_state(what) == STATE_QUEUED && counter_diff(ticket, before) < 0
	    && counter_diff(limit, ticket) >= (int64_t)count
	    && CAS_SEQ(&record->what, what, what_next(what, STATE_HELD, ticket)))
		wake_ticket(sem, counter_add(ticket, count - 1));
}

/*
 * With a ticket taken behind the store of C, every move of T that was decided on the old E has failed or happened. G is
 * read after that: those in front of the ticket whom it and the old capacity enable were enabled before the capacity
 * fell. If this process dies on the way, nothing is lost: such a waiter enters late.
 */
static int
lower(struct tsem *sem, uint32_t old, const struct claim *claim)
{
	struct place_in_line place = {.claim = *claim, .waiter = {.record = claim->record, .count = 1}};
	int rc = queue_take_ticket(sem, &place);
	if (rc < 0)
		return rc;
	const uint64_t limit = counter_add(word_counter(LOAD_SEQ(&sem->segment.header->grants)), old);
	struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++)
		admit(sem, record, place.waiter.ticket, limit);
	queue_leave(sem, &place);
	return 0;
}

/* Whoever is enabled now may sleep on any word: a post at the same instant may have read the old capacity. */
static void
raise(struct tsem *sem)
{
	wake_everybody(sem);
	skip_orphans(sem);
	idle_notify(sem);
}

/*
 * Stores C, by a CAS, so that of two setters each knows what it replaced. To lower takes a record, which is claimed
 * before anything has changed, because it may fail.
 */
static int
replace_capacity(struct tsem *sem, uint32_t permits, uint32_t *old, struct claim *claim, bool *claimed)
{
	struct header *header = sem->segment.header;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		*old = LOAD_SEQ(&header->capacity);
		const int64_t room = counter_diff(enabled_limit(sem), word_counter(LOAD_SEQ(&header->tickets)));
		if (permits > *old && room + permits - *old > COUNTER_DRIFT)
			return -EOVERFLOW;
		if (permits < *old && !*claimed) {
			int rc = queue_claim_at_once(sem, 1, USE_TAKE, claim);
			if (rc < 0)
				return rc;
			*claimed = true;
		}
		if (CAS_SEQ32(&header->capacity, *old, permits))
			return 0;
	}
	return -EBADMSG;
}

int
tsem_set(tsem *sem, uint32_t permits)
{
	struct claim claim;
	bool claimed = false;
	uint32_t old;
	if (!sem->segment.writable)
		return -EPERM;
	if (is_removed(sem))
		return -EIDRM;
	if (sem->max != 0 && permits > sem->max)
		return -EOVERFLOW;

	int rc = replace_capacity(sem, permits, &old, &claim, &claimed);
	if (rc == 0 && permits < old)
		return lower(sem, old, &claim);
	if (claimed)
		record_unclaim(sem, &claim);
	if (rc == 0)
		raise(sem);
	/* Whoever removed it meanwhile has left no capacity: that is what sends everybody the long way, to the notice. */
	if (rc == 0 && LOAD_SEQ(&sem->segment.header->removed) != 0) {
		STORE_SEQ(&sem->segment.header->capacity, 0);
		rc = -EIDRM;
	}
	return rc;
}

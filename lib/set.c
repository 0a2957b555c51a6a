/* SPDX-License-Identifier: MIT */
/* Another capacity at run time. */
#include <errno.h>

#include "idle.h"
#include "recover.h"
#include "set.h"

/*
 * A waiter that the old capacity had enabled, and that has not noticed, is admitted: HELD is a state and not a comparison
 * because E may now lie below its ticket again. It may be falling asleep at this moment, so it is woken.
 */
static void
admit(struct tsem *sem, struct record *record, uint64_t before, uint64_t limit)
{
	const uint64_t state = LOAD_ACQ(&record->state);
	const uint32_t count = LOAD_ACQ(&record->count);
	const uint64_t ticket = state_value(state);
	if (state_kind(state) == STATE_QUEUED && counter_diff(ticket, before) < 0
	    && counter_diff(limit, ticket) >= (int64_t)count
	    && CAS_SEQ(&record->state, state, state_next(state, STATE_HELD, ticket)))
		wake_ticket(sem, counter_add(ticket, count - 1));
}

/*
 * With a ticket taken behind the store of C, every move of T that was decided on the old E has failed or happened. G is
 * read after that: those in front of the ticket whom it and the old capacity enable were enabled before the capacity
 * fell. If this process dies on the way, nothing is lost: such a waiter enters late.
 *
 * If another setter has stored C meanwhile, G may have moved since under that one's capacity, and the old one says no
 * more who was enabled. `sets` was read before the old C, and a store is counted before anything else is done about it:
 * so if nobody else is counted by now, nobody's store behind ours has taken effect. Otherwise nobody is admitted here,
 * and such a waiter enters late, too.
 */
static int
lower(struct tsem *sem, const struct change *change)
{
	struct header *header = sem->segment.header;
	struct queue_place place = {.claim = change->claim, .waiter = {.record = change->claim.record, .count = 1}};
	int rc = queue_take_ticket(sem, &place);
	if (rc < 0)
		return rc;
	const uint64_t limit = counter_add(counter_value(LOAD_SEQ(&header->grants)), change->old);
	const bool alone = LOAD_SEQ(&header->sets) == change->sets + 1;
	struct record *record;
	for (uint32_t i = 0; alone && (record = record_at(sem, i)) != NULL; i++)
		admit(sem, record, place.waiter.ticket, limit);
	queue_leave(sem, &place);
	/* Of two setters one may have made a waiter again of one that was enabled, and nobody has moved G. */
	notify_idle(sem);
	return 0;
}

/* A waiter that is enabled now may sleep on any word: a release at the same instant may have read the old capacity. */
static void
raise(struct tsem *sem)
{
	wake_all(sem);
	skip_orphans(sem);
	notify_idle(sem);
}

/* By a CAS, so that of two setters each knows what it replaced. */
int
set_store(struct tsem *sem, uint32_t permits, struct change *change)
{
	struct header *header = sem->segment.header;
	*change = (struct change){.permits = permits};
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		change->sets = LOAD_SEQ(&header->sets);
		change->old = LOAD_SEQ(&header->capacity);
		if (removal_notice_mark(sem)) /* which may be why that differs from what was found the last time */
			return -EIDRM;
		const int64_t room_then = spare_permits(sem) + (int64_t)permits - (int64_t)change->old;
		/* To lower takes a place in line, and that must not fail when C has been stored. */
		if (permits > change->old ? room_then > COUNTER_DRIFT : permits < change->old && 1 - room_then > COUNTER_DRIFT)
			return -EOVERFLOW;
		if (permits < change->old && !change->claimed) {
			int rc = queue_claim_at_once(sem, 1, USE_TAKE, NS_FOREVER, &change->claim);
			if (rc < 0)
				return rc;
			change->claimed = true;
		}
		if (CAS_SEQ32(&header->capacity, change->old, permits)) {
			ADD_SEQ(&header->sets, 1);
			stir_grants(sem);
			return 0;
		}
	}
	return -EBADMSG;
}

int
set_take_effect(struct tsem *sem, const struct change *change)
{
	if (change->permits < change->old)
		return lower(sem, change);
	if (change->claimed)
		record_unclaim(sem, &change->claim);
	raise(sem);
	return 0;
}

int
tsem_set(tsem *sem, uint32_t permits)
{
	struct change change;
	if (!sem->segment.writable)
		return -EPERM;
	if (removal_notice(sem))
		return -EIDRM;
	if (sem->max != 0 && permits > sem->max)
		return -EOVERFLOW;

	int rc = set_store(sem, permits, &change);
	if (rc < 0) {
		if (change.claimed)
			record_unclaim(sem, &change.claim);
		return rc;
	}
	/*
	 * A remover that came behind the look above has left no capacity, or has died before that. Without capacity every
	 * process goes the long way, where it sees the mark, and so it is again then. If this process dies here, the first
	 * process that does not get a permit at once sees to that. Until then those that have the semaphore open go on among
	 * themselves, under this capacity.
	 */
	if (permits >= change.old && removal_notice(sem)) {
		if (change.claimed)
			record_unclaim(sem, &change.claim);
		return -EIDRM;
	}
	return set_take_effect(sem, &change);
}

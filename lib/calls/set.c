/* SPDX-License-Identifier: MIT */
#include "calls/set.h"

#include <errno.h>

#include "protocol/protocol.h"
#include "recovery/recover_front.h"
#include "recovery/removal.h"
#include "wake/notify.h"
#include "wake/wake.h"

/*
 * Admits a waiter that the old capacity had enabled and that has not noticed. HELD is a state, and not the result of a
 * comparison, because E may lie below the waiter's ticket again by now. The waiter may be falling asleep, so it is
 * woken.
 */
static void
admit(struct tsem *sem, struct record *record, uint64_t before, uint64_t limit)
{
	const uint64_t state = LOAD_ACQ(&record->state);
	const uint32_t count = LOAD_ACQ(&record->count);
	const uint64_t ticket = state_value(state);
	if (state_kind(state) == STATE_QUEUED && !state_is_declared(state) && counter_diff(ticket, before) < 0
	    && counter_diff(limit, ticket) >= (int64_t)count
	    && CAS_SEQ(&record->state, state, state_next(state, STATE_HELD, ticket)))
		wake_waiter(sem, ticket, count);
}

/*
 * The setter takes a ticket after it has stored C. So every move of T that was decided with the old E has failed or
 * happened by then. G is read after that: the waiters before this ticket that it and the old capacity enable were
 * enabled before the capacity fell. If this process dies on the way, nothing is lost: such a waiter is admitted later.
 *
 * If another setter has stored C since, G may have moved under that capacity, and the old one no longer says which
 * waiters were enabled. `version` was read before the old C, and a setter counts its store before it does anything
 * else. So if no other store is counted by now, none has taken effect. Otherwise no waiter is admitted here, and such a
 * waiter is admitted later.
 */
static int
lower_capacity(struct tsem *sem, const struct change *change)
{
	struct header *header = sem->segment.header;
	struct queue_place place = change->place;
	int rc = queue_take_ticket(&place, ARRIVE_IN_LINE);
	if (rc < 0)
		return rc;
	const uint64_t limit = counter_add(counter_value(LOAD_SEQ(&header->grants)), change->old);
	if (LOAD_SEQ(&header->capacity_version) == change->version + 1) {
		struct record *record;
		FOR_EACH_RECORD(sem, i, record)
			admit(sem, record, place.waiter.ticket, limit);
	}
	queue_leave(&place);
	/* Of two setters, one may have made an enabled waiter wait again, and no process has moved G. */
	notify_idle(sem);
	return 0;
}

/* By compare-and-swap, so that each of two setters knows what it replaced. */
int
set_store(struct tsem *sem, uint32_t permits, struct change *change)
{
	struct header *header = sem->segment.header;
	*change = (struct change){.permits = permits, .place = queue_request(sem, 1, USE_TAKE, NULL)};
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		change->version = LOAD_SEQ(&header->capacity_version);
		change->old = LOAD_SEQ(&header->capacity);
		if (removal_is_marked(sem)) /* the reason, perhaps, why the last compare-and-swap failed */
			return -EIDRM;
		const int64_t room_then = available_permits(sem) + (int64_t)permits - (int64_t)change->old;
		/* A lowering takes a ticket, and that must not fail after C has been stored. */
		if (permits > change->old ? room_then > COUNTER_DRIFT : permits < change->old && 1 - room_then > COUNTER_DRIFT)
			return -EOVERFLOW;
		if (permits < change->old && !change->claimed) {
			int rc = queue_claim(&change->place);
			if (rc < 0)
				return rc;
			change->claimed = true;
		}
		if (CAS_SEQ32(&header->capacity, change->old, permits)) {
			ADD_SEQ(&header->capacity_version, 1);
			bump_grants(sem);
			return 0;
		}
	}
	return -EBADMSG;
}

static void
unclaim(struct tsem *sem, const struct change *change)
{
	if (change->claimed)
		record_unclaim(sem, &change->place.claim);
}

int
set_take_effect(struct tsem *sem, const struct change *change)
{
	if (change->permits < change->old)
		return lower_capacity(sem, change);
	unclaim(sem, change);
	/* A waiter that is enabled now may sleep on any word: a release at this moment may have read the old capacity. */
	wake_all(sem);
	skip_orphans(sem);
	notify_idle(sem);
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
	/*
	 * A remover that came after the look above has set C to 0, or has died before that; this process has stored another
	 * C since. So it looks again, and sets C to 0 again. If it dies before that, the first process that does not get a
	 * permit at once does so; until then the processes that have the semaphore open go on among themselves under this
	 * capacity.
	 */
	if (rc == 0 && permits >= change.old && removal_notice(sem))
		rc = -EIDRM;
	if (rc == 0)
		return set_take_effect(sem, &change);
	unclaim(sem, &change);
	return rc;
}

/* SPDX-License-Identifier: MIT */
#include "queue/queue.h"

#include <errno.h>
#include <pthread.h>

#include "protocol/census.h"
#include "protocol/protocol.h"
#include "records/owner.h"
#include "recovery/recover.h"
#include "recovery/recover_front.h"
#include "recovery/removal.h"
#include "system/clock.h"
#include "system/extensible.h"
#include "system/platform.h"
#include "wake/wake.h"

/* ---- the request ---- */

const struct tsem_wait queue_for_ever = {.size = sizeof(queue_for_ever)};

/* A wait that is a cancellation point begins with one. */
int
queue_options(const struct tsem_wait *wait, struct tsem_wait *options)
{
	static const size_t first_version = SIZE_UP_TO(struct tsem_wait, max_waiting);
	int rc = extensible_read(options, sizeof(*options), first_version, wait != NULL ? wait : &queue_for_ever);
	if (rc == 0 && (options->flags & TSEM_CANCELABLE) != 0)
		pthread_testcancel();
	return rc;
}

#define WAIT_FLAGS (TSEM_INTERRUPTIBLE | TSEM_RESTART | TSEM_REALTIME | TSEM_CANCELABLE | TSEM_QUEUED)

bool
queue_is_deadline(const struct timespec *deadline)
{
	return deadline == NULL || (deadline->tv_nsec >= 0 && deadline->tv_nsec < (long)NS_PER_SECOND);
}

struct queue_place
queue_request(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options)
{
	return (struct queue_place){
		.sem = sem,
		.use = use,
		.waiter = {.count = count, .options = options, .until = NS_FOREVER},
	};
}

/*
 * Whether the queue may come to grant the count. A count up to the creator's number or the maximum is accepted even if
 * the capacity is lower now: the caller waits until it is raised. If both are 0, any count is accepted: posts may bring
 * it.
 */
static bool
is_worth_waiting_for(const struct tsem *sem, uint32_t count)
{
	const bool unlimited = sem->permits == 0 && sem->max == 0;
	return unlimited || count <= LOAD_RLX(&sem->segment.header->capacity) || count <= sem->permits || count <= sem->max;
}

int
queue_check(const struct queue_place *place)
{
	const struct tsem *sem = place->sem;
	const uint32_t count = place->waiter.count;
	const struct tsem_wait *options = place->waiter.options;
	if (options != NULL && ((options->flags & ~WAIT_FLAGS) != 0 || !queue_is_deadline(options->deadline)))
		return -EINVAL;
	if (!sem->segment.writable)
		return -EPERM;
	if (count == 0 || (!is_worth_waiting_for(sem, count) && available_permits(sem) < (int64_t)count))
		return -EINVAL;
	return removal_is_marked(sem) ? -EIDRM : 0;
}

/* ---- the record ---- */

/*
 * Claims a record. If none is free, frees dead owners' records that have neither a permit nor a ticket, and only then
 * lets the table grow. A look mostly skips such records.
 */
static int
claim_or_grow(struct queue_place *place)
{
	const struct waiter *waiter = &place->waiter;
	const uint64_t until = waiter->until == NS_FOREVER ? 0 : waiter->until;
	for (int tries = 0; tries <= RECORDS_MAX / RECORDS_PER_PAGE + 1; tries++) {
		int rc = record_claim(place->sem, waiter->count, place->use, until, &place->claim);
		if (rc != -EUSERS)
			return rc;
		if (recover_unused_records(place->sem) > 0)
			continue;
		rc = record_grow(place->sem);
		if (rc < 0)
			return rc;
	}
	return -EUSERS;
}

int
queue_claim(struct queue_place *place)
{
	int rc = claim_or_grow(place);
	if (rc != -EUSERS)
		return rc;
	recover_all(place->sem, NULL);
	return claim_or_grow(place);
}

/* ---- giving up ---- */

/* Makes the ticket an orphan: it is skipped now if E has come to it, and otherwise when E does. */
void
queue_leave(struct queue_place *place)
{
	struct tsem *sem = place->sem;
	const uint64_t ticket = place->waiter.ticket;
	queue_mark_queued(place);
	STORE_SEQ(&place->claim.record->owner, owner_orphan(ticket));
	PROBE(abandon, sem, ticket, place->waiter.count);
	note_orphan(sem, ticket);
	bump_grants(sem);
	recover_record(sem, place->claim.index, NULL);
	skip_orphans(sem);
}

/* The wait ended with `why`. 0: the ticket has been enabled after all, and is not given up. */
static int
give_up(struct queue_place *place, int why)
{
	struct tsem *sem = place->sem;
	if (why == -ETIMEDOUT)
		recover_all(sem, NULL);
	if (why != -EIDRM && wait_is_over(sem, &place->waiter)) {
		if (!removal_is_marked(sem))
			return 0;
		why = -EIDRM;
	}

	ADD_RLX(&sem->segment.header->statistics.timeouts, 1);
	queue_leave(place);
	return why;
}

void
queue_mark_queued(const struct queue_place *place)
{
	struct record *record = place->claim.record;
	const uint64_t state = LOAD_ACQ(&record->state);
	if (state_kind(state) == STATE_CLAIMED)
		CAS_SEQ(&record->state, state, state_next(state, STATE_QUEUED, place->waiter.ticket));
}

/* A thread that is cancelled during the wait. */
static void
leave_cancelled(void *arg)
{
	struct queue_place *place = arg;
	ADD_RLX(&place->sem->segment.header->statistics.timeouts, 1);
	queue_leave(place);
}

static int
wait_cancelably(struct queue_place *place, struct sleeper *sleeper, uint64_t *now, size_t *which)
{
	int rc;
	pthread_cleanup_push(leave_cancelled, place);
	rc = wait_sleeping(sleeper, 1, now, which);
	pthread_cleanup_pop(0);
	return rc;
}

/* ---- the ticket ---- */

/*
 * True: `most` live processes wait, as of the T that this function stores. While T stands still, no process arrives, so
 * each process that waits in the end has been seen, and each that has been seen waited in the beginning.
 */
static bool
is_line_full(struct tsem *sem, uint32_t most, uint64_t *tickets)
{
	const struct counters c = census_counters(sem);
	const struct record *record;
	uint32_t n = 0;
	FOR_EACH_RECORD(sem, i, record) {
		const struct sighting s = census_sight(record, i, &c);
		n += n < most && s.role == ROLE_WAITER && owner_liveness(sem, record, s.owner) != LIVENESS_DEAD;
	}
	*tickets = c.tickets;
	return n == most && LOAD_SEQ(&sem->segment.header->tickets) == c.tickets;
}

/* As arrive(), and -EAGAIN also if the options limit the line and it is full. */
static int
arrive_if_allowed(struct queue_place *place, uint64_t tag, enum arrival how)
{
	struct waiter *waiter = &place->waiter;
	const uint32_t most = how == ARRIVE_IN_LINE && waiter->options != NULL ? waiter->options->max_waiting : 0;
	if (most == 0)
		return arrive(place->sem, tag, waiter->count, how, &waiter->ticket);
	int rc = -EAGAIN;
	for (int retries = 0; rc == -EAGAIN && retries < RETRIES_MAX; retries++) {
		if (is_line_full(place->sem, most, &waiter->ticket))
			return -EAGAIN;
		rc = arrive(place->sem, tag, waiter->count, ARRIVE_IF_UNMOVED, &waiter->ticket);
	}
	return rc;
}

int
queue_take_ticket(struct queue_place *place, enum arrival how)
{
	place->waiter.record = place->claim.record;
	const uint64_t tag = tag_make(place->claim.index, state_arrival_phase(LOAD_RLX(&place->claim.record->state)));
	int rc = arrive_if_allowed(place, tag, how);
	if (rc == -EAGAIN && recover_before_failing(place->sem))
		rc = arrive_if_allowed(place, tag, how);
	if (rc < 0)
		record_unclaim(place->sem, &place->claim);
	return rc;
}

/*
 * A count above C, the creator's number and the maximum may never be granted (is_worth_waiting_for()). So the caller
 * gets it at once or fails: in the queue it would stop all waiters behind it.
 */
int
queue_join(struct queue_place *place)
{
	struct waiter *waiter = &place->waiter;
	const bool waits = is_worth_waiting_for(place->sem, waiter->count);
	const bool by_realtime = (waiter->options->flags & TSEM_REALTIME) != 0;
	waiter->until = wait_until(waiter->options, by_realtime ? platform.now() : 0);
	waiter->cancels = LOAD_ACQ(&place->sem->segment.header->cancels); /* the wait begins */
	int rc = queue_claim(place);
	if (rc == 0)
		rc = queue_take_ticket(place, waits ? ARRIVE_IN_LINE : ARRIVE_IF_ENABLED);
	return rc == -EAGAIN && !waits ? -EINVAL : rc;
}

/* For an enabled ticket: 0, or -EIDRM if the semaphore is removed; then the ticket is given up. */
static int
keep_unless_removed(struct queue_place *place)
{
	int rc = fail_if_removed(place->sem, 0);
	if (rc < 0)
		queue_leave(place);
	skip_orphans(place->sem); /* a post may have brought E to an orphan: see post.c */
	return rc;
}

int
queue_wait(struct queue_place *place)
{
	struct tsem *sem = place->sem;
	const struct waiter *waiter = &place->waiter;
	if (is_enabled(sem, waiter->ticket, waiter->count) || wait_spinning(sem, waiter))
		return keep_unless_removed(place);

	queue_mark_queued(place);
	PROBE(wait, sem, waiter->ticket, waiter->count);
	struct sleeper sleeper = {.sem = sem, .waiter = waiter};
	const uint64_t began = platform.now();
	uint64_t now = began;
	size_t which;
	const bool cancelable = (waiter->options->flags & TSEM_CANCELABLE) != 0;
	int rc = cancelable ? wait_cancelably(place, &sleeper, &now, &which) : wait_sleeping(&sleeper, 1, &now, &which);
	wait_count(sem, now - began);
	rc = fail_if_removed(sem, rc);
	if (rc < 0)
		rc = give_up(place, rc);
	if (rc < 0)
		return rc;
	PROBE(admit, sem, waiter->ticket, waiter->count);
	STORE_RLX(&waiter->record->since, now); /* the admission, in place of the arrival */
	skip_orphans(sem);                      /* as in keep_unless_removed() */
	return 0;
}

int
queue_enter(struct queue_place *place)
{
	int rc = queue_join(place);
	return rc < 0 ? rc : queue_wait(place);
}

int
queue_try_enter(struct queue_place *place)
{
	int rc = queue_claim(place);
	if (rc < 0)
		return rc;
	rc = queue_take_ticket(place, ARRIVE_IF_ENABLED);
	return rc < 0 ? fail_if_removed(place->sem, rc) : keep_unless_removed(place);
}

bool
queue_become(struct queue_place *place, uint64_t flips, enum state_kind kind, uint64_t value, uint64_t *state)
{
	struct record *record = place->claim.record;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t seen = LOAD_ACQ(&record->state);
		if (state_is_skipped(seen))
			break;
		*state = state_next(seen ^ flips, kind, value);
		if (CAS_SEQ(&record->state, seen, *state))
			return true;
	}
	queue_leave(place);
	return false;
}

/* ---- cancelling ---- */

int
tsem_cancel(tsem *sem)
{
	struct header *header = sem->segment.header;
	if (!sem->segment.writable)
		return -EPERM;
	if (removal_notice(sem))
		return -EIDRM;
	ADD_SEQ(&header->cancels, 1);
	wake_all(sem);
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <errno.h>

#include "platform.h"
#include "protocol.h"
#include "recover.h"
#include "record_wait.h"

const struct tsem_wait *
queue_options(const struct tsem_wait *wait)
{
	static const struct tsem_wait for_ever = {.size = sizeof(for_ever)};
	return wait == NULL ? &for_ever : wait;
}

bool
queue_is_deadline(const struct timespec *deadline)
{
	return deadline == NULL || (deadline->tv_nsec >= 0 && deadline->tv_nsec < (long)NS_PER_SECOND);
}

int
queue_check(const struct tsem *sem, uint32_t count, const struct tsem_wait *options)
{
	if (options != NULL && (options->size != sizeof(*options) || (options->flags & ~TSEM_INTERRUPTIBLE) != 0))
		return -EINVAL;
	if (options != NULL && !queue_is_deadline(options->deadline))
		return -EINVAL;
	if (!sem->segment.writable)
		return -EPERM;

	/*
	 * The creator's number counts beside the capacity, so that a drained semaphore is waited for and not an error. Made
	 * without permits and without a maximum, a semaphore has whatever is posted.
	 */
	const uint32_t capacity = LOAD_RLX(&sem->segment.header->capacity);
	const bool unlimited = sem->permits == 0 && sem->max == 0;
	if (count == 0 || (!unlimited && count > capacity && count > sem->permits && count > sem->max))
		return -EINVAL;
	return removal_notice_mark(sem) ? -EIDRM : 0;
}

uint64_t
queue_deadline(const struct timespec *deadline)
{
	if (deadline == NULL)
		return NS_FOREVER;
	if (deadline->tv_sec < 0)
		return 0;
	if ((uint64_t)deadline->tv_sec >= NS_FOREVER / NS_PER_SECOND / 2) /* about 292 years */
		return NS_FOREVER;
	return (uint64_t)deadline->tv_sec * NS_PER_SECOND + (uint64_t)deadline->tv_nsec;
}

/* What a record says of the end of a wait: 0 for none. */
static uint64_t
noted_end(uint64_t until)
{
	return until == NS_FOREVER ? 0 : until;
}

int
queue_claim_at_once(struct tsem *sem, uint32_t count, enum use use, uint64_t until, struct claim *claim)
{
	int rc = record_claim(sem, count, use, noted_end(until), claim);
	if (rc == -EUSERS && recover_before_failing(sem))
		rc = record_claim(sem, count, use, noted_end(until), claim);
	return rc;
}

/* Waits for a free record, if need be. */
static int
claim_until(struct tsem *sem, enum use use, const struct waiter *waiter, struct claim *claim)
{
	struct header *header = sem->segment.header;
	const uint64_t end = noted_end(waiter->until);
	const bool gives_way = record_is_wanted(header) && !cache_is_ready(cache_entry(sem));
	int rc = gives_way ? record_wait_yield(sem, waiter) : 0;
	if (rc == 0)
		rc = record_claim(sem, waiter->count, use, end, claim);
	if (rc == 0 && gives_way)
		record_wake(header, 1); /* there may be more, or none waits any more */
	if (rc != -EUSERS)
		return rc;

	struct pace pace = wait_pace(waiter->options);
	do {
		rc = record_wait(sem, waiter, &pace);
		if (rc == 0)
			rc = record_claim_free(sem, waiter->count, use, end, claim);
	} while (rc == -EUSERS);
	return rc == -ETIMEDOUT ? queue_claim_at_once(sem, waiter->count, use, waiter->until, claim) : rc;
}

/* Not enabled, or not wanted any more: skipped at once if it is in front, and otherwise when the line reaches it. */
static void
abandon(struct tsem *sem, const struct queue_place *place)
{
	const struct claim *claim = &place->claim;
	STORE_SEQ(&claim->record->owner, owner_orphan(place->waiter.ticket));
	PROBE(abandon, sem, place->waiter.ticket, place->waiter.count);
	note_orphan(sem, place->waiter.ticket);
	stir_grants(sem);
	recover_record(sem, claim->index, NULL);
	skip_orphans(sem);
}

/* Leaves the line, unless the ticket has been enabled after all. */
static int
give_up(struct tsem *sem, const struct queue_place *place, int why)
{
	if (why == -ETIMEDOUT)
		recover_all(sem, NULL);
	if (why != -EIDRM && wait_is_over(sem, &place->waiter)) {
		if (!removal_notice_mark(sem))
			return 0;
		why = -EIDRM;
	}

	ADD_RLX(&sem->segment.header->statistics.timeouts, 1);
	abandon(sem, place);
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

void
queue_leave(struct tsem *sem, struct queue_place *place)
{
	queue_mark_queued(place);
	abandon(sem, place);
}

/* The tag under which a CLAIMED record takes its ticket. */
static uint64_t
arrival_tag(const struct claim *claim)
{
	return tag_make(claim->index, state_arrival_phase(LOAD_RLX(&claim->record->state)));
}

int
queue_take_ticket(struct tsem *sem, struct queue_place *place)
{
	const struct claim *claim = &place->claim;
	int rc = arrive(sem, arrival_tag(claim), place->waiter.count, ARRIVE_IN_LINE, &place->waiter.ticket);
	if (rc < 0)
		record_unclaim(sem, claim);
	return rc;
}

static struct waiter
begin_wait(const struct tsem *sem, uint32_t count, const struct tsem_wait *options)
{
	return (struct waiter){
		.count = count,
		.options = options,
		.until = queue_deadline(options->deadline),
		.cancels = LOAD_ACQ(&sem->segment.header->cancels),
	};
}

/* The way from the start of a wait to its ticket, by one of the two ways to claim a record. */
static int
join(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options, bool may_wait_for_record,
     struct queue_place *place)
{
	struct waiter *waiter = &place->waiter;
	*waiter = begin_wait(sem, count, options);
	int rc = may_wait_for_record ? claim_until(sem, use, waiter, &place->claim)
	                             : queue_claim_at_once(sem, count, use, waiter->until, &place->claim);
	if (rc < 0)
		return rc;

	waiter->record = place->claim.record;
	return queue_take_ticket(sem, place);
}

int
queue_join(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options, struct queue_place *place)
{
	return join(sem, count, use, options, true, place);
}

int
queue_join_at_once(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options,
                   struct queue_place *place)
{
	return join(sem, count, use, options, false, place);
}

/* The place is enabled: 0, or it is given up with -EIDRM. */
static int
keep_unless_removed(struct tsem *sem, struct queue_place *place)
{
	int rc = fail_if_removed(sem, 0);
	if (rc < 0)
		queue_leave(sem, place);
	skip_orphans(sem);
	return rc;
}

int
queue_wait(struct tsem *sem, struct queue_place *place)
{
	const struct waiter *waiter = &place->waiter;
	if (is_enabled(sem, waiter->ticket, waiter->count) || wait_spinning(sem, waiter))
		return keep_unless_removed(sem, place);

	queue_mark_queued(place);
	PROBE(wait, sem, waiter->ticket, waiter->count);
	uint64_t now;
	int rc = fail_if_removed(sem, wait_sleeping(sem, waiter, &now));
	if (rc < 0)
		rc = give_up(sem, place, rc);
	if (rc < 0)
		return rc;
	PROBE(admit, sem, waiter->ticket, waiter->count);
	STORE_RLX(&waiter->record->since, now); /* held since now, and no longer waiting since then */
	skip_orphans(sem);                      /* that are next now: a post leaves them there */
	return 0;
}

int
queue_enter(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options, struct queue_place *place)
{
	int rc = queue_join(sem, count, use, options, place);
	return rc < 0 ? rc : queue_wait(sem, place);
}

int
queue_try_enter(struct tsem *sem, uint32_t count, enum use use, struct queue_place *place)
{
	struct claim *claim = &place->claim;
	int rc = queue_claim_at_once(sem, count, use, NS_FOREVER, claim);
	if (rc < 0)
		return rc;

	const uint64_t tag = arrival_tag(claim);
	rc = arrive(sem, tag, count, ARRIVE_IF_ENABLED, &place->waiter.ticket);
	if (rc == -EAGAIN && recover_before_failing(sem))
		rc = arrive(sem, tag, count, ARRIVE_IF_ENABLED, &place->waiter.ticket);
	if (rc == 0)
		return keep_unless_removed(sem, place);
	record_unclaim(sem, claim);
	return fail_if_removed(sem, rc);
}

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
	record_wake_all(header);
	return 0;
}

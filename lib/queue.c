/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <errno.h>

#include "platform.h"
#include "protocol.h"
#include "recover.h"
#include "wait.h"

int
queue_check(const struct tsem *sem, uint32_t count, const struct tsem_wait *options)
{
	if (options != NULL && (options->size != sizeof(*options) || (options->flags & ~TSEM_INTERRUPTIBLE) != 0))
		return -EINVAL;
	if (options != NULL && options->deadline != NULL
	    && (options->deadline->tv_nsec < 0 || options->deadline->tv_nsec >= (long)NS_PER_SECOND))
		return -EINVAL;
	if (!sem->segment.writable)
		return -EPERM;

	/* The creator's number counts beside the capacity, so that a drained semaphore is waited for and not an error. */
	const uint32_t capacity = LOAD_RLX(&sem->segment.header->capacity);
	if (count == 0 || (count > capacity && count > sem->permits && count > sem->max))
		return -EINVAL;
	return LOAD_RLX(&sem->segment.header->removed) != 0 ? -EIDRM : 0;
}

static uint64_t
deadline_ns(const struct timespec *deadline)
{
	if (deadline == NULL)
		return NS_FOREVER;
	if (deadline->tv_sec < 0)
		return 0;
	if ((uint64_t)deadline->tv_sec >= NS_FOREVER / NS_PER_SECOND / 2) /* about 292 years */
		return NS_FOREVER;
	return (uint64_t)deadline->tv_sec * NS_PER_SECOND + (uint64_t)deadline->tv_nsec;
}

/* Waits for a free record, if need be. */
static int
claim_until(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options, uint64_t until,
            struct claim *claim)
{
	const uint32_t cancels = LOAD_ACQ(&sem->segment.header->cancels);
	for (;;) {
		int rc = record_claim(sem, count, use, until == NS_FOREVER ? 0 : until, claim);
		if (rc != -EUSERS)
			return rc;
		recover_if_due(sem, platform.now());
		if (options->progress != NULL && options->progress(options->arg, 0) != 0)
			return -ECANCELED;
		rc = record_wait_for_vacancy(sem, until);
		if (rc == -ETIMEDOUT)
			return -EUSERS;
		if (rc == -EINTR && (options->flags & TSEM_INTERRUPTIBLE) != 0)
			return rc;
		if (is_removed(sem))
			return -EIDRM;
		if (LOAD_ACQ(&sem->segment.header->cancels) != cancels)
			return -ECANCELED;
	}
}

/*
 * Leaves the line, unless the ticket has been enabled after all: the place becomes an orphan's, which is passed over at
 * once if it is in front and otherwise when the line reaches it.
 */
static int
give_up(struct tsem *sem, const struct waiter *waiter, const struct claim *claim, int why)
{
	if (why == -ETIMEDOUT) {
		uint32_t permits = 0;
		recover_all(sem, &permits);
	}
	if (why != -EIDRM && wait_is_over(sem, waiter))
		return 0;

	ADD_RLX(&sem->segment.header->statistics.timeouts, 1);
	STORE_SEQ(&claim->record->who, who_orphan(waiter->ticket));
	note_orphan(sem, waiter->ticket);
	uint32_t permits = 0;
	recover_record(sem, claim->index, &permits);
	skip_orphans(sem);
	return why;
}

/* CLAIMED -> QUEUED, by us or by whoever came next. */
static void
line_up(const struct claim *claim, uint64_t ticket)
{
	const uint64_t what = LOAD_ACQ(&claim->record->what);
	if (what_state(what) == STATE_CLAIMED)
		CAS_SEQ(&claim->record->what, what, what_next(what, STATE_QUEUED, ticket));
}

int
queue_enter(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options,
            struct place_in_line *place)
{
	struct claim *claim = &place->claim;
	const uint64_t until = deadline_ns(options->deadline);
	struct waiter waiter = {
		.count = count,
		.options = options,
		.until = until,
		.cancels = LOAD_ACQ(&sem->segment.header->cancels),
	};
	int rc = claim_until(sem, count, use, options, until, claim);
	if (rc < 0)
		return rc;

	const uint64_t tag = tag_make(claim->index, what_a(LOAD_RLX(&claim->record->what)));
	rc = arrive(sem, tag, count, ARRIVE_IN_LINE, &place->ticket);
	if (rc < 0) {
		record_unclaim(sem, claim);
		return rc;
	}
	waiter.record = claim->record;
	waiter.ticket = place->ticket;
	if (is_enabled(sem, place->ticket, count) || wait_spinning(sem, &waiter))
		return 0;

	line_up(claim, place->ticket);
	rc = wait_sleeping(sem, &waiter);
	if (rc < 0)
		rc = give_up(sem, &waiter, claim, rc);
	if (rc == 0)
		STORE_RLX(&claim->record->since, coarse_now()); /* held since now, and no longer waiting since then */
	return rc;
}

int
queue_try_enter(struct tsem *sem, uint32_t count, enum use use, struct place_in_line *place)
{
	struct claim *claim = &place->claim;
	int rc = record_claim(sem, count, use, 0, claim);
	if (rc == -EUSERS && recover_before_failing(sem))
		rc = record_claim(sem, count, use, 0, claim);
	if (rc < 0)
		return rc;

	const uint64_t tag = tag_make(claim->index, what_a(LOAD_RLX(&claim->record->what)));
	rc = arrive(sem, tag, count, ARRIVE_IF_ENABLED, &place->ticket);
	if (rc == -EAGAIN && recover_before_failing(sem))
		rc = arrive(sem, tag, count, ARRIVE_IF_ENABLED, &place->ticket);
	if (rc < 0)
		record_unclaim(sem, claim);
	return rc == -EAGAIN && is_removed(sem) ? -EIDRM : rc;
}

/* SPDX-License-Identifier: MIT */
/* Taking without an owner: no process is recorded as having the permit. */
#include <errno.h>

#include "protocol.h"
#include "queue.h"
#include "recover.h"
#include "wait.h"

/* QUEUED, or HELD by the hand of somebody who lowered the capacity, -> IDLE: taken, and nobody's from here on. */
static void
forget_owner(struct tsem *sem, const struct claim *claim)
{
	/* A plain store: whatever a helper may have made of the record meanwhile, this follows it. Only `a` was used. */
	const uint64_t state = LOAD_RLX(&claim->record->state);
	const uint32_t gen = LOAD_RLX(&claim->record->gen);
	STORE_REL(&claim->record->state, state_next(state ^ STATE_ARRIVAL_PHASE, STATE_IDLE, gen + 1));
	record_cache_or_free(sem, claim);
}

/* Without contention: one look and one CAS. False: the long way. */
static inline __attribute__((always_inline)) bool
fast_take(struct tsem *sem, uint32_t count)
{
	struct header *header = sem->segment.header;
	const uint64_t tickets = LOAD_SEQ(&header->tickets);
	const uint64_t next = counter_word_advance(tickets, count, TAG_NONE);
	if (!sem->segment.writable || !may_arrive_at_once(header, tickets, next, count)
	    || !CAS_SEQ(&header->tickets, tickets, next))
		return false;
	PROBE_FAST(take, sem);
	return true;
}

/* What the line has left over for a newcomer: 0, or -EAGAIN. */
static int
take_enabled(struct tsem *sem, uint32_t count)
{
	uint64_t ticket;
	return arrive(sem, TAG_NONE, count, ARRIVE_IF_ENABLED, &ticket);
}

static __attribute__((noinline)) int
take_in_line(struct tsem *sem, uint32_t count, const struct tsem_wait *options)
{
	struct queue_place place;
	int rc = queue_check(sem, count, options);
	if (rc == 0) {
		wait_backoff(sem);
		rc = take_enabled(sem, count);
	}
	if (rc != -EAGAIN)
		return fail_if_removed(sem, rc);
	rc = queue_enter(sem, count, USE_TAKE, options, &place);
	if (rc == 0)
		forget_owner(sem, &place.claim);
	return rc;
}

static __attribute__((noinline)) int
take_until(struct tsem *sem, uint32_t count, const struct timespec *deadline)
{
	const struct tsem_wait options = {.size = sizeof(options), .deadline = deadline};
	return take_in_line(sem, count, &options);
}

static __attribute__((noinline)) int
take_or_fail(struct tsem *sem, uint32_t count)
{
	int rc = queue_check(sem, count, NULL);
	if (rc == 0)
		rc = take_enabled(sem, count);
	if (rc == -EAGAIN && recover_before_failing(sem))
		rc = take_enabled(sem, count);
	return fail_if_removed(sem, rc);
}

int
tsem_take_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait)
{
	return take_in_line(sem, count, queue_options(wait));
}

int
tsem_take(tsem *sem, uint32_t count, const struct timespec *deadline)
{
	return fast_take(sem, count) ? 0 : take_until(sem, count, deadline);
}

int
tsem_try_take(tsem *sem, uint32_t count)
{
	return fast_take(sem, count) ? 0 : take_or_fail(sem, count);
}

/* ---- both at once ---- */

/* The place in line comes first: nobody whom the post lets in can get in front of us. */
int
tsem_post_and_take_wait(tsem *post_to, tsem *take_from, const struct tsem_wait *wait)
{
	const struct tsem_wait *options = queue_options(wait);
	struct queue_place place;
	int rc = queue_check(take_from, 1, options);
	if (rc == 0)
		rc = queue_join(take_from, 1, USE_TAKE, options, &place);
	if (rc < 0)
		return rc;
	rc = tsem_post(post_to, 1, NULL);
	if (rc < 0) {
		queue_leave(take_from, &place);
		return rc;
	}
	rc = queue_wait(take_from, &place);
	if (rc == 0)
		forget_owner(take_from, &place.claim);
	return rc;
}

int
tsem_post_and_take(tsem *post_to, tsem *take_from)
{
	return tsem_post_and_take_wait(post_to, take_from, NULL);
}

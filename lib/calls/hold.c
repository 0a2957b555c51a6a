/* SPDX-License-Identifier: MIT */
/* Acquire and release: permits that are recorded for a process, and that come back by themselves when it dies. */
#include "calls/hold.h"

#include <errno.h>

#include "calls/release_other.h"
#include "protocol/fast.h"
#include "protocol/protocol.h"
#include "recovery/recover_front.h"
#include "system/identity.h"

/* ---- acquire ---- */

/*
 * After a recovery, mostly only one holder is told of it. Relaxed: recovery sets the flag before it moves G. The
 * caller that got these permits has read that G, or the HELD of a setter that has read it.
 */
static inline bool
consume_abandonment(struct tsem *sem)
{
	_Atomic uint32_t *abandoned = &sem->segment.header->abandoned;
	return LOAD_RLX(abandoned) != 0 && atomic_exchange(abandoned, 0) != 0;
}

int
hold_become(struct queue_place *place, tsem_hold *out)
{
	uint64_t held;
	if (!queue_become(place, 0, STATE_HELD, place->waiter.ticket, &held))
		return -ECANCELED;
	*hold_inside(out) = (struct hold){
		.sem = (uint64_t)(uintptr_t)place->sem,
		.record = place->claim.index,
		.flags = consume_abandonment(place->sem) ? HOLD_RECOVERED : 0,
		.state = held,
	};
	return 0;
}

/* The slow paths are not inline, so that the fast path saves no registers for them. */
static __attribute__((noinline)) int
acquire_slow(struct tsem *sem, uint32_t count, const struct tsem_wait *options, tsem_hold *hold)
{
	struct queue_place place = queue_request(sem, count, USE_HOLD, options);
	int rc = queue_check(&place);
	if (rc == 0) {
		wait_backoff(sem);
		rc = queue_enter(&place);
	}
	return rc < 0 ? rc : hold_become(&place, hold);
}

static __attribute__((noinline)) int
acquire_until(struct tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold)
{
	const struct tsem_wait options = {.size = sizeof(options), .deadline = deadline};
	return acquire_slow(sem, count, &options, hold);
}

static __attribute__((noinline)) int
try_acquire_slow(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct queue_place place = queue_request(sem, count, USE_HOLD, NULL);
	int rc = queue_check(&place);
	if (rc == 0)
		rc = queue_try_enter(&place);
	return rc < 0 ? rc : hold_become(&place, hold);
}

int
tsem_acquire_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait, tsem_hold *hold)
{
	struct tsem_wait options;
	int rc = queue_options(wait, &options);
	if (rc < 0)
		return rc;
	if ((options.flags & TSEM_ALL) != 0 && count == 0) {
		count = LOAD_RLX(&sem->segment.header->capacity);
		options.flags &= ~TSEM_ALL;
	}
	return acquire_slow(sem, count, &options, hold);
}

int
tsem_acquire(tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold)
{
	struct cached *entry = fast_acquire(sem, count, hold);
	return entry != NULL ? fast_acquired(entry) : acquire_until(sem, count, deadline, hold);
}

int
tsem_try_acquire(tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct cached *entry = fast_acquire(sem, count, hold);
	return entry != NULL ? fast_acquired(entry) : try_acquire_slow(sem, count, hold);
}

/* ---- release ---- */

/* Goes on with a release whose record is RELEASING. */
static __attribute__((noinline)) int
release_slow(struct tsem *sem, uint32_t index, uint64_t releasing)
{
	const struct claim claim = {
		.index = index, .record = &sem->segment.records[index], .owner = LOAD_RLX(&sem->segment.records[index].owner)};
	struct grant grant;
	const enum move move = move_grants(sem, index, claim.record, releasing, &grant);
	/* It stays RELEASING: another process may be about to move G for it. If none is, a later look moves G. */
	if (move == MOVE_STUCK && LOAD_ACQ(&claim.record->state) == releasing)
		return -EBADMSG;
	/* A plain store: another process could only have written the same. */
	if (move == MOVE_DONE)
		STORE_REL(&claim.record->state, state_released(claim.record, releasing));
	record_cache_or_free(sem, &claim);
	grant_notify(sem, &grant);
	return 0;
}

/* Releases a hold that is not void, if this process owns it or has lent it. */
static __attribute__((noinline)) int
release_any(struct hold *hold)
{
	if (hold_is_lent(hold))
		return release_loan(hold);
	struct record *record = hold_record(hold);
	uint64_t state = LOAD_ACQ(&record->state);
	if (!identity_is(LOAD_RLX(&record->owner)) || state_value(state) != hold_ticket(hold)
	    || state_kind(state) < STATE_HELD)
		return -EPERM;
	/*
	 * A plain store: only two other processes change this process's own HELD record: a child that adopts the hold,
	 * which this one must not use then (tsem_adopt()), and one that declares this one dead (recover_forced()).
	 */
	if (state_kind(state) == STATE_HELD) {
		state = state_next(state, STATE_RELEASING, state_value(state));
		STORE_REL(&record->state, state);
	}
	return release_slow(hold_sem(hold), hold->record, state);
}

int
tsem_release(tsem_hold *out)
{
	struct hold *hold = hold_inside(out);
	if (hold->sem == 0)
		return -EPERM;
	struct cached *entry = fast_release_entry(hold);
	if (entry == NULL)
		return release_any(hold);
	const uint64_t held = hold->state;
	uint64_t grants;
	const enum fast_release done = fast_release(entry, held, &grants);
	const uint32_t count = done == FAST_NOTIFY ? LOAD_RLX(&entry->record->count) : 0;
	cache_end(entry);
	switch (done) {
	case FAST_NOT_MOVED:
		return release_slow(hold_sem(hold), hold->record, state_releasing(held));
	case FAST_NOTIFY:
		return grant_notify_moved(hold_sem(hold), grants, count);
	case FAST_DONE:
		break;
	}
	return 0;
}

void
hold_return(tsem_hold *hold)
{
	if (tsem_hold_recovered(hold))
		STORE_SEQ(&hold_sem(hold_inside(hold))->segment.header->abandoned, 1);
	tsem_release(hold);
}

bool
tsem_hold_recovered(const tsem_hold *hold)
{
	return (hold_inside_const(hold)->flags & HOLD_RECOVERED) != 0;
}

/* SPDX-License-Identifier: MIT */
/* Acquire and release: permits that are recorded for a process, and that come back by themselves when it dies. */
#include "hold.h"

#include <errno.h>

#include "fast.h"
#include "grant.h"
#include "identity.h"
#include "protocol.h"
#include "recover_record.h"
#include "release_other.h"

/* ---- acquire ---- */

/*
 * The first holder after a recovery is told of it; this takes the notice away from the others. Relaxed: recovery sets
 * the flag before it moves G, and the caller has read G after that.
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
	struct record *record = place->claim.record;
	const uint64_t state = LOAD_RLX(&record->state);
	if (state_is_lost(state)) {
		queue_leave(place);
		return -ECANCELED;
	}
	/*
	 * A plain store is enough. Since the load, another process may have written QUEUED, cancelled or not, or this same
	 * HELD, and HELD may overwrite them. Or a process has declared this one dead since the load: declare.h says why the
	 * store is right then, too.
	 */
	const uint64_t held = state_next(state, STATE_HELD, place->waiter.ticket);
	STORE_REL(&record->state, held);
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
	if (rc == 0)
		wait_backoff(sem);
	if (rc == 0)
		rc = queue_enter(&place);
	return rc < 0 ? rc : hold_become(&place, hold);
}

static __attribute__((noinline)) int
acquire_until(struct tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold)
{
	const struct tsem_wait options = {.size = sizeof(options), .deadline = deadline};
	return acquire_slow(sem, count, &options, hold);
}

int
hold_try_unchecked(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct queue_place place = queue_request(sem, count, USE_HOLD, NULL);
	int rc = queue_try_enter(&place);
	return rc < 0 ? rc : hold_become(&place, hold);
}

static __attribute__((noinline)) int
try_acquire_slow(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	const struct queue_place place = queue_request(sem, count, USE_HOLD, NULL);
	int rc = queue_check(&place);
	return rc < 0 ? rc : hold_try_unchecked(sem, count, hold);
}

int
tsem_acquire_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait, tsem_hold *hold)
{
	struct tsem_wait options;
	int rc = queue_options(wait, &options);
	return rc < 0 ? rc : acquire_slow(sem, count, &options, hold);
}

int
tsem_acquire(tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold)
{
	struct cached *entry = fast_acquire(sem, count, hold);
	return entry != NULL ? fast_write_since(entry) : acquire_until(sem, count, deadline, hold);
}

int
tsem_try_acquire(tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct cached *entry = fast_acquire(sem, count, hold);
	return entry != NULL ? fast_write_since(entry) : try_acquire_slow(sem, count, hold);
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
	/* By compare-and-swap: if this process was declared dead, another one may have released meanwhile. */
	if (move == MOVE_STUCK
	    && CAS_SEQ(&claim.record->state, releasing, state_next(releasing, STATE_HELD, state_value(releasing))))
		return -EBADMSG;
	/* A plain store: another process could only have written the same, also if it has declared this hold dead. */
	if (move == MOVE_DONE)
		STORE_REL(&claim.record->state, state_released(claim.record, releasing));
	record_cache_or_free(sem, &claim);
	grant_notify(sem, &grant);
	return 0;
}

/* Ends a fast release that other processes take part in. `grants`: G before its move. */
static __attribute__((noinline)) int
release_notify(const struct cached *entry, uint64_t grants)
{
	struct tsem *sem = hold_sem(&entry->hold);
	const uint32_t count = LOAD_RLX(&entry->record->count);
	return grant_notify_moved(sem, grants, count);
}

/*
 * The hold is over. If a user declared this process dead, this call finishes the release and frees the record. Other
 * processes must not free it, because a late store of the owner could hit its next use (declare.h). The owner may: it
 * stores nothing more. Before that, the call clears the note in `until`, which says that G has moved. So if two threads
 * release the same hold, only one of them frees the record.
 */
static void
free_declared(const struct hold *hold, uint64_t owner)
{
	struct tsem *sem = hold_sem(hold);
	struct record *record = hold_record(hold);
	const uint64_t ticket = hold_ticket(hold);
	recover_declared(sem, hold->record, owner, ticket, NULL);
	if (state_kind(LOAD_ACQ(&record->state)) == STATE_IDLE && CAS_SEQ(&record->until, until_returned(ticket), 0))
		record_free_for(sem, hold->record, record, owner);
}

/* Releases a hold that is not void, if this process owns it or has lent it. */
static __attribute__((noinline)) int
release_any(struct hold *hold)
{
	if (hold_is_lent(hold))
		return release_loan(hold);
	struct record *record = hold_record(hold);
	uint64_t state;
	const uint64_t owner = LOAD_RLX(&record->owner);
	if (!identity_is(owner))
		return -EPERM;
	if (!record_is_held(record, hold_ticket(hold), &state)) {
		free_declared(hold, owner);
		return -EPERM;
	}
	/*
	 * A plain store: while the owner lives, only a child that adopts the hold changes its state (see tsem_adopt()), or
	 * a process that declares this one dead (see declare.h).
	 */
	const uint64_t releasing = state_next(state, STATE_RELEASING, state_value(state));
	STORE_REL(&record->state, releasing);
	return release_slow(hold_sem(hold), hold->record, releasing);
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
	switch (fast_release(entry, held, &grants)) {
	case FAST_NOT_MOVED:
		return release_slow(hold_sem(&entry->hold), entry->hold.record, state_releasing(held));
	case FAST_NOTIFY:
		return release_notify(entry, grants);
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

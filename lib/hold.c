/* SPDX-License-Identifier: MIT */
/* The owned pair: a hold is recorded for a process, and comes back by itself if that process dies. */
#include <errno.h>

#include "hold.h"
#include "identity.h"
#include "platform.h"
#include "protocol.h"
#include "queue.h"
#include "recover.h"
#include "wait.h"

struct hold *
hold_inside(tsem_hold *hold)
{
	return (struct hold *)(void *)hold;
}

/* ---- acquire ---- */

/*
 * The first holder after a recovery is told of it. Relaxed: recoverers say it before they move G, and whoever is admitted
 * has read G behind that.
 */
static inline bool
is_told_of_abandonment(struct tsem *sem)
{
	_Atomic uint32_t *abandoned = &sem->segment.header->abandoned;
	return LOAD_RLX(abandoned) != 0 && atomic_exchange(abandoned, 0) != 0;
}

static inline void
fill_hold(struct tsem *sem, uint32_t index, uint64_t who, uint64_t ticket, tsem_hold *out)
{
	*hold_inside(out) = (struct hold){
		.sem = (uint64_t)(uintptr_t)sem,
		.who = who,
		.ticket = ticket,
		.record = index,
		.recovered = is_told_of_abandonment(sem),
	};
}

void
hold_become(struct tsem *sem, const struct place_in_line *place, tsem_hold *out)
{
	/* A plain store: a helper may only have written QUEUED, which this follows, or the same HELD. */
	struct record *record = place->claim.record;
	STORE_RLX(&record->until, 0);
	STORE_REL(&record->what, what_next(LOAD_RLX(&record->what), STATE_HELD, place->waiter.ticket));
	fill_hold(sem, place->claim.index, place->claim.who, place->waiter.ticket, out);
}

/* Behind the rest, so that what comes before needs no stack. */
static __attribute__((noinline)) int
stamp(struct record *record)
{
	STORE_RLX(&record->since, coarse_now());
	return 0;
}

/*
 * Without contention, and with a record from before: a few looks and stores and one CAS. NULL: the long way. What is
 * needed behind the CAS is read again, so that less has to be saved on the stack in front of it: a CAS waits until
 * every store before it has reached the cache.
 */
static inline __attribute__((always_inline)) struct record *
acquire_at_once(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct kept *entry = record_kept_entry(sem);
	const uint64_t who = identity_who_cached();
	if (who == 0 || !record_is_kept(entry, who))
		return NULL;
	struct record *record = &sem->segment.records[LOAD_RLX(&entry->record)];
	record_fill(record, count);
	uint64_t tickets;
	const uint64_t tag = tag_make(LOAD_RLX(&entry->record), what_a(LOAD_RLX(&record->what)));
	if (!arrive_at_once(sem->segment.header, tag, count, &tickets)) {
		record_unfill(record);
		return NULL;
	}
	PROBE_AT_ONCE(take, sem);
	/* A plain store, as in hold_become(). */
	const uint64_t ticket = word_counter(tickets);
	STORE_REL(&record->what, what_next(LOAD_RLX(&record->what), STATE_HELD, ticket));
	fill_hold(sem, LOAD_RLX(&entry->record), LOAD_RLX(&record->who), ticket, hold);
	entry->who = 0;
	return record;
}

static __attribute__((noinline)) int
acquire_in_line(struct tsem *sem, uint32_t count, const struct tsem_wait *options, tsem_hold *hold)
{
	struct place_in_line place;
	int rc = queue_check(sem, count, options);
	if (rc == 0)
		wait_out_of_courtesy(sem);
	if (rc == 0)
		rc = queue_enter(sem, count, USE_HOLD, options, &place);
	if (rc == 0)
		hold_become(sem, &place, hold);
	return rc;
}

static __attribute__((noinline)) int
acquire_until(struct tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold)
{
	const struct tsem_wait options = {.size = sizeof(options), .deadline = deadline};
	return acquire_in_line(sem, count, &options, hold);
}

int
hold_try_any(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct place_in_line place;
	int rc = queue_try_enter(sem, count, USE_HOLD, &place);
	if (rc == 0)
		hold_become(sem, &place, hold);
	return rc;
}

static __attribute__((noinline)) int
acquire_or_fail(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	int rc = queue_check(sem, count, NULL);
	return rc < 0 ? rc : hold_try_any(sem, count, hold);
}

int
tsem_acquire_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait, tsem_hold *hold)
{
	return acquire_in_line(sem, count, queue_options(wait), hold);
}

int
tsem_acquire(tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold)
{
	struct record *record = acquire_at_once(sem, count, hold);
	return record != NULL ? stamp(record) : acquire_until(sem, count, deadline, hold);
}

int
tsem_try_acquire(tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct record *record = acquire_at_once(sem, count, hold);
	return record != NULL ? stamp(record) : acquire_or_fail(sem, count, hold);
}

/* ---- release ---- */

/* The state of a hold that is still what it was: HELD under its ticket. */
bool
hold_is_held(const struct record *record, uint64_t ticket, uint64_t *what)
{
	*what = LOAD_ACQ(&record->what);
	return what_state(*what) == STATE_HELD && what_value(*what) == ticket;
}

/* From RELEASING on, when the one look was not enough. */
static __attribute__((noinline)) int
release_the_long_way(struct tsem *sem, uint32_t index, uint64_t releasing)
{
	const struct claim claim = {.index = index, .record = &sem->segment.records[index], .who = identity_who()};
	struct grant grant;
	const enum move move = move_grant(sem, index, claim.record, releasing, &grant);
	if (move == MOVE_STUCK) {
		STORE_REL(&claim.record->what, what_next(releasing, STATE_HELD, what_value(releasing)));
		return -EBADMSG;
	}
	/* A plain store: a helper could only have written the same. */
	if (move == MOVE_DONE)
		STORE_REL(&claim.record->what, what_released(claim.record, releasing));
	record_keep_or_free(sem, &claim);
	after_grant(sem, &grant);
	return 0;
}

/* The end of a release whose record has to be freed, or in which others take part. */
static __attribute__((noinline)) int
after_release(struct tsem *sem, uint32_t index, uint64_t grants)
{
	const struct claim claim = {.index = index, .record = &sem->segment.records[index], .who = identity_who()};
	const uint32_t count = LOAD_RLX(&claim.record->count);
	record_keep_or_free(sem, &claim);
	return after_move(sem, grants, count);
}

/* `hold` is `who`'s, who is the calling process. */
static inline __attribute__((always_inline)) int
release_own(const struct hold *hold, uint64_t who)
{
	struct tsem *sem = hold_sem(hold);
	struct header *header = sem->segment.header;
	const uint32_t index = (uint32_t)hold->record;
	struct record *record = &sem->segment.records[index];
	uint64_t what;
	if (LOAD_RLX(&record->who) != who || !hold_is_held(record, hold->ticket, &what))
		return -EPERM;

	/* A plain store: a live owner's own hold is nobody else's to change. */
	const uint64_t releasing = what_next(what, STATE_RELEASING, what_value(what));
	STORE_REL(&record->what, releasing);
	const uint64_t tickets = LOAD_RLX(&header->tickets);
	const uint32_t capacity = LOAD_RLX(&header->capacity);
	const uint32_t count = LOAD_RLX(&record->count);
	uint64_t grants;
	if (!move_grant_at_once(header, tag_make(index, what_b(releasing)), count, tickets, capacity, &grants))
		return release_the_long_way(sem, index, releasing);
	PROBE_AT_ONCE(post, sem);
	STORE_REL(&record->what, what_released(record, releasing));

	struct kept *entry = record_kept_entry(sem);
	if (entry == NULL || entry->who != 0 || !is_nobody_concerned(sem, tickets, capacity))
		return after_release(sem, index, grants);
	STORE_RLX(&entry->record, index);
	entry->who = LOAD_RLX(&record->who);
	return 0;
}

/* It may be void, or another process's, or this one does not know itself yet. */
static __attribute__((noinline)) int
release_or_fail(const struct hold *hold)
{
	const uint64_t who = hold->who;
	return who == 0 || who != identity_who() ? -EPERM : release_own(hold, who);
}

int
tsem_release(tsem_hold *out)
{
	const struct hold *hold = hold_inside(out);
	const uint64_t who = hold->who;
	return who != 0 && who == identity_who_cached() ? release_own(hold, who) : release_or_fail(hold);
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
	return ((const struct hold *)(const void *)hold)->recovered != 0;
}

/* SPDX-License-Identifier: MIT */
#include "recover.h"

#include <errno.h>

#include "identity.h"
#include "idle.h"
#include "platform.h"
#include "record.h"
#include "record_wait.h"
#include "wait.h"

#define TRY_LOOK_EVERY (10 * NS_PER_MS)

/* ---- is the owner dead? ---- */

static uint64_t
recorded_start(const struct record *record, uint64_t owner)
{
	return owner_kind(owner) == OWNER_KIND_HANDED ? LOAD_ACQ(&record->start) : owner_start(owner);
}

enum liveness
owner_liveness(const struct tsem *sem, const struct record *record, uint64_t owner)
{
	const struct header *header = sem->segment.header;
	if (owner_kind(owner) == OWNER_KIND_ORPHAN)
		return LIVENESS_DEAD;
	if (owner == identity_owner())
		return LIVENESS_ALIVE;

	struct process_id process = {.pid = owner_pid(owner), .start = recorded_start(record, owner)};
	if (LOAD_SEQ(&header->mixed_pid_ns) == 0) {
		process.pid_ns = LOAD_ACQ(&header->pid_ns);
	} else {
		/* Just claimed, the record may still carry its last owner's namespace, and then nothing can be told. */
		const bool idle = state_kind(LOAD_ACQ(&record->state)) == STATE_IDLE;
		if (idle && owner_kind(owner) == OWNER_KIND_PROCESS && LOAD_ACQ(&record->start) != owner)
			return LIVENESS_UNKNOWN;
		process.pid_ns = LOAD_ACQ(&record->pid_ns);
	}
	return (enum liveness)platform.judge(&process);
}

/* ---- one record ---- */

/* CLAIMED, and the owner is dead: it had its ticket if T says so, and otherwise never will. */
static void
recover_claimed(struct tsem *sem, uint32_t index, struct record *record, uint64_t state)
{
	const uint64_t tickets = LOAD_SEQ(&sem->segment.header->tickets);
	if (is_last_arrival(tickets, index, state))
		finish_arrival(sem, tickets);
	else
		CAS_SEQ(&record->state, state, state_next(state, STATE_IDLE, (uint32_t)state_value(state) + 1));
}

/* A command that ended by itself has abandoned nothing, even if we see that before its `tsem run`, which looks on. */
static bool
is_a_good_end(const struct record *record, uint64_t owner)
{
	return LOAD_ACQ(&record->use) == USE_COMMAND && has_exited((pid_t)owner_pid(owner), recorded_start(record, owner));
}

/* Begins the release for a dead owner. `permits` counts what a holder had, not the places of waiters. */
static void
begin_release(struct tsem *sem, struct record *record, uint64_t owner, uint64_t state, uint32_t count, bool held,
              uint32_t *permits)
{
	/*
	 * A remover has all permits, or stands in line for them, from before unlink() until it has marked the semaphore. If
	 * the remover was killed in between, the mark must be there before these permits move. An orphan is no remover.
	 */
	if (owner_kind(owner) == OWNER_KIND_ORPHAN)
		held = false;
	else
		removal_notice(sem);
	const bool abandoned = held && !is_a_good_end(record, owner);
	/* Before the permits come back, so that whoever is admitted by them sees it. A taker has nothing to leave behind. */
	if (abandoned && LOAD_ACQ(&record->use) != USE_TAKE)
		STORE_SEQ(&sem->segment.header->abandoned, 1);
	if (!CAS_SEQ(&record->state, state, state_next(state, STATE_RELEASING, state_value(state))))
		return;
	if (held && permits != NULL)
		*permits += count;
	if (abandoned) {
		PROBE(recover, sem, state_value(state), count);
		ADD_RLX(&sem->segment.header->statistics.recovered, count);
	}
}

/* One step; false when there is nothing more to do for this owner. */
static bool
recover_step(struct tsem *sem, uint32_t index, struct record *record, uint64_t owner, bool dead, uint32_t *permits)
{
	/* The state must be read after the death is known, and the owner looked at again after that: or we would act on
	 * the next owner's use of the record. */
	const uint64_t state = LOAD_ACQ(&record->state);
	const uint32_t count = LOAD_ACQ(&record->count);
	const uint64_t ticket = state_value(state);
	if (LOAD_SEQ(&record->owner) != owner)
		return false;

	struct grant grant;
	int64_t ahead;
	switch (state_kind(state)) {
	case STATE_IDLE:
		record_free_for(sem, index, record, owner);
		return false;
	case STATE_CLAIMED:
		if (dead)
			recover_claimed(sem, index, record, state);
		return dead;
	case STATE_QUEUED:
		ahead = counter_diff(enabled_limit(sem), ticket);
		if (!dead || ahead < 0)
			return false;
		begin_release(sem, record, owner, state, count, ahead >= (int64_t)count, permits);
		return true;
	case STATE_HELD:
		if (dead)
			begin_release(sem, record, owner, state, count, true, permits);
		return dead;
	case STATE_RELEASING:
		if (!release_for_owner(sem, index, record, state, &grant))
			return false;
		wake_enabled(sem, &grant);
		notify_idle(sem);
		return true;
	default:
		return false;
	}
}

void
recover_record(struct tsem *sem, uint32_t index, uint32_t *permits)
{
	enum { STEPS_MAX = 16 }; /* five take any record from CLAIMED to free; the rest is for losing races */
	struct record *record = record_at(sem, index);
	const uint64_t owner = record == NULL ? 0 : LOAD_ACQ(&record->owner);
	if (owner == 0)
		return;

	/* The release of a handed-over hold may be anybody's, so anybody may have died in it. */
	const bool dead = owner_liveness(sem, record, owner) == LIVENESS_DEAD;
	if (!dead && owner_kind(owner) != OWNER_KIND_HANDED)
		return;
	for (int step = 0; step < STEPS_MAX; step++) {
		if (!recover_step(sem, index, record, owner, dead, permits))
			return;
	}
}

/* ---- the front of the line ---- */

/*
 * A place in line is one number: how far its ticket is from a fixed point, and its record. So places compare as numbers, and
 * take as little of the stack as they can, which may be a signal handler's.
 */
#define PLACE_MIDDLE (UINT64_C(1) << 47)
#define NO_PLACE UINT64_MAX /* behind all others */

enum { PLACES_MAX = 64, PASSES_MAX = 2 * RECORDS_MAX / PLACES_MAX };

static uint64_t
place_make(uint64_t ticket, uint64_t origin, uint32_t index)
{
	return counter_word_make(counter_add(ticket - origin, PLACE_MIDDLE), index);
}

static uint64_t
place_ticket(uint64_t place, uint64_t origin)
{
	return counter_add(counter_value(place), origin + PLACE_MIDDLE);
}

static uint32_t
place_index(uint64_t place)
{
	return (uint32_t)counter_tag(place);
}

/* Puts the place in that of the last one in line, which is the root of the heap. */
static void
replace_last(uint64_t *heap, size_t n, uint64_t place)
{
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= place)
			break;
		heap[at] = heap[child];
	}
	heap[at] = place;
}

/* The first places in line from `from` on, in order, and then NO_PLACE. */
static void
collect_places(struct tsem *sem, uint64_t origin, uint64_t from, uint64_t places[PLACES_MAX])
{
	for (size_t i = 0; i < PLACES_MAX; i++)
		places[i] = NO_PLACE;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		const uint64_t state = LOAD_ACQ(&record->state);
		const uint64_t none = 0 - (uint64_t)(state_kind(state) != STATE_QUEUED); /* NO_PLACE, or no bit of it */
		const uint64_t place = place_make(state_value(state), origin, i) | none;
		/* From `from` on, and before the last. The only branch here, and one that is seldom taken: predicted well. */
		if (place - from < places[0] - from)
			replace_last(places, PLACES_MAX, place);
	}
	for (size_t n = PLACES_MAX - 1; n > 0; n--) {
		const uint64_t earlier = places[n];
		places[n] = places[0];
		replace_last(places, n, earlier);
	}
}

/* Skips the place if its owner is dead. False: a live one stands there, or the line has not come that far. */
static bool
pass_over(struct tsem *sem, uint32_t index, uint64_t ticket, uint32_t *permits)
{
	const struct record *record = &sem->segment.records[index];
	if (counter_diff(enabled_limit(sem), ticket) < 0)
		return false;
	recover_record(sem, index, permits);

	const uint64_t state = LOAD_ACQ(&record->state);
	const bool still_there = state_kind(state) == STATE_QUEUED && state_value(state) == ticket;
	return !still_there || is_enabled(sem, ticket, LOAD_ACQ(&record->count));
}

/*
 * Skips what stands behind the last place without a scan, as long as each next record is as far from its neighbour as that
 * one is. Records are claimed one after the other, so mostly this finds the whole line. What it misses, the next scan finds.
 */
static void
follow(struct tsem *sem, uint32_t last, uint32_t step, uint32_t *permits)
{
	const struct record *record;
	for (uint32_t i = last + step; (record = record_at(sem, i)) != NULL; i += step) {
		const uint64_t state = LOAD_ACQ(&record->state);
		if (state_kind(state) != STATE_QUEUED || !pass_over(sem, i, state_value(state), permits))
			return;
	}
}

/*
 * The lowest ticket among orphans still in line goes into the hint, unless somebody has noted another meanwhile. Those
 * that have left it, and whose recoverer died before it had freed the record, are freed here.
 */
static void
renew_orphan_hint(struct tsem *sem, uint64_t hint, uint64_t origin)
{
	if ((hint & PENDING_ORPHANS) == 0)
		return;
	int64_t lowest = INT64_MAX;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		if (owner_kind(LOAD_ACQ(&record->owner)) != OWNER_KIND_ORPHAN)
			continue;
		const uint64_t state = LOAD_ACQ(&record->state);
		if (state_kind(state) != STATE_QUEUED) {
			recover_record(sem, i, NULL);
			continue;
		}
		const int64_t distance = counter_diff(state_value(state), origin);
		if (distance < lowest)
			lowest = distance;
	}
	const bool found = lowest != INT64_MAX;
	const uint64_t ticket = found ? counter_add(origin, (uint64_t)lowest) : 0;
	CAS_SEQ(&sem->segment.header->pending, hint, pending_next(hint, found, ticket));
}

/* A run of dead waiters costs one scan for every 64 of them at most. */
void
recover_front(struct tsem *sem, uint32_t *permits)
{
	uint64_t places[PLACES_MAX];
	const uint64_t hint = LOAD_SEQ(&sem->segment.header->pending);
	const uint64_t origin = enabled_limit(sem);
	uint64_t from = 0;
	for (int pass = 0; pass < PASSES_MAX; pass++) {
		collect_places(sem, origin, from, places);
		size_t at = 0;
		while (at < PLACES_MAX && places[at] != NO_PLACE
		       && pass_over(sem, place_index(places[at]), place_ticket(places[at], origin), permits))
			at++;
		if (at < PLACES_MAX)
			break;
		const uint32_t last = place_index(places[PLACES_MAX - 1]);
		follow(sem, last, last - place_index(places[PLACES_MAX - 2]), permits);
		from = places[PLACES_MAX - 1] + 1;
	}
	renew_orphan_hint(sem, hint, origin);
}

void
note_orphan(struct tsem *sem, uint64_t ticket)
{
	_Atomic uint64_t *pending = &sem->segment.header->pending;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t seen = LOAD_SEQ(pending);
		const bool lower = (seen & PENDING_ORPHANS) == 0 || counter_diff(ticket, counter_value(seen)) < 0;
		if (CAS_SEQ(pending, seen, pending_next(seen, true, lower ? ticket : counter_value(seen))))
			return;
	}
}

int64_t
count_given_up(struct tsem *sem)
{
	int64_t permits = 0;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		if (owner_kind(LOAD_ACQ(&record->owner)) == OWNER_KIND_ORPHAN
		    && state_kind(LOAD_ACQ(&record->state)) == STATE_QUEUED)
			permits += LOAD_ACQ(&record->count);
	}
	return permits;
}

void
skip_orphans(struct tsem *sem)
{
	const uint64_t hint = LOAD_SEQ(&sem->segment.header->pending);
	if ((hint & PENDING_ORPHANS) != 0 && counter_diff(enabled_limit(sem), counter_value(hint)) >= 0)
		recover_front(sem, NULL);
}

void
grant_notify(struct tsem *sem, const struct grant *grant)
{
	wake_enabled(sem, grant);
	skip_orphans(sem);
	notify_idle(sem);
}

int
grant_notify_moved(struct tsem *sem, uint64_t grants, uint32_t count)
{
	const int saved = errno;
	const uint64_t from = counter_add(counter_value(grants), LOAD_SEQ(&sem->segment.header->capacity));
	const struct grant grant = {.moved = true, .from = from, .to = counter_add(from, count)};
	grant_notify(sem, &grant);
	errno = saved;
	return 0;
}

/* ---- everybody ---- */

/* Carries every record in one of `states` (a mask) as far as it goes. */
static void
recover_states(struct tsem *sem, unsigned states, uint32_t *permits)
{
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		if (LOAD_RLX(&record->owner) != 0 && (states >> state_kind(LOAD_RLX(&record->state)) & 1) != 0)
			recover_record(sem, i, permits);
	}
}

/* Of those that are CLAIMED only the last to move T can have its ticket. */
static void
recover_last_arrival(struct tsem *sem, uint32_t *permits)
{
	const uint32_t index = tag_record(counter_tag(LOAD_SEQ(&sem->segment.header->tickets)));
	const struct record *record = record_at(sem, index);
	if (record != NULL && state_kind(LOAD_ACQ(&record->state)) == STATE_CLAIMED)
		recover_record(sem, index, permits);
}

void
recover_all(struct tsem *sem, uint32_t *permits)
{
	recover_last_arrival(sem, permits);
	recover_states(sem, 1U << STATE_HELD | 1U << STATE_RELEASING, permits);
	recover_front(sem, permits);
}

uint32_t
recover_spare_records(struct tsem *sem)
{
	uint32_t freed = 0;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		if (LOAD_RLX(&record->owner) == 0 || state_kind(LOAD_RLX(&record->state)) > STATE_CLAIMED)
			continue;
		recover_record(sem, i, NULL);
		freed += LOAD_RLX(&record->owner) == 0;
	}
	return freed;
}

uint64_t
recover_if_due(struct tsem *sem, uint64_t now)
{
	_Atomic uint64_t *stamp = &sem->segment.header->scanned;
	const uint64_t scanned = LOAD_ACQ(stamp);
	/* In another time namespace the clock may run far ahead or behind: a stamp from the future counts as old. */
	if (scanned > now)
		now = platform.now();
	const uint64_t tick = next_tick(now);
	const bool recent = scanned <= now && now - scanned < LOOK_EVERY && now < next_tick(scanned);
	if (recent || !CAS_SEQ(stamp, scanned, now))
		return tick;
	const uint64_t grants = LOAD_RLX(&sem->segment.header->grants);
	recover_all(sem, NULL);
	recover_free_records(sem);
	wake_overlooked(sem);
	removal_notice(sem);
	/* Many die together, and yet one after another: where permits have just come back, more may be about to. */
	const bool moved = LOAD_RLX(&sem->segment.header->grants) != grants;
	return moved ? earlier_of(now + LOOK_EVERY, tick) : tick;
}

bool
recover_before_failing(struct tsem *sem)
{
	const uint64_t now = platform.now();
	const uint64_t tried = LOAD_RLX(&sem->tried);
	if (tried != 0 && now - tried < TRY_LOOK_EVERY)
		return false;
	STORE_RLX(&sem->tried, now);
	recover_all(sem, NULL);
	return true;
}

int
tsem_recover(tsem *sem, uint32_t *recovered)
{
	if (!sem->segment.writable)
		return -EPERM;
	uint32_t permits = 0;
	recover_all(sem, &permits);
	recover_spare_records(sem);
	notify_forget(sem, PENDING_IDLE | PENDING_HOLDERS);
	if (recovered != NULL)
		*recovered = permits;
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "recover.h"

#include <errno.h>

#include "identity.h"
#include "idle.h"
#include "platform.h"
#include "record.h"
#include "vacancy.h"
#include "wait.h"

#define TRY_LOOK_EVERY (10 * NS_PER_MS)

/* ---- is the owner dead? ---- */

static uint64_t
owner_start(const struct record *record, uint64_t who)
{
	return who_kind(who) == WHO_KIND_HANDED ? LOAD_ACQ(&record->start) : who_start(who);
}

enum liveness
owner_liveness(const struct tsem *sem, const struct record *record, uint64_t who)
{
	const struct header *header = sem->segment.header;
	if (who_kind(who) == WHO_KIND_ORPHAN)
		return LIVENESS_DEAD;
	if (who == identity_who())
		return LIVENESS_ALIVE;

	struct owner owner = {.pid = who_pid(who), .start = owner_start(record, who)};
	if (LOAD_SEQ(&header->mixed) == 0) {
		owner.pid_ns = LOAD_ACQ(&header->pid_ns);
	} else {
		/* Just claimed, the record may still carry its last owner's namespace, and then nothing can be told. */
		const bool idle = what_state(LOAD_ACQ(&record->what)) == STATE_IDLE;
		if (idle && who_kind(who) == WHO_KIND_OWNER && LOAD_ACQ(&record->start) != who)
			return LIVENESS_UNKNOWN;
		owner.pid_ns = LOAD_ACQ(&record->pid_ns);
	}
	return (enum liveness)platform.judge(&owner);
}

/* ---- one record ---- */

/* CLAIMED, and the owner is dead: it had its ticket if T says so, and otherwise never will. */
static void
recover_claimed(struct tsem *sem, uint32_t index, struct record *record, uint64_t what)
{
	const uint64_t tickets = LOAD_SEQ(&sem->segment.header->tickets);
	if (is_last_arrival(tickets, index, what))
		finish_arrival(sem, tickets);
	else
		CAS_SEQ(&record->what, what, what_next(what, STATE_IDLE, (uint32_t)what_value(what) + 1));
}

/* A command that ended by itself has abandoned nothing, even if we see that before its `tsem run`, which looks on. */
static bool
is_a_good_end(const struct record *record, uint64_t who)
{
	return LOAD_ACQ(&record->use) == USE_COMMAND && has_exited((pid_t)who_pid(who), owner_start(record, who));
}

/* Begins the release for a dead owner. `permits` counts what a holder had, not the places of waiters. */
static void
begin_release(struct tsem *sem, struct record *record, uint64_t who, uint64_t what, uint32_t count, bool held,
              uint32_t *permits)
{
	/*
	 * A remover has all permits, or stands in line for them, from before unlink() until it has marked the semaphore. If
	 * the remover was killed in between, the mark must be there before these permits move. An orphan is no remover.
	 */
	if (who_kind(who) == WHO_KIND_ORPHAN)
		held = false;
	else
		is_removed(sem);
	const bool abandoned = held && !is_a_good_end(record, who);
	/* Before the permits come back, so that whoever is admitted by them sees it. A taker has nothing to leave behind. */
	if (abandoned && LOAD_ACQ(&record->use) != USE_TAKE)
		STORE_SEQ(&sem->segment.header->abandoned, 1);
	if (!CAS_SEQ(&record->what, what, what_next(what, STATE_RELEASING, what_value(what))))
		return;
	if (held && permits != NULL)
		*permits += count;
	if (abandoned) {
		PROBE(recover, sem, what_value(what), count);
		ADD_RLX(&sem->segment.header->statistics.recovered, count);
	}
}

/* One step; false when there is nothing more to do for this owner. */
static bool
recover_step(struct tsem *sem, uint32_t index, struct record *record, uint64_t who, bool dead, uint32_t *permits)
{
	/* The state must be read after the death is known, and the owner looked at again after that: or we would act on
	 * the next owner's use of the record. */
	const uint64_t what = LOAD_ACQ(&record->what);
	const uint32_t count = LOAD_ACQ(&record->count);
	const uint64_t ticket = what_value(what);
	if (LOAD_SEQ(&record->who) != who)
		return false;

	struct grant grant;
	int64_t ahead;
	switch (what_state(what)) {
	case STATE_IDLE:
		record_free_for(sem, index, record, who);
		return false;
	case STATE_CLAIMED:
		if (dead)
			recover_claimed(sem, index, record, what);
		return dead;
	case STATE_QUEUED:
		ahead = counter_diff(enabled_limit(sem), ticket);
		if (!dead || ahead < 0)
			return false;
		begin_release(sem, record, who, what, count, ahead >= (int64_t)count, permits);
		return true;
	case STATE_HELD:
		if (dead)
			begin_release(sem, record, who, what, count, true, permits);
		return dead;
	case STATE_RELEASING:
		if (!release_for_owner(sem, index, record, what, &grant))
			return false;
		wake_enabled(sem, &grant);
		idle_notify(sem);
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
	const uint64_t who = record == NULL ? 0 : LOAD_ACQ(&record->who);
	if (who == 0)
		return;

	/* The release of a handed-over hold may be anybody's, so anybody may have died in it. */
	const bool dead = owner_liveness(sem, record, who) == LIVENESS_DEAD;
	if (!dead && who_kind(who) != WHO_KIND_HANDED)
		return;
	for (int step = 0; step < STEPS_MAX; step++) {
		if (!recover_step(sem, index, record, who, dead, permits))
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
	return word_make(counter_add(ticket - origin, PLACE_MIDDLE), index);
}

static uint64_t
place_ticket(uint64_t place, uint64_t origin)
{
	return counter_add(word_counter(place), origin + PLACE_MIDDLE);
}

static uint32_t
place_index(uint64_t place)
{
	return (uint32_t)word_tag(place);
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
		const uint64_t what = LOAD_ACQ(&record->what);
		const uint64_t none = 0 - (uint64_t)(what_state(what) != STATE_QUEUED); /* NO_PLACE, or no bit of it */
		const uint64_t place = place_make(what_value(what), origin, i) | none;
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

	const uint64_t what = LOAD_ACQ(&record->what);
	const bool still_there = what_state(what) == STATE_QUEUED && what_value(what) == ticket;
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
		const uint64_t what = LOAD_ACQ(&record->what);
		if (what_state(what) != STATE_QUEUED || !pass_over(sem, i, what_value(what), permits))
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
	if ((hint & CONCERN_ORPHANS) == 0)
		return;
	int64_t lowest = INT64_MAX;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		if (who_kind(LOAD_ACQ(&record->who)) != WHO_KIND_ORPHAN)
			continue;
		const uint64_t what = LOAD_ACQ(&record->what);
		if (what_state(what) != STATE_QUEUED) {
			recover_record(sem, i, NULL);
			continue;
		}
		const int64_t distance = counter_diff(what_value(what), origin);
		if (distance < lowest)
			lowest = distance;
	}
	const bool found = lowest != INT64_MAX;
	const uint64_t ticket = found ? counter_add(origin, (uint64_t)lowest) : 0;
	CAS_SEQ(&sem->segment.header->concern, hint, concern_next(hint, found, ticket));
}

/* A run of dead waiters costs one scan for every 64 of them at most. */
void
recover_front(struct tsem *sem, uint32_t *permits)
{
	uint64_t places[PLACES_MAX];
	const uint64_t hint = LOAD_SEQ(&sem->segment.header->concern);
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
	_Atomic uint64_t *concern = &sem->segment.header->concern;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t seen = LOAD_SEQ(concern);
		const bool lower = (seen & CONCERN_ORPHANS) == 0 || counter_diff(ticket, word_counter(seen)) < 0;
		if (CAS_SEQ(concern, seen, concern_next(seen, true, lower ? ticket : word_counter(seen))))
			return;
	}
}

int64_t
count_given_up(struct tsem *sem)
{
	int64_t permits = 0;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		if (who_kind(LOAD_ACQ(&record->who)) == WHO_KIND_ORPHAN && what_state(LOAD_ACQ(&record->what)) == STATE_QUEUED)
			permits += LOAD_ACQ(&record->count);
	}
	return permits;
}

void
skip_orphans(struct tsem *sem)
{
	const uint64_t hint = LOAD_SEQ(&sem->segment.header->concern);
	if ((hint & CONCERN_ORPHANS) != 0 && counter_diff(enabled_limit(sem), word_counter(hint)) >= 0)
		recover_front(sem, NULL);
}

void
after_grant(struct tsem *sem, const struct grant *grant)
{
	wake_enabled(sem, grant);
	skip_orphans(sem);
	idle_notify(sem);
}

int
after_move(struct tsem *sem, uint64_t grants, uint32_t count)
{
	const int saved = errno;
	const uint64_t from = counter_add(word_counter(grants), LOAD_SEQ(&sem->segment.header->capacity));
	const struct grant grant = {.moved = true, .from = from, .to = counter_add(from, count)};
	after_grant(sem, &grant);
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
		if (LOAD_RLX(&record->who) != 0 && (states >> what_state(LOAD_RLX(&record->what)) & 1) != 0)
			recover_record(sem, i, permits);
	}
}

/* Of those that are CLAIMED only the last to move T can have its ticket. */
static void
recover_last_arrival(struct tsem *sem, uint32_t *permits)
{
	const uint32_t index = tag_record(word_tag(LOAD_SEQ(&sem->segment.header->tickets)));
	const struct record *record = record_at(sem, index);
	if (record != NULL && what_state(LOAD_ACQ(&record->what)) == STATE_CLAIMED)
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
		if (LOAD_RLX(&record->who) == 0 || what_state(LOAD_RLX(&record->what)) > STATE_CLAIMED)
			continue;
		recover_record(sem, i, NULL);
		freed += LOAD_RLX(&record->who) == 0;
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
	vacancy_look(sem);
	wake_overlooked(sem);
	is_removed(sem);
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
	idle_forget(sem, CONCERN_IDLE | CONCERN_HOLDERS);
	if (recovered != NULL)
		*recovered = permits;
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "recovery/recover_front.h"

#include <errno.h>

#include "wake/notify.h"
#include "wake/wake.h"

/*
 * The place of a ticket is one number: 48 bits for its distance from `origin` (a ticket near the front), and 16 for its
 * record. So places compare as numbers, and take little of the stack, which may be a signal handler's. PLACE_MIDDLE is
 * the distance 0, so that a ticket before `origin` has a smaller number.
 */
#define PLACE_MIDDLE (UINT64_C(1) << 47)
#define NO_PLACE UINT64_MAX /* after all others */

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

/* Replaces the latest place, which is heap[0] of a max-heap. */
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

/* Collects the earliest PLACES_MAX places at or after `from`, in order; NO_PLACE fills the rest. */
static void
collect_places(struct tsem *sem, uint64_t origin, uint64_t from, uint64_t places[PLACES_MAX])
{
	for (size_t i = 0; i < PLACES_MAX; i++)
		places[i] = NO_PLACE;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		const uint64_t state = LOAD_ACQ(&record->state);
		const uint64_t none = 0 - (uint64_t)(state_kind(state) != STATE_QUEUED); /* makes it NO_PLACE unless QUEUED */
		const uint64_t place = place_make(state_value(state), origin, i) | none;
		/*
		 * For a place before `from`, the unsigned difference wraps, exceeds NO_PLACE - from, and fails the test.
		 * In a long queue, the only branch here that depends on data is mostly not taken, and so predicted well.
		 */
		if (place - from < places[0] - from)
			replace_last(places, PLACES_MAX, place);
	}
	for (size_t n = PLACES_MAX - 1; n > 0; n--) {
		const uint64_t leaf = places[n];
		places[n] = places[0];
		replace_last(places, n, leaf);
	}
}

/*
 * Skips the ticket if its owner is dead or the waiter is declared. False: the ticket is not enabled, so those behind it
 * are not either.
 */
static bool
skip(struct tsem *sem, uint32_t index, uint64_t ticket, uint32_t *permits)
{
	const struct record *record = &sem->segment.records[index];
	if (counter_diff(enabled_limit(sem), ticket) < 0)
		return false;
	recover_record(sem, index, permits);

	const uint32_t count = LOAD_ACQ(&record->count); /* before the state: otherwise it could be that of the next use */
	const uint64_t state = LOAD_ACQ(&record->state);
	const bool still_there = state_kind(state) == STATE_QUEUED && state_value(state) == ticket;
	return !still_there || is_enabled(sem, ticket, count);
}

/* A declared waiter is an orphan even before its owner has noticed. */
static bool
is_orphan(uint64_t owner, uint64_t state)
{
	return owner_kind(owner) == OWNER_KIND_ORPHAN || state_is_declared(state);
}

/*
 * Stores the lowest orphaned ticket in `pending`, unless that has changed meanwhile. Also goes on with the skips that
 * another process has begun. The skip of a declared waiter looks like a release, so it goes on with releases, too.
 */
static void
renew_orphan_hint(struct tsem *sem, uint64_t pending, uint64_t origin)
{
	if ((pending & PENDING_ORPHANS) == 0)
		return;
	int64_t lowest = INT64_MAX;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		const uint64_t owner = LOAD_ACQ(&record->owner);
		const uint64_t state = LOAD_ACQ(&record->state);
		const bool orphan = is_orphan(owner, state);
		if (state_kind(state) == STATE_RELEASING || (orphan && state_kind(state) != STATE_QUEUED))
			recover_record(sem, i, NULL);
		if (!orphan || state_kind(state) != STATE_QUEUED)
			continue;
		const int64_t distance = counter_diff(state_value(state), origin);
		if (distance < lowest)
			lowest = distance;
	}
	const bool found = lowest != INT64_MAX;
	const uint64_t ticket = found ? counter_add(origin, (uint64_t)lowest) : 0;
	CAS_SEQ(&sem->segment.header->pending, pending, pending_next(pending, found, ticket));
}

/* Costs at most one scan for every 64 waiters that it passes, one more, and one for the lowest orphan. */
void
recover_front(struct tsem *sem, uint32_t *permits)
{
	uint64_t places[PLACES_MAX];
	const uint64_t pending = LOAD_SEQ(&sem->segment.header->pending);
	const uint64_t origin = enabled_limit(sem);
	uint64_t from = 0;
	for (int pass = 0; pass < PASSES_MAX; pass++) {
		collect_places(sem, origin, from, places);
		size_t at = 0;
		while (at < PLACES_MAX && places[at] != NO_PLACE
		       && skip(sem, place_index(places[at]), place_ticket(places[at], origin), permits))
			at++;
		if (at < PLACES_MAX)
			break;
		from = places[PLACES_MAX - 1] + 1;
	}
	renew_orphan_hint(sem, pending, origin);
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
count_orphaned(struct tsem *sem)
{
	int64_t permits = 0;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		const uint64_t owner = LOAD_ACQ(&record->owner);
		const uint64_t state = LOAD_ACQ(&record->state);
		if (is_orphan(owner, state) && state_kind(state) == STATE_QUEUED)
			permits += LOAD_ACQ(&record->count);
	}
	return permits;
}

void
skip_orphans(struct tsem *sem)
{
	const uint64_t pending = LOAD_SEQ(&sem->segment.header->pending);
	if ((pending & PENDING_ORPHANS) != 0 && counter_diff(enabled_limit(sem), counter_value(pending)) >= 0)
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

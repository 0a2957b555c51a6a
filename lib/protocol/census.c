/* SPDX-License-Identifier: MIT */
#include "protocol/census.h"

#include "protocol/protocol.h"

/* ---- the counters ---- */

/* G and C are read again after T. */
struct counters
census_counters(const struct tsem *sem)
{
	const struct header *header = sem->segment.header;
	struct counters c = {0};
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		c.grants = LOAD_SEQ(&header->grants);
		c.capacity = LOAD_SEQ(&header->capacity);
		c.tickets = LOAD_SEQ(&header->tickets);
		if (LOAD_SEQ(&header->grants) == c.grants && LOAD_SEQ(&header->capacity) == c.capacity)
			break;
	}
	c.limit = counter_add(counter_value(c.grants), c.capacity);
	return c;
}

/* No ticket was taken, nothing released or posted, and the capacity not changed since. */
static bool
counters_are_unchanged(const struct tsem *sem, const struct counters *c)
{
	const struct header *header = sem->segment.header;
	return LOAD_SEQ(&header->tickets) == c->tickets && LOAD_SEQ(&header->grants) == c->grants
	       && LOAD_SEQ(&header->capacity) == c->capacity;
}

/* ---- the records ---- */

/* False: the record changed while it was copied. */
static bool
copy_record(const struct record *record, struct sighting *s)
{
	s->owner = LOAD_ACQ(&record->owner);
	s->state = LOAD_ACQ(&record->state);
	s->since = LOAD_ACQ(&record->since);
	s->until = LOAD_ACQ(&record->until);
	s->count = LOAD_ACQ(&record->count);
	s->pid_ns = LOAD_ACQ(&record->pid_ns);
	s->uid = LOAD_ACQ(&record->uid);
	s->use = LOAD_ACQ(&record->use);
	return LOAD_ACQ(&record->state) == s->state && LOAD_ACQ(&record->owner) == s->owner;
}

static enum role
role_of(const struct sighting *s, bool queued, const struct counters *c)
{
	const bool enabled = counter_diff(c->limit, s->ticket) >= (int64_t)s->count;
	if (owner_kind(s->owner) == OWNER_KIND_ORPHAN)
		return queued && !enabled ? ROLE_ORPHAN : ROLE_NONE;
	if (queued && !enabled)
		return state_is_declared(s->state) ? ROLE_ORPHAN : ROLE_WAITER;
	if (queued || state_kind(s->state) == STATE_HELD)
		return s->use == USE_TAKE ? ROLE_NONE : ROLE_HOLDER;
	return state_kind(s->state) == STATE_RELEASING && !is_last_release(c->grants, s->index, s->state) ? ROLE_HOLDER
	                                                                                                  : ROLE_NONE;
}

struct sighting
census_sight(const struct record *record, uint32_t index, const struct counters *c)
{
	enum { COPIES_MAX = 16 };
	struct sighting s = {.index = index};
	if (LOAD_ACQ(&record->owner) == 0) /* most are free, and a quick pass is more likely to see nothing move */
		return s;
	for (int copies = 0; !copy_record(record, &s); copies++) {
		if (copies == COPIES_MAX)
			return s;
	}
	if (s.owner == 0)
		return s;

	bool queued = state_kind(s.state) == STATE_QUEUED;
	s.ticket = state_value(s.state);
	if (state_kind(s.state) == STATE_CLAIMED && is_last_arrival(c->tickets, index, s.state)) {
		queued = true; /* it has its ticket, which is not in its state yet */
		s.ticket = counter_add(counter_value(c->tickets), (UINT64_C(1) << 48) - s.count);
	}
	s.distance = counter_diff(s.ticket, counter_value(c->grants));
	s.role = role_of(&s, queued, c);
	return s;
}

/* ---- all of them ---- */

enum { RECORDS_READ_MAX = 1 << 24 };

static void
count_sighting(struct census *census, const struct sighting *s)
{
	if (s->role == ROLE_WAITER || s->role == ROLE_ORPHAN)
		census->queued += s->count;
	if (s->role == ROLE_HOLDER)
		census->held += s->count;
	census->waiting += s->role == ROLE_WAITER;
	if (s->role == ROLE_WAITER && (census->first_count == 0 || counter_diff(s->ticket, census->first_ticket) < 0)) {
		census->first_ticket = s->ticket;
		census->first_count = s->count;
	}
	if ((s->role == ROLE_HOLDER || s->role == ROLE_WAITER) && census->n < census->room)
		census->seen[census->n++] = *s;
}

void
take_census(struct tsem *sem, struct census *census)
{
	const struct record *record;
	uint32_t read = 0;
	do {
		*census = (struct census){.c = census_counters(sem), .seen = census->seen, .room = census->room};
		for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++, read++) {
			const struct sighting s = census_sight(record, i, &census->c);
			count_sighting(census, &s);
		}
	} while (!counters_are_unchanged(sem, &census->c) && read < RECORDS_READ_MAX);
}

uint32_t
census_position(struct tsem *sem, uint64_t ticket)
{
	const struct counters c = census_counters(sem);
	uint32_t position = 1;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		const struct sighting s = census_sight(record, i, &c);
		position += s.role == ROLE_WAITER && counter_diff(s.ticket, ticket) < 0;
	}
	return position;
}

/*
 * While T stands still, no process gets a ticket, so a record that was seen without one has none. While G and C stand
 * still, no waiter is enabled that was seen waiting. So this look is as good as one at an instant. Permits that were
 * taken anonymously show in the counters alone.
 *
 * If something moved, it looks again: it may have been an arrival, after which nothing need ever happen, so a caller
 * that slept on would not be woken.
 */
bool
census_is_idle(struct tsem *sem, bool holders_only)
{
	const struct record *record;
	uint32_t read = 0;
	while (read < RECORDS_READ_MAX) {
		const struct counters c = census_counters(sem);
		int64_t out = counter_diff(counter_value(c.tickets), counter_value(c.grants));
		for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++, read++) {
			const struct sighting s = census_sight(record, i, &c);
			if (s.role == ROLE_HOLDER || (s.role == ROLE_WAITER && !holders_only))
				return false;
			if (s.role == ROLE_WAITER || s.role == ROLE_ORPHAN)
				out -= s.count;
		}
		if (out > 0)
			return false;
		if (counters_are_unchanged(sem, &c))
			return true;
	}
	return false;
}

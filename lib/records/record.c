/* SPDX-License-Identifier: MIT */
#include "records/record.h"

#include <errno.h>

#include "protocol/fast.h"
#include "records/presence.h"
#include "system/identity.h"
#include "system/platform.h"

/* ---- the states that only the owner writes ---- */

/* IDLE -> CLAIMED. Everything else is written before, or at the latest before T is moved. Returns the state. */
static uint64_t
mark_claimed(struct record *record)
{
	const uint64_t idle = LOAD_RLX(&record->state);
	const uint32_t gen = (uint32_t)state_value(idle);
	/*
	 * A process that finishes the last release may read this `gen` and write an IDLE with it, which this CLAIMED
	 * follows.
	 */
	STORE_RLX(&record->gen, gen);
	/* Release: a process that sees CLAIMED sees all of the record. */
	const uint64_t claimed = state_next(idle, STATE_CLAIMED, gen);
	STORE_REL(&record->state, claimed);
	return claimed;
}

/* CLAIMED -> IDLE. No ticket was taken, so the phases stay. */
static void
mark_idle(struct record *record)
{
	/* A plain store: T does not carry this record's tag, so no other process writes the state while the owner lives. */
	const uint64_t state = LOAD_RLX(&record->state);
	STORE_REL(&record->state, state_next(state, STATE_IDLE, (uint32_t)state_value(state) + 1));
}

static void
set_purpose(struct record *record, enum use use, uint64_t until)
{
	STORE_RLX(&record->use, (uint32_t)use);
	STORE_RLX(&record->until, until);
}

/* ---- claiming ---- */

/*
 * Notes, before the first claim, which PID namespace the owners are in. While all are in one, recovery can judge the
 * owner of a record that was just claimed and does not name its namespace yet.
 */
static void
register_namespace(struct header *header, const struct identity *self)
{
	if (LOAD_RLX(&header->pid_ns) == 0 && self->pid_ns != 0)
		CAS_SEQ32(&header->pid_ns, 0, self->pid_ns);
	if ((LOAD_RLX(&header->pid_ns) != self->pid_ns || self->pid_ns == 0) && LOAD_RLX(&header->mixed_pid_ns) == 0)
		STORE_SEQ(&header->mixed_pid_ns, 1);
}

/* Writes the identity of the process that has just become the owner. `start` comes last: see owner_liveness(). */
static void
set_identity(struct record *record, uint64_t owner, const struct identity *self)
{
	STORE_RLX(&record->pid_ns, self->pid_ns);
	STORE_RLX(&record->uid, self->uid);
	STORE_REL(&record->start, owner);
}

/* Tries every record once, from the hint on. */
static int
search(struct tsem *sem, uint64_t owner, struct claim *claim)
{
	struct header *header = sem->segment.header;
	const uint32_t limit = record_limit(sem);
	uint32_t at = LOAD_RLX(&header->free_hint);
	for (uint32_t i = 0; i < limit; i++, at++) {
		if (at >= limit)
			at = 0;
		struct record *record = record_at(sem, at);
		/* A record that is free and not IDLE was scribbled on; it stays as it is. */
		if (record == NULL || LOAD_ACQ(&record->owner) != 0 || state_kind(LOAD_RLX(&record->state)) != STATE_IDLE
		    || !CAS_SEQ(&record->owner, 0, owner))
			continue;
		STORE_RLX(&header->free_hint, at + 1);
		claim->index = at;
		claim->record = record;
		return 0;
	}
	return -EUSERS;
}

static int
claim_free(struct tsem *sem, struct cached *entry, struct claim *claim)
{
	struct identity self;
	int rc = identity_get(&self);
	if (rc < 0)
		return rc;
	register_namespace(sem->segment.header, &self);
	claim->owner = presence_owner(sem, &self);
	rc = search(sem, claim->owner, claim);
	if (rc < 0)
		return rc;
	cache_forget(entry, claim->record); /* what the entry remembers of this record is over */
	set_identity(claim->record, claim->owner, &self);
	return 0;
}

int
record_claim(struct tsem *sem, uint32_t count, enum use use, uint64_t until, struct claim *claim)
{
	int rc = 0;
	struct cached *entry = cache_entry(sem);
	if (entry != NULL)
		cache_begin(entry);
	const bool ready = cache_is_ready(entry);
	if (ready) {
		*claim = (struct claim){.index = entry->hold.record, .record = entry->record, .owner = entry->owner};
		cache_clear(entry); /* or another use could begin with this record before this one has its ticket */
	} else {
		rc = claim_free(sem, entry, claim);
	}
	if (entry != NULL)
		cache_end(entry);
	if (rc < 0)
		return rc;
	STORE_RLX(&claim->record->since, platform.coarse_now());
	set_purpose(claim->record, use, until);
	STORE_RLX(&claim->record->count, count);
	/*
	 * A cached record is CLAIMED already. A process that finishes its arrival reads `count` after T, which moves later.
	 */
	if (!ready)
		mark_claimed(claim->record);
	return 0;
}

/* A process that loses the race finds the winner's page. */
int
record_grow(struct tsem *sem)
{
	struct header *header = sem->segment.header;
	const uint32_t now = LOAD_ACQ(&header->reserved);
	if (now >= RECORDS_MAX)
		return -EUSERS;
	const uint32_t more = now + RECORDS_PER_PAGE < RECORDS_MAX ? now + RECORDS_PER_PAGE : RECORDS_MAX;
	int rc = segment_reserve(&sem->segment, more);
	if (rc < 0)
		return rc;
	if (CAS_SEQ32(&header->reserved, now, more))
		STORE_RLX(&header->free_hint, now);
	return 0;
}

bool
record_take_over(struct tsem *sem, struct record *record, uint64_t from)
{
	struct identity self;
	if (identity_get(&self) < 0)
		return false;
	register_namespace(sem->segment.header, &self);
	const uint64_t owner = presence_owner(sem, &self);
	if (!CAS_SEQ(&record->owner, from, owner))
		return false;
	set_identity(record, owner, &self);
	return true;
}

/* ---- freeing ---- */

void
record_free_for(struct tsem *sem, uint32_t index, struct record *record, uint64_t owner)
{
	if (CAS_SEQ(&record->owner, owner, 0))
		STORE_RLX(&sem->segment.header->free_hint, index);
}

/*
 * A thread that caches a record and is idle must not keep others out, and no process can take the record away. So only
 * the first half of all the records that may exist is cached; the other half is for the threads that hold or wait now.
 */
static bool
may_be_cached(const struct tsem *sem, uint32_t index)
{
	const uint32_t all = sem->segment.embedded ? LOAD_RLX(&sem->segment.reserved) : RECORDS_MAX;
	return index < all / 2;
}

void
record_cache_or_free(struct tsem *sem, const struct claim *claim)
{
	struct cached *entry = cache_take(sem);
	if (entry != NULL)
		cache_begin(entry);
	/* An entry that is ready has another record: the state of this one has moved on. */
	const bool caches = entry != NULL && !cache_is_ready(entry) && may_be_cached(sem, claim->index);
	if (caches) {
		set_purpose(claim->record, USE_HOLD, 0);
		cache_store(entry, sem, claim, mark_claimed(claim->record));
	} else {
		cache_forget(entry, claim->record);
		STORE_REL(&claim->record->owner, 0); /* the next owner sees the stores before */
		STORE_RLX(&sem->segment.header->free_hint, claim->index);
	}
	if (entry != NULL)
		cache_end(entry);
}

void
record_unclaim(struct tsem *sem, const struct claim *claim)
{
	mark_idle(claim->record);
	record_cache_or_free(sem, claim);
}

void
record_free_cached(struct tsem *sem)
{
	for (size_t i = 0; i < CACHE_ENTRIES; i++) {
		struct cached *entry = sem->cache[i];
		if (LOAD_RLX(&entry->thread) == 0)
			continue;
		if (cache_is_ready(entry)) {
			mark_idle(entry->record);
			record_free_for(sem, entry->hold.record, entry->record, entry->owner);
		}
		cache_clear(entry);
	}
}

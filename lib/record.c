/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <errno.h>

#include "identity.h"
#include "platform.h"
#include "recover.h"
#include "record_wait.h"

struct cached cache_disabled[CACHE_ENTRIES];

/* A record that nobody has is never HELD, and nobody's. */
void
cache_clear(struct cached *entry)
{
	static struct record nobodys;
	entry->record = &nobodys;
	entry->owner = UINT64_MAX;
	entry->claimed = STATE_HELD;
	entry->hold = (struct hold){0};
}

static void
cache_forget(struct cached *entry, const struct record *record)
{
	if (entry != NULL && entry->record == record)
		cache_clear(entry);
}

/* The calling thread's entry, taken if it is free. */
static struct cached *
cache_take_entry(struct tsem *sem)
{
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(sem, self);
	const uintptr_t owner = LOAD_RLX(&entry->thread);
	uintptr_t nobody = 0;
	if (owner == self)
		return entry;
	if (owner != 0 || sem->cache[0] == cache_disabled || !atomic_compare_exchange_strong(&entry->thread, &nobody, self))
		return NULL;
	cache_clear(entry);
	return entry;
}

/*
 * Who keeps a record and does nothing must not keep others out, and nobody can take it away: so of all the records that
 * there can be, only the first half is kept, and the other is for those who hold or wait now.
 */
static bool
may_be_cached(const struct tsem *sem, uint32_t index)
{
	const uint32_t all = sem->segment.embedded ? LOAD_RLX(&sem->segment.reserved) : RECORDS_MAX;
	return index < all / 2;
}

/*
 * What has to be the same for the next use to be alone. No T is, unless the record's last use was the last to move it, and as
 * many again would have room. T before E, as in arrive(): then there was room at the moment of that T. And not more than
 * C, without which nothing would tell of the semaphore's removal.
 */
static void
note_counters(struct cached *entry)
{
	struct header *header = entry->header;
	entry->tickets = TAG_NONE - 1; /* which is no record's tag */
	const uint64_t tickets = LOAD_SEQ(&header->tickets);
	if (counter_tag(tickets) != tag_make(entry->hold.record, !state_arrival_phase(entry->claimed)))
		return;
	const uint64_t grants = LOAD_SEQ(&header->grants);
	const uint32_t capacity = LOAD_SEQ(&header->capacity);
	const uint32_t count = LOAD_RLX(&entry->record->count);
	const uint64_t limit = counter_add(counter_value(grants), capacity);
	if (count > capacity || counter_diff(limit, counter_value(tickets)) < (int64_t)count)
		return;
	entry->tickets = tickets;
	entry->tag = tag_make(entry->hold.record, 0);
	entry->capacity_word = capacity_word_make(capacity);
	entry->count = count;
	entry->advance = counter_word_make(count, 0);
}

void
record_cache_or_free(struct tsem *sem, const struct claim *claim)
{
	struct cached *entry = cache_take_entry(sem);
	const bool wanted = (LOAD_RLX(&sem->segment.header->record_waiters) & WORD_SLEEPERS) != 0;
	/* The one that is kept already is another one, for the state of this one has moved on. */
	if (entry == NULL || cache_is_ready(entry) || wanted || !may_be_cached(sem, claim->index)) {
		cache_forget(entry, claim->record);
		record_free(sem, claim);
		return;
	}
	record_describe(claim->record, USE_HOLD, 0);
	entry->record = claim->record;
	entry->header = sem->segment.header;
	entry->hold = (struct hold){.sem = (uint64_t)(uintptr_t)sem, .record = claim->index};
	entry->owner = claim->owner;
	entry->second = 0;
	entry->claimed = record_mark_claimed(claim->record);
	note_counters(entry);
}

/*
 * Says, before the first claim, which PID namespace this process lives in. While all claimers agree, a record that is
 * just being claimed can be judged although its own fields are not written yet.
 */
static void
register_namespace(struct header *header, const struct identity *self)
{
	if (LOAD_RLX(&header->pid_ns) == 0 && self->pid_ns != 0)
		CAS_SEQ32(&header->pid_ns, 0, self->pid_ns);
	if ((LOAD_RLX(&header->pid_ns) != self->pid_ns || self->pid_ns == 0) && LOAD_RLX(&header->mixed_pid_ns) == 0)
		STORE_SEQ(&header->mixed_pid_ns, 1);
}

/* Tries every record once, from the hint on. */
static int
search(struct tsem *sem, uint64_t owner, struct claim *claim)
{
	struct header *header = sem->segment.header;
	uint32_t limit = LOAD_RLX(&header->reserved);
	if (limit > RECORDS_MAX)
		limit = RECORDS_MAX;
	uint32_t at = LOAD_RLX(&header->free_hint);
	for (uint32_t i = 0; i < limit; i++, at++) {
		if (at >= limit)
			at = 0;
		struct record *record = record_at(sem, at);
		/* Nobody's, but not IDLE: scribbled over, and not ours to repair. */
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

/* Another page of records. Whoever loses the race finds the winner's page. */
static int
grow(struct tsem *sem)
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

static int
search_or_grow(struct tsem *sem, uint64_t owner, struct claim *claim)
{
	int rc = 0;
	for (int tries = 0; tries <= RECORDS_MAX / RECORDS_PER_PAGE + 1; tries++) {
		if (search(sem, owner, claim) == 0)
			return 0;
		/* The dead who held nothing, and whom therefore nobody has missed, before the table grows. */
		if (recover_spare_records(sem) > 0)
			continue;
		rc = grow(sem);
		if (rc < 0)
			return rc;
	}
	return -EUSERS;
}

/* Says whose a record is that `owner`, the calling process, has just got. `start` comes last: see owner_liveness(). */
static void
sign(struct record *record, uint64_t owner, const struct identity *self)
{
	STORE_RLX(&record->pid_ns, self->pid_ns);
	STORE_RLX(&record->uid, self->uid);
	STORE_REL(&record->start, owner);
}

bool
record_take_over(struct tsem *sem, struct record *record, uint64_t from)
{
	struct identity self;
	if (!identity_get(&self))
		return false;
	register_namespace(sem->segment.header, &self);
	if (!CAS_SEQ(&record->owner, from, self.owner))
		return false;
	sign(record, self.owner, &self);
	return true;
}

static int
claim_by(int (*find)(struct tsem *, uint64_t, struct claim *), struct tsem *sem, uint32_t count, enum use use,
         uint64_t until, struct claim *claim)
{
	struct identity self;
	int rc;
	claim->owner = identity_owner();
	if (claim->owner == 0 && (rc = identity_prepare()) < 0)
		return rc;
	struct cached *entry = cache_entry(sem);
	const bool cached = cache_is_ready(entry);
	if (cached) {
		claim->index = entry->hold.record;
		claim->record = entry->record;
		cache_clear(entry); /* or it would be claimed again before this use has its ticket */
	} else {
		identity_get(&self);
		register_namespace(sem->segment.header, &self);
		rc = find(sem, claim->owner, claim);
		if (rc < 0)
			return rc;
		cache_forget(entry, claim->record); /* what this thread once knew of it is not so any more */
		sign(claim->record, claim->owner, &self);
	}
	STORE_RLX(&claim->record->since, coarse_now());
	record_describe(claim->record, use, until);
	STORE_RLX(&claim->record->count, count);
	if (!cached) /* which is CLAIMED already: who finishes its arrival reads `count` behind T, which is moved later */
		record_mark_claimed(claim->record);
	return 0;
}

int
record_claim(struct tsem *sem, uint32_t count, enum use use, uint64_t until, struct claim *claim)
{
	return claim_by(search_or_grow, sem, count, use, until, claim);
}

int
record_claim_free(struct tsem *sem, uint32_t count, enum use use, uint64_t until, struct claim *claim)
{
	return claim_by(search, sem, count, use, until, claim);
}

static void
announce_free(struct header *header, uint32_t index)
{
	STORE_RLX(&header->free_hint, index);
	record_wake(header, 1);
}

void
record_free_for(struct tsem *sem, uint32_t index, struct record *record, uint64_t owner)
{
	if (CAS_SEQ(&record->owner, owner, 0))
		announce_free(sem->segment.header, index);
}

void
record_free(struct tsem *sem, const struct claim *claim)
{
	STORE_SEQ(&claim->record->owner, 0); /* see record_wake() */
	announce_free(sem->segment.header, claim->index);
}

void
record_unclaim(struct tsem *sem, const struct claim *claim)
{
	record_mark_idle(claim->record);
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
			record_mark_idle(entry->record);
			record_free_for(sem, entry->hold.record, entry->record, entry->owner);
		}
		cache_clear(entry);
	}
}

/* SPDX-License-Identifier: MIT */
/* The owned pair: a hold is recorded for a process, and comes back by itself if that process dies. */
#include <errno.h>
#include <string.h>

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
consume_abandonment(struct tsem *sem)
{
	_Atomic uint32_t *abandoned = &sem->segment.header->abandoned;
	return LOAD_RLX(abandoned) != 0 && atomic_exchange(abandoned, 0) != 0;
}

void
hold_become(struct tsem *sem, const struct queue_place *place, tsem_hold *out)
{
	/* A plain store: a helper may only have written QUEUED, which this follows, or the same HELD. */
	struct record *record = place->claim.record;
	STORE_RLX(&record->until, 0);
	const uint64_t held = state_next(LOAD_RLX(&record->state), STATE_HELD, place->waiter.ticket);
	STORE_REL(&record->state, held);
	*hold_inside(out) = (struct hold){
		.sem = (uint64_t)(uintptr_t)sem,
		.record = place->claim.index,
		.flags = consume_abandonment(sem) ? HOLD_RECOVERED : 0,
		.state = held,
	};
}

/*
 * Held since now. Of a thread's uses within one second only the first is written down: the clock would cost a sixth of all
 * that acquire and release do, and those who look at it see no more than a second too much.
 */
static __attribute__((noinline)) int
stamp_anew(struct cached *entry, uint64_t second)
{
	entry->second = second;
	STORE_RLX(&entry->record->since, coarse_now());
	return 0;
}

static __attribute__((noinline)) int
stamp(struct cached *entry)
{
	const uint64_t second = this_second();
	return __builtin_expect(entry->second == second, 1) ? 0 : stamp_anew(entry, second);
}

/*
 * Alone: with a record from before, and nobody has arrived since its last use. Returns the thread's entry, or NULL and has
 * done nothing.
 *
 * Looks, one CAS, and stores. The CAS waits until all before it is over, and every store in the cache: so none stands in
 * front of it, nothing is saved on the stack, and what is needed behind it is read again.
 */
static inline __attribute__((always_inline)) struct cached *
fast_acquire(struct tsem *sem, uint32_t count, tsem_hold *out)
{
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(sem, self);
	if (LOAD_RLX(&entry->thread) != self || LOAD_ACQ(&entry->record->state) != entry->claimed)
		return NULL;
	struct header *header = entry->header;
	const uint64_t tickets = entry->tickets;
	/* T before C, as in arrive(). Who has to be told of a death is told the long way. */
	if (LOAD_SEQ(&header->tickets) != tickets || LOAD_SEQ(&header->capacity_word) != entry->capacity_word
	    || entry->count != count)
		return NULL;
	const uint64_t next = (tickets ^ 1) + entry->advance; /* the record's tag, with the other phase */
	if (!CAS_SEQ(&header->tickets, tickets, next))
		return NULL;
	PROBE_FAST(take, hold_sem(&entry->hold));
	/* A plain store, as in hold_become(). */
	const uint64_t held = (tickets & ~TAG_MASK) | (entry->claimed & STATE_PHASES) | STATE_HELD;
	STORE_REL(&entry->record->state, held);
	struct hold *hold = hold_inside(out);
	memcpy(hold, &entry->hold, offsetof(struct hold, state));
	hold->state = held;
	entry->tickets = next;
	return entry;
}

static __attribute__((noinline)) int
acquire_in_line(struct tsem *sem, uint32_t count, const struct tsem_wait *options, tsem_hold *hold)
{
	struct queue_place place;
	int rc = queue_check(sem, count, options);
	if (rc == 0)
		wait_backoff(sem);
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
hold_try_unchecked(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct queue_place place;
	int rc = queue_try_enter(sem, count, USE_HOLD, &place);
	if (rc == 0)
		hold_become(sem, &place, hold);
	return rc;
}

static __attribute__((noinline)) int
acquire_or_fail(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	int rc = queue_check(sem, count, NULL);
	return rc < 0 ? rc : hold_try_unchecked(sem, count, hold);
}

int
tsem_acquire_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait, tsem_hold *hold)
{
	return acquire_in_line(sem, count, queue_options(wait), hold);
}

int
tsem_acquire(tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold)
{
	struct cached *entry = fast_acquire(sem, count, hold);
	return entry != NULL ? stamp(entry) : acquire_until(sem, count, deadline, hold);
}

int
tsem_try_acquire(tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct cached *entry = fast_acquire(sem, count, hold);
	return entry != NULL ? stamp(entry) : acquire_or_fail(sem, count, hold);
}

/* ---- release ---- */

/* The state of a hold that is still what it was: HELD under its ticket. */
bool
hold_is_held(const struct record *record, uint64_t ticket, uint64_t *state)
{
	*state = LOAD_ACQ(&record->state);
	return state_kind(*state) == STATE_HELD && state_value(*state) == ticket;
}

/* From RELEASING on, when the one look was not enough. */
static __attribute__((noinline)) int
release_slow(struct tsem *sem, uint32_t index, uint64_t releasing)
{
	const struct claim claim = {.index = index, .record = &sem->segment.records[index], .owner = identity_owner()};
	struct grant grant;
	const enum move move = move_grant(sem, index, claim.record, releasing, &grant);
	if (move == MOVE_STUCK) {
		STORE_REL(&claim.record->state, state_next(releasing, STATE_HELD, state_value(releasing)));
		return -EBADMSG;
	}
	/* A plain store: a helper could only have written the same. */
	if (move == MOVE_DONE)
		STORE_REL(&claim.record->state, state_released(claim.record, releasing));
	record_cache_or_free(sem, &claim);
	grant_notify(sem, &grant);
	return 0;
}

/* The end of a release in which others take part. */
static __attribute__((noinline)) int
release_notify(struct cached *entry, uint64_t grants)
{
	struct tsem *sem = hold_sem(&entry->hold);
	const struct claim claim = {.index = entry->hold.record, .record = entry->record, .owner = entry->owner};
	const uint32_t count = LOAD_RLX(&claim.record->count);
	if ((LOAD_RLX(&sem->segment.header->record_waiters) & WORD_SLEEPERS) != 0) {
		cache_clear(entry);
		record_mark_idle(claim.record);
		record_free(sem, &claim);
	}
	return grant_notify_moved(sem, grants, count);
}

/* Whoever acquired it, if it is this process's; it is not void. */
static __attribute__((noinline)) int
release_any(const struct hold *hold)
{
	const uint64_t owner = identity_owner();
	if (hold_is_lent(hold) || owner == 0)
		return -EPERM;
	struct record *record = &hold_sem(hold)->segment.records[hold->record];
	uint64_t state;
	if (LOAD_RLX(&record->owner) != owner || !hold_is_held(record, hold_ticket(hold), &state))
		return -EPERM;
	/* A plain store: a live owner's own hold is nobody else's to change. */
	const uint64_t releasing = state_next(state, STATE_RELEASING, state_value(state));
	STORE_REL(&record->state, releasing);
	return release_slow(hold_sem(hold), hold->record, releasing);
}

/*
 * Of the record that this thread keeps, acquired alone, while nobody has arrived since. It is claimed for the next
 * one at once. IDLE in between would say nothing that anybody could act on while the owner lives; who finishes this release
 * may write it, and the owner's plain store comes after that.
 */
static inline __attribute__((always_inline)) int
fast_release(struct cached *entry, uint64_t held)
{
	const uint64_t releasing = state_releasing(held);
	STORE_REL(&entry->record->state, releasing);
	struct header *header = entry->header;
	const uint64_t grants = LOAD_SEQ(&header->grants);
	const uint64_t next = (grants ^ 1) + entry->advance;
	/* The tag of its last release, with the other phase, needs nobody to finish it. */
	if (((grants ^ entry->tag) & TAG_MASK & ~UINT64_C(1)) != 0 || !CAS_SEQ(&header->grants, grants, next))
		return release_slow(hold_sem(&entry->hold), entry->hold.record, releasing);
	PROBE_FAST(post, hold_sem(&entry->hold));
	const uint64_t claimed = state_reused(entry->claimed);
	if (__builtin_expect(state_is_first_use(claimed), 0))
		STORE_RLX(&entry->record->gen, (uint32_t)state_value(claimed));
	STORE_REL(&entry->record->state, claimed);
	entry->claimed = claimed;
	/* Nobody has arrived since this hold did, and all before it were enabled by the C that there is still: nobody waits. */
	if ((LOAD_SEQ(&header->pending) & PENDING_MASK) != 0 || LOAD_SEQ(&header->tickets) != entry->tickets
	    || LOAD_SEQ(&header->capacity_word) != entry->capacity_word)
		return release_notify(entry, grants);
	return 0;
}

int
tsem_release(tsem_hold *out)
{
	const struct hold *hold = hold_inside(out);
	if (hold->sem == 0)
		return -EPERM;
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(hold_sem(hold), self);
	/* HELD under its ticket, which no other record is; and nobody has arrived since this thread did. */
	if (LOAD_RLX(&entry->thread) != self || LOAD_RLX(&entry->record->owner) != entry->owner
	    || LOAD_ACQ(&entry->record->state) != hold->state || LOAD_SEQ(&entry->header->tickets) != entry->tickets)
		return release_any(hold);
	return fast_release(entry, hold->state);
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
	return (((const struct hold *)(const void *)hold)->flags & HOLD_RECOVERED) != 0;
}

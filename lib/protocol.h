/* SPDX-License-Identifier: MIT */
/*
 * The crash-atomic moves of the two counters. Everything that changes T or G is here.
 *
 * Every change of a counter that matters to a record carries that record's tag in the same word, so the change and the
 * knowledge of who made it are one compare-and-swap. Whoever wants to overwrite a tag first finishes what the last
 * mover left unfinished, so at every instant anybody can tell from the segment alone whether a dead process had its
 * ticket, and whether it had given it back. The rules:
 *
 *   arrive(r, n)    state[r] = CLAIMED, then CAS T {t, x} -> {t + n, (r, a)} after finishing x. The ticket is t.
 *   finish T        T = {c, (r, phase)}, state[r] CLAIMED with a == phase, and T *still the same word*:
 *                   CAS state[r] -> QUEUED(c - count). The second look at T: without it a tag seen long ago could be
 *                   taken for that of the record's present use. The phase: without it the tag of the record's last use
 *                   is, which nobody has overwritten yet.
 *   release(r)      state[r] = RELEASING(t), then CAS G {g, x} -> {g + count, (r, b)} after finishing x, unless G's tag
 *                   is (r, b) already or state[r] has changed: then it was done for us. G is read before state[r], so
 *                   "not my tag, and unchanged" means that G had not been moved for this release when it was read.
 *   finish G        G = {c, (r, phase)}, state[r] RELEASING with b == phase, and G still the same word:
 *                   CAS state[r] -> IDLE(gen + 1) with both phases flipped.
 *   keep(r)         an owner whose release is over may make state[r] CLAIMED for its next use, both phases flipped, a state
 *                   that the record never had: from IDLE, or straight from RELEASING. It may write over the IDLE of
 *                   somebody who finished the release, for nobody acts on an IDLE record while its owner lives.
 *
 * No step waits for anybody: a process that stops anywhere in here is overtaken, and its step is finished for it.
 *
 * Two pairs of sequentially consistent accesses, one's own write before the read of the other's (Dekker), carry the
 * wake-ups: T against G (an arrival moves T and then reads E; a release moves G and then reads T), and E against
 * what a word says of its sleepers (wait.c, wake.c). So either the arrival sees the grant, or the releaser sees the arrival.
 * A post looks before it moves G, and not afterwards: lib/post.c.
 */
#ifndef TSEM_LIB_PROTOCOL_H
#define TSEM_LIB_PROTOCOL_H

#include <errno.h>

#include "handle.h"
#include "probe.h"

/*
 * Every retry below means that somebody else made progress, so honest participants never come near this many; a peer
 * that scribbles over the segment must not keep us for ever. Then the segment is damaged: EBADMSG.
 */
enum { RETRIES_MAX = 1 << 20 };

/* E: ticket t of a waiter for n permits is enabled once E - t >= n. Always G first, then C. */
static inline uint64_t
enabled_limit(const struct tsem *sem)
{
	const struct header *header = sem->segment.header;
	const uint64_t grants = LOAD_SEQ(&header->grants);
	const uint32_t capacity = LOAD_SEQ(&header->capacity);
	return counter_add(counter_value(grants), capacity);
}

/* How many permits nobody has; negative: so many are missing. While others move the counters, at most too many. */
static inline int64_t
spare_permits(const struct tsem *sem)
{
	const uint64_t tickets = LOAD_SEQ(&sem->segment.header->tickets);
	return counter_diff(enabled_limit(sem), counter_value(tickets));
}

static inline bool
is_enabled(const struct tsem *sem, uint64_t ticket, uint32_t count)
{
	return counter_diff(enabled_limit(sem), ticket) >= (int64_t)count;
}

/* Whether to take a ticket only if it is enabled at once. */
enum arrival { ARRIVE_IN_LINE, ARRIVE_IF_ENABLED };

/* Whether a tag that stands in a counter needs no look at its record before `mine` is written over it: it is no record's,
 * or the same record's last one, which was finished long ago. */
static inline bool
is_finished(uint64_t tag, uint64_t mine)
{
	return ((tag ^ mine) & ~UINT64_C(1)) == 0 || tag >= TAG_WATCHED_TOO;
}

/* Whether record `index`, CLAIMED in the state `state`, has its ticket: T, which is `tickets`, was last moved for it. */
static inline bool
is_last_arrival(uint64_t tickets, uint32_t index, uint64_t state)
{
	return counter_tag(tickets) == tag_make(index, state_arrival_phase(state));
}

/*
 * If T is {c, (r, phase)}, unfinished, and still `tickets`: makes record r QUEUED. False: that record is out of reach
 * (see record_find), so the tag must not be overwritten.
 */
bool finish_arrival(struct tsem *sem, uint64_t tickets);

/* If G is {c, (r, phase)}, unfinished, and still `grants`: makes record r IDLE. False as above. */
bool finish_release(struct tsem *sem, uint64_t grants);

/*
 * Takes `count` tickets for the CLAIMED record of `tag`, or for nobody (TAG_NONE). -EAGAIN, -EOVERFLOW, -EBADMSG.
 */
static inline int
arrive(struct tsem *sem, uint64_t tag, uint32_t count, enum arrival arrival, uint64_t *ticket)
{
	struct header *header = sem->segment.header;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		/* T before E: whoever lowers the capacity relies on a CAS of T having failed if T moved since E was read. */
		const uint64_t tickets = LOAD_SEQ(&header->tickets);
		const uint64_t at = counter_value(tickets);
		const int64_t room = counter_diff(enabled_limit(sem), at);
		if (room < (int64_t)count) {
			if (arrival == ARRIVE_IF_ENABLED)
				return -EAGAIN;
			if ((int64_t)count - room > COUNTER_DRIFT)
				return -EOVERFLOW;
		}
		if (!is_finished(counter_tag(tickets), tag) && !finish_arrival(sem, tickets))
			break;
		if (CAS_SEQ(&header->tickets, tickets, counter_word_advance(tickets, count, tag))) {
			*ticket = at;
			PROBE_FAST(take, sem);
			return 0;
		}
	}
	return -EBADMSG;
}

/*
 * Whether T, which was `tickets`, may go to `next`, `count` further, at once: no contention, nobody's step to finish, and a
 * count within the capacity, which there is none of once the semaphore was removed. If not: arrive(). T was read before.
 */
static inline bool
may_arrive_at_once(const struct header *header, uint64_t tickets, uint64_t next, uint32_t count)
{
	const uint64_t grants = LOAD_SEQ(&header->grants) | TAG_MASK;
	const uint32_t capacity = LOAD_SEQ(&header->capacity);
	/* With the greatest tag there is, words compare as their counters do. */
	return (int64_t)(grants + counter_word_make(capacity, 0) - next) >= 0
	       && count - 1 < capacity /* which 0 is not either */
	       && is_finished(counter_tag(tickets), counter_tag(next));
}

/* What a move of G did: whom to wake. */
struct grant {
	bool moved;    /* by this call */
	uint64_t from; /* E before and after */
	uint64_t to;
};

/*
 * Moves G for a RELEASING record, `state`, whoever it belongs to. MOVE_DONE: G moved and may still carry the record's
 * tag, so the state has to go on to state_released() before anything else. MOVE_OVER: somebody has done all of that.
 * Either way G was moved exactly once. MOVE_STUCK: it was not, a record is out of reach or the segment is damaged.
 */
enum move { MOVE_OVER, MOVE_DONE, MOVE_STUCK };

static inline enum move
move_grant(struct tsem *sem, uint32_t index, const struct record *record, uint64_t state, struct grant *grant)
{
	struct header *header = sem->segment.header;
	const uint64_t tag = tag_make(index, state_release_phase(state));
	const uint32_t count = LOAD_ACQ(&record->count);
	grant->moved = false;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t grants = LOAD_SEQ(&header->grants);
		if (counter_tag(grants) == tag)
			return MOVE_DONE;
		if (LOAD_ACQ(&record->state) != state)
			return MOVE_OVER;
		if (!is_finished(counter_tag(grants), tag) && !finish_release(sem, grants))
			break;
		const uint64_t at = counter_value(grants);
		if (CAS_SEQ(&header->grants, grants, counter_word_advance(grants, count, tag))) {
			/* C after G, as everywhere. */
			const uint32_t capacity = LOAD_SEQ(&header->capacity);
			grant->moved = true;
			grant->from = counter_add(at, capacity);
			grant->to = counter_add(grant->from, count);
			PROBE_FAST(post, sem);
			return MOVE_DONE;
		}
	}
	return MOVE_STUCK;
}

/*
 * The state that follows the RELEASING `state`. `gen` is the one the record was claimed with: acquire, so it is that of
 * `state`, or `state` has changed and a CAS will fail.
 */
static inline uint64_t
state_released(const struct record *record, uint64_t state)
{
	const uint32_t gen = LOAD_ACQ(&record->gen);
	return state_next(state ^ STATE_PHASES, STATE_IDLE, gen + 1);
}

/* Both steps, for another process's record: the second one by CAS. False: stuck, the record stays RELEASING. */
bool release_for_owner(struct tsem *sem, uint32_t index, struct record *record, uint64_t state, struct grant *grant);

/* Gives G another tag, if it is still `grants`, which `*done` says. False: a record is out of reach. */
bool retag_grants(struct tsem *sem, uint64_t grants, uint64_t tag, bool *done);

/*
 * Sees to it that G's tag is WATCHED or WATCHED_TOO, so that every later post looks for sleepers. The caller has moved T, and
 * looks at E after that. False: a record is out of reach.
 */
bool watch_grants(struct tsem *sem);

/*
 * Changes G's tag, so that the compare-and-swap of every post that has looked around already fails, and the post looks
 * again. The caller has changed what such a post reads.
 */
void stir_grants(struct tsem *sem);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The moves of T and G on the slow path, which a death at any instruction leaves whole or undone. Only this pair of
 * files and the fast path (fast.h) change the two counters.
 *
 * A change of a counter that matters to a record carries that record's tag in the same word. So one compare-and-swap
 * makes the change and says which record it was for. Before a process overwrites a tag, it completes the step that the
 * tag stands for. So at every instant the segment alone tells whether a dead process had its ticket, and whether it had
 * released it. The steps, for record r:
 *
 *   arrive          state[r] = CLAIMED; CAS T {t, x} -> {t + count, (r, a)} after finishing x. The ticket is t.
 *   finish arrival  If T = {c, (r, phase)}, state[r] is CLAIMED with a == phase, and T is *still the same word*:
 *                   CAS state[r] -> QUEUED(c - count).
 *                   Without the second look at T, a tag read long ago could be taken for one of this use.
 *                   Without the phase, a tag of the last use that is still in T could be taken for one of this use.
 *   release         state[r] = RELEASING(t); reads G {g, x}, then state[r]. If x is not (r, b) and state[r] is still
 *                   RELEASING(t), G has not been moved for this release: CAS G {g, x} -> {g + count, (r, b)} after
 *                   finishing x. Otherwise another process has moved it.
 *   finish release  If G = {c, (r, phase)}, state[r] is RELEASING with b == phase, and G is still the same word:
 *                   CAS state[r] -> IDLE(gen + 1), both phases flipped.
 *   reuse           After the release the owner may make the record CLAIMED for its next use, both phases flipped: a
 *                   CLAIMED state that the record has not had for 2^43 uses (layout.h). The owner may do so from IDLE or
 *                   directly from RELEASING. It may overwrite an IDLE that another process wrote when it finished the
 *                   release: only recovery acts on an IDLE record, if its owner is dead or HANDED, and then no owner
 *                   makes such a store.
 *
 * No step waits for another process. If a process stops after its move, another one finishes the step before it
 * overwrites the tag.
 *
 * No wake-up is lost while the waker lives, because of two pairs of sequentially consistent accesses. In each pair, both
 * sides write before they read (Dekker). If the waker dies between its move and its wake-up, the next look wakes the
 * waiter (look.h).
 *
 *   - An arrival moves T and then reads E. A release moves G and then reads T.
 *   - A waiter announces itself on its word and then reads E. A waker moves E and then reads the word (wait.c, wake.c).
 *
 * So either the waiter sees the grant, or the releaser sees the waiter. A post looks for sleepers before it moves G
 * instead: see post.c.
 */
#ifndef TSEM_LIB_PROTOCOL_H
#define TSEM_LIB_PROTOCOL_H

#include <errno.h>

#include "protocol/handle.h"
#include "protocol/probe.h"

/*
 * A retry in a loop with this limit means that another process made progress, so honest processes never come near this
 * number. A peer that scribbles on the segment must not keep a process in a loop. A call that reaches the limit takes
 * the segment for damaged and fails with -EBADMSG. A step that only helps other processes gives up at the limit without
 * an error.
 */
enum { RETRIES_MAX = 1 << 20 };

/* ---- the counters ---- */

/*
 * E: ticket t of a waiter for n permits is enabled once E - t >= n. A process reads G before C. A setter stores the
 * lower C before it reads G. So a process that reads the old C has read G before the setter did (set.c).
 */
static inline uint64_t
enabled_limit(const struct tsem *sem)
{
	const struct header *header = sem->segment.header;
	const uint64_t grants = LOAD_SEQ(&header->grants);
	const uint32_t capacity = LOAD_SEQ(&header->capacity);
	return counter_add(counter_value(grants), capacity);
}

/*
 * E - T: the permits that are available, or if negative, that are missing. If T moves after it was read, the
 * result is too high. Only a fall of C meanwhile can make it lower than E - T was when T was read.
 */
static inline int64_t
available_permits(const struct tsem *sem)
{
	const uint64_t tickets = LOAD_SEQ(&sem->segment.header->tickets);
	return counter_diff(enabled_limit(sem), counter_value(tickets));
}

static inline bool
is_enabled(const struct tsem *sem, uint64_t ticket, uint32_t count)
{
	return counter_diff(enabled_limit(sem), ticket) >= (int64_t)count;
}

/*
 * Whether a process may write its tag `mine` over `tag` without looking at a record. True if `tag` names no record, or
 * the same record as `mine`, because a record begins a step only after its previous step is over.
 */
static inline bool
is_replaceable(uint64_t tag, uint64_t mine)
{
	return tag_record(tag) == tag_record(mine) || tag >= TAG_WATCHED_FIRST;
}

/*
 * Whether record `index`, CLAIMED in `state`, has its ticket: it was the last to move T, which was read as `tickets`.
 */
static inline bool
is_last_arrival(uint64_t tickets, uint32_t index, uint64_t state)
{
	return counter_tag(tickets) == tag_make(index, state_arrival_phase(state));
}

/* ---- arrivals ---- */

/*
 * If T's tag is unfinished, and T is still `tickets`: makes the tag's record QUEUED. False: this process cannot map
 * that record (record_find()), so it must not overwrite the tag.
 */
bool finish_arrival(struct tsem *sem, uint64_t tickets);

/* Whether to take a ticket only if it is enabled at once. */
enum arrival { ARRIVE_IN_LINE, ARRIVE_IF_ENABLED };

/* Takes `count` tickets for the CLAIMED record of `tag`, or for no record (TAG_NONE). -EAGAIN, -EOVERFLOW, -EBADMSG. */
int arrive(struct tsem *sem, uint64_t tag, uint32_t count, enum arrival arrival, uint64_t *ticket);

/*
 * If T is still `tickets`: takes `count` tickets for no record and no process, whether they are enabled or not.
 * `*done`: T was still `tickets`, and the tickets are taken. False: a record cannot be mapped.
 */
bool advance_tickets(struct tsem *sem, uint64_t tickets, uint64_t count, bool *done);

/* ---- releases ---- */

/* What a move of G did: the waiters to wake. */
struct grant {
	bool moved;    /* by this process */
	uint64_t from; /* E before and after */
	uint64_t to;
};

/* Whether G, read as `grants`, has the permits of record `index` back, which is RELEASING in `state`. */
static inline bool
is_last_release(uint64_t grants, uint32_t index, uint64_t state)
{
	return counter_tag(grants) == tag_make(index, state_release_phase(state));
}

/* As finish_arrival(), but for G, if it is still `grants`: makes the tag's record IDLE. */
bool finish_release(struct tsem *sem, uint64_t grants);

enum move {
	MOVE_OVER,  /* another process has moved G, and the state has gone on */
	MOVE_DONE,  /* G moved, and may still have the record's tag: the caller writes state_released() before all else */
	MOVE_STUCK, /* G did not move: a record cannot be mapped, or the segment is damaged */
};

/*
 * Moves G for record `index`, which is RELEASING in `state`, whatever process owns it. G moves exactly once for each
 * release.
 */
enum move move_grants(struct tsem *sem, uint32_t index, const struct record *record, uint64_t state,
                      struct grant *grant);

/*
 * The state that follows the RELEASING `state`. While the record is in `state`, `gen` is that of this use or of the
 * next one (fast.h, store 6), and both are good. If the record has left `state`, a caller that is not its owner fails
 * in its compare-and-swap. Acquire: that compare-and-swap comes after this read.
 */
static inline uint64_t
state_released(const struct record *record, uint64_t state)
{
	const uint32_t gen = LOAD_ACQ(&record->gen);
	return state_next(state ^ STATE_PHASES, STATE_IDLE, gen + 1);
}

/*
 * Moves G and makes the record IDLE by compare-and-swap, so that any process may do it, the owner included. False:
 * stuck, and the record stays RELEASING.
 */
bool release_for_owner(struct tsem *sem, uint32_t index, struct record *record, uint64_t state, struct grant *grant);

/* ---- the tag of G, and posts ---- */

/* Moves G by `count` and keeps its tag, if it is still `grants`. */
static inline bool
post_grants(struct tsem *sem, uint64_t grants, uint32_t count)
{
	return CAS_SEQ(&sem->segment.header->grants, grants, grants + counter_word_make(count, 0));
}

/* Gives G another tag if it is still `grants`; `*done`: it was. False: a record cannot be mapped. */
bool retag_grants(struct tsem *sem, uint64_t grants, uint64_t tag, bool *done);

/*
 * Makes G's tag one of the WATCHED values, so that every later post looks for sleepers. A caller that is about to
 * sleep has moved T before, and reads E afterwards. False: as for MOVE_STUCK.
 */
bool watch_grants(struct tsem *sem);

/*
 * Changes G's tag, so that every post that has already read the segment fails in its compare-and-swap and reads again.
 * The caller has changed a word that posts read.
 */
void bump_grants(struct tsem *sem);

#endif

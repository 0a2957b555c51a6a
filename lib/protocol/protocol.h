/* SPDX-License-Identifier: MIT */
/*
 * The moves of T and G on the slow path; and why an acquire or a release that SIGKILL ends at any instruction neither
 * loses nor doubles a permit. The fast path (fast.h) makes the same stores. Only it, this file and protocol.c change
 * the two counters. layout.h explains the words; r is the record, t its ticket, a and b its phases.
 *
 * 1. A hold, by its stores. They go to T, G and the state; row 4 goes to `since`, and row 7 f to `gen`. s: slow path
 *    only, f: fast path only. The last column says what another process does if it finds the owner dead after this
 *    store and before the next one (recover_record.c).
 *
 *        store                            the segment then                          recovery
 *   ---  -------------------------------  ----------------------------------------  -----------------------------------
 *   0    state = CLAIMED                  CLAIMED; T's tag is not (r, a)            no ticket: IDLE, and freed, at the
 *                                                                                   latest when records run short
 *   1    T += count, tag (r, a)           CLAIMED; T's tag is (r, a): unfinished    finishes the arrival: QUEUED(t);
 *                                                                                   then as 2
 *   2 s  state = QUEUED(t)                QUEUED; if T has (r, a), it is finished   when E comes to t: RELEASING, moves
 *                                                                                   G, IDLE, freed
 *   3    state = HELD(t)                  HELD                                      RELEASING, moves G, IDLE, freed
 *   4 f  since = now                      as 3; `since` is only shown               as 3
 *   5    state = RELEASING(t)             RELEASING; G's tag is not (r, b)          moves G, IDLE, freed
 *   6    G += count, tag (r, b)           RELEASING; G's tag is (r, b): unfinished  finishes the release: IDLE, freed
 *   7 f  gen = the next generation        as 6                                      as 6: either generation makes an
 *                                                                                   IDLE that can be freed
 *   7 s  state = IDLE, phases flipped     IDLE                                      freed, at the latest as in 0
 *   8    state = CLAIMED; f: flips a, b   as 0                                      as 0
 *
 * 2. Rows 1 and 6. One compare-and-swap moves the counter and says by its tag which record it moved for. So the segment
 *    alone tells whether a dead process had its ticket, and whether it had given it back. A process that replaces a tag
 *    finishes it first: it writes the state that the tag stands for. (A post may keep the tag.)
 *
 *    arrive          state[r] = CLAIMED; CAS T {t, x} -> {t + count, (r, a)} after finishing x. The ticket is t.
 *    finish arrival  If T = {c, (r, phase)}, state[r] is CLAIMED with a == phase, and T is *still the same word*:
 *                    CAS state[r] -> QUEUED(c - count).
 *                    Without the second look at T, a tag that was read two uses ago would count for this use.
 *                    Without the phase, the last use's tag would count while it is in T.
 *    release         state[r] = RELEASING(t); reads G {g, x}, then state[r]. If x is not (r, b) and state[r] is still
 *                    RELEASING(t), G has not been moved for this release: CAS G {g, x} -> {g + count, (r, b)} after
 *                    finishing x. Otherwise G has been moved. A release that was begun is never taken back.
 *    finish release  If G = {c, (r, phase)}, state[r] is RELEASING with b == phase, and G is still the same word:
 *                    CAS state[r] -> IDLE(gen + 1), both phases flipped.
 *
 *    No step waits for another process.
 *
 * 3. A process acts on another process's record by compare-and-swap, from a state that names one use of the record by
 *    its ticket or generation, or from an owner word: if the record goes on meanwhile, the swap fails. A CLAIMED state
 *    of a record comes again after 2^32 uses on the slow path, or 2^43 on the fast one.
 *
 *    - Recovery, once the owner is certainly dead. It reads the state after it knows of the death, and then the owner
 *      again: so the state is the last one that this owner wrote, or one that another process made of it.
 *    - While the owner lives, these write: a process that finishes a tag (QUEUED, IDLE), or goes on with a release (G,
 *      IDLE); a setter that lowers C and admits a ticket (HELD); one that cancels a wait (QUEUED, CANCELLED); one that
 *      releases a hold that was handed over, whose owner writes nothing (RELEASING, and frees the record); a child that
 *      adopts the hold, which its parent must not use meanwhile.
 *    - If a user has declared a living owner dead (named_owner.c): the declaring process releases its hold, and any
 *      process skips its ticket. A plain store of this owner may then return the permits a second time: see
 *      tsem_recover_owner() in tsem(3). The record stays the owner's, unless the hold was handed over.
 *
 * 4. Rows 0, 3, 5, 7 s and 8, and IDLE without a ticket, are plain stores of the owner. What another process writes
 *    between the owner's load and its store is lost. That does no harm, unless a user has declared the owner dead
 *    (section 3):
 *
 *    - 0, and IDLE without a ticket: no process writes.
 *    - 3 replaces QUEUED or an equal HELD. (On the slow path it is a compare-and-swap: queue_become().)
 *    - 5: no process but an adopting child, or one that declares this owner dead, writes the HELD record of a living
 *      owner that is not HANDED.
 *    - 7 s and 8 replace the IDLE of a process that went on with the release. Recovery acts on an IDLE record only if
 *      its owner is dead or HANDED, and such an owner makes no store.
 *
 * 5. A release, and a change of C, loses no wake-up while the process that moves G or stores C lives, unless several
 *    setters act at once (set.c), because of two pairs of sequentially consistent accesses. In each pair, both sides
 *    write before they read (Dekker). If that process dies before its wake-up, the next look wakes the waiter (look.h).
 *
 *    - An arrival moves T and then reads E. A release moves G and then reads T.
 *    - A waiter announces itself on its word and then reads E. A waker moves E and then reads the word (wait.c,
 *      wake.c).
 *
 *    So either the waiter sees the grant, or the releaser sees the waiter. A post looks for sleepers before it moves G
 *    instead: see post.c.
 */
#ifndef TSEM_LIB_PROTOCOL_H
#define TSEM_LIB_PROTOCOL_H

#include <errno.h>

#include "protocol/handle.h"
#include "protocol/probe.h"

/*
 * A retry in a loop with this limit mostly means that another process made progress. Honest processes never come near
 * this number, unless each retry reads all records while others keep moving T or G. A peer that scribbles on the
 * counters must not keep a process in a loop. A call that reaches the limit takes the segment for damaged and fails,
 * mostly with -EBADMSG. A step that only helps other processes gives up at the limit without an error.
 */
enum { RETRIES_MAX = 1 << 20 };

/* ---- the counters ---- */

/*
 * E: ticket t of a waiter for n permits is enabled once E - t >= n. A process reads G before C. A setter stores the
 * lower C before it reads G. So a process that reads C from before that store has read G before the setter did (set.c).
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
 * E - T: the permits that are available, or if negative, that are missing. T is read first. The result is too low for
 * the moment of that read only if C falls before C is read. After the call, a move of T makes the result too high, and
 * a move of G makes it too low.
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
 * Whether T, read as `tickets`, was moved last for record `index`, which is CLAIMED in `state`. If T is `tickets` after
 * the read of the state, the record has its ticket.
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

/* Take a ticket always, only if it is enabled at once, or only if T is still the word `*ticket`. */
enum arrival { ARRIVE_IN_LINE, ARRIVE_IF_ENABLED, ARRIVE_IF_UNMOVED };

/* Takes `count` tickets for the CLAIMED record of `tag`, or for no record (TAG_NONE). -EAGAIN, -EOVERFLOW, -EBADMSG. */
int arrive(struct tsem *sem, uint64_t tag, uint32_t count, enum arrival arrival, uint64_t *ticket);

/*
 * Takes `count` tickets for no record and no process, whether they are enabled or not. -EAGAIN: T is not `tickets` any
 * more. -EBADMSG: a record cannot be mapped.
 */
int advance_tickets(struct tsem *sem, uint64_t tickets, uint64_t count);

/* ---- releases ---- */

/* What a move of G did: the waiters to wake. */
struct grant {
	bool moved;    /* false: another process has moved it, and is to wake the waiters */
	uint64_t from; /* E before and after; move_grants() adds the C after the move to both */
	uint64_t to;
};

/*
 * Whether the tag of G, read as `grants`, is that of record `index`, RELEASING in `state`. True: G has the permits, if
 * it is still `grants` after the read of the state. False: G has not, if the state was read after it.
 */
static inline bool
is_last_release(uint64_t grants, uint32_t index, uint64_t state)
{
	return counter_tag(grants) == tag_make(index, state_release_phase(state));
}

/* As finish_arrival(), but for G, if it is still `grants`: makes the tag's record IDLE. */
bool finish_release(struct tsem *sem, uint64_t grants);

enum move {
	MOVE_OVER,  /* another process has moved G, and the state has gone on */
	MOVE_DONE,  /* G has moved, by whatever process: next, the caller writes state_released() */
	MOVE_STUCK, /* this call has not moved G: a record cannot be mapped, or the segment is damaged */
};

/*
 * Moves G for record `index`, which is RELEASING in `state`, whatever process owns it. G moves exactly once for each
 * release.
 */
enum move move_grants(struct tsem *sem, uint32_t index, const struct record *record, uint64_t state,
                      struct grant *grant);

/*
 * The state that follows the RELEASING `state`. While the record is in `state`, `gen` is that of this use or of the
 * next one: both make an IDLE that can be freed (row 7 f). Once it has left `state`, `gen` may be any, but every
 * compare-and-swap from `state` fails then. Acquire: that compare-and-swap comes after this read.
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

/* Gives G another tag. -EAGAIN: G is not `grants` any more. -EBADMSG: a record cannot be mapped. */
int retag_grants(struct tsem *sem, uint64_t grants, uint64_t tag);

/*
 * Makes G's tag one of the WATCHED values, so that posts look for sleepers until one of them finds no waiter. A caller
 * that is about to sleep has moved T before, and reads E afterwards. False: as for MOVE_STUCK.
 */
bool watch_grants(struct tsem *sem);

/*
 * Changes G's tag, so that a post that has already read the segment fails in its compare-and-swap and reads again,
 * unless other changes restore the tag (post.c). The caller has changed a word that posts read. If the caller cannot
 * map the tag's record, the tag stays: a post that does not look for waiters afterwards replaces it anyway, and reads
 * again.
 */
void bump_grants(struct tsem *sem);

#endif

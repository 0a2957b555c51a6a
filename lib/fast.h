/* SPDX-License-Identifier: MIT */
/*
 * The fast path: acquire, release, take and post while no other process takes part. One look at a few words, and one
 * compare-and-swap for each counter that moves. Each function here does nothing, or what the slow path would have done.
 *
 * A thread keeps the record of its last hold, and presets it for its next one: the record is CLAIMED, and the thread's cache
 * entry (struct cached) remembers the words as they were then. Where a word still has that value, a step of the slow path
 * can be left out. Cache `x` below is the entry's member x; the configurations are those of tests/model.
 *
 *   acquire: step left out          comparison                why that is enough                            configurations
 *   ------------------------------  ------------------------  --------------------------------------------  ---------------
 *   claim a record                  state[r] = claimed        A record never has the same state twice, so   cached,
 *                                                             no thread or process has used it since this   cached-repeats,
 *                                                             thread preset it.                             cached-handed
 *   write the record's count,       count = cached count      They were written when the record was         cached
 *   deadline and use                                          preset.
 *   finish the last arrival         T = tickets               T carries this record's own tag, of a use     cached,
 *                                                             that is over.                                 cached-threads
 *   read E: is there room?          T = tickets,              There was room for `count` beyond this T      cached,
 *                                   C = capacity_word         with this C, and G only grows.                cached-set
 *   look whether it is removed      C = capacity_word         A removal makes C 0, and count <= C then.     (unit tests)
 *   take over the notice of an      capacity_word, its upper  The half is `abandoned`, and 0 in the cache.  abandoned
 *   abandoned permit                half
 *
 *   release: step left out          comparison                why that is enough                            configurations
 *   ------------------------------  ------------------------  --------------------------------------------  ---------------
 *   which process is the caller?    owner[r] = cached owner   The cache is empty in a forked child, so the  cached-threads,
 *                                                             cached owner is this process.                 cached-handed
 *   is the hold still valid?        state[r] = hold's state   The state has the ticket, which no other      cached-handed
 *                                                             record's has.
 *   finish the last release         G's tag is record r's     See below: it is r's last release, which is   cached,
 *                                                             over.                                         cached-finished
 *   IDLE, then CLAIMED              none                      No process acts on an IDLE record while its   cached,
 *                                                             owner lives.                                  cached-finished
 *   wake waiters                    T = tickets,              No process has arrived since this hold did,   cached-lowered,
 *                                   C = capacity_word         and C enabled all before it.                  cached-set
 *   skip orphans, notify processes  pending is empty          `pending` says whether there are any.         cached-idle,
 *   that wait for idleness                                                                                  cached-quit
 *
 *   take and post: step left out    comparison                why that is enough                            configurations
 *   ------------------------------  ------------------------  --------------------------------------------  ---------------
 *   take: claim a record            none                      No process waits, so no process has to find   anonymous
 *                                                             the taker's place.
 *   take: finish the last arrival   T's tag is NONE           The last arrival had no record.               anonymous
 *   take: is it removed?            count <= C                As above.                                     (unit tests)
 *   post: wake, skip, notify        G's tag is NONE           No process sleeps or watches: see post.c.     post, post-dies
 *   post: check the range of E      E - T < FAST_POST_MAX     No number of threads can post from there to   (unit tests)
 *                                                             the end of the range between look and move.
 *
 * G's tag is never stale. If it names record r, its phase is that of r's last release, and state[r] has the other phase:
 * each release of r moves G once, with r's tag; the release phase of r flips with that move and at no other time; and a move
 * by another record, a post or a waiter replaces the tag. So G's tag with the phase flipped is the tag of r's next release,
 * and nothing is left to finish. The same holds for T and the arrival phase.
 *
 * The life of an uncontended hold, store by store. The last column says what a process does that finds the owner dead
 * after this store and before the next one (recover_record.c); a process that finds it alive does nothing but finish a tag.
 *
 *       store                            the segment then                            recovery
 *   --  -------------------------------  ------------------------------------------  ---------------------------------------
 *    0  (between two holds)              CLAIMED; T's tag is not (r, a)              no ticket: IDLE, record freed
 *    1  T += count, tag (r, a)           CLAIMED; T's tag is (r, a): unfinished      finishes the arrival: QUEUED(T - count),
 *                                                                                    enabled; then as a waiter that holds
 *    2  state = HELD(ticket)             HELD; T's tag is finished                   RELEASING, moves G, IDLE, record freed
 *    3  since = now                      as 2; `since` is for people to read         as 2
 *    4  state = RELEASING(ticket)        RELEASING; G's tag is not (r, b)            moves G, IDLE, record freed
 *    5  G += count, tag (r, b)           RELEASING; G's tag is (r, b): unfinished    finishes the release: IDLE, record freed
 *    6  gen = next generation            as 5; only after the last repeat of a       as 5: an IDLE with either generation is
 *                                        generation                                  one that the record never had
 *    7  state = CLAIMED, phases flipped  as 0                                        as 0
 *
 * A process that moves T after 1, or G after 5, and finds the tag unfinished writes QUEUED or IDLE for the owner. The
 * owner's next plain store follows that value and may overwrite it.
 *
 * What an acquire and a release cost is what stands between their two locked instructions. These wait for all loads and
 * stores before them, so no store stands in front of one where it can stand behind.
 */
#ifndef TSEM_LIB_FAST_H
#define TSEM_LIB_FAST_H

#include <pthread.h>
#include <string.h>

#include "handle.h"
#include "platform.h"
#include "probe.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* At most this many permits are posted by the fast path at once. */
enum { FAST_POST_MAX = 1 << 20 };

/* ---- what a thread keeps between two holds ---- */

/*
 * An entry of a handle's cache. It belongs to the thread whose number is in it, and only that thread touches the rest. When the
 * thread has ended, a later thread of the same number inherits the entry. The record stays in its entry while its hold
 * lasts.
 */
struct cached {
	_Alignas(LINE_BYTES) _Atomic uintptr_t thread;
	struct record *record;
	struct header *header;
	uint64_t claimed;       /* the record's state while it is ready for the next hold */
	uint64_t tickets;       /* T as the record's last arrival left it */
	uint64_t tag;           /* the record's, with phase 0 */
	uint64_t capacity_word; /* C, and nothing abandoned */
	uint64_t advance;       /* `count` as it is added to T and G */
	struct hold hold;       /* the next one, without its state */
	uint64_t owner;         /* this process */
	uint64_t second;        /* the one in which the fast path last wrote `since` */
	uint32_t count;         /* as in the record */
};

_Static_assert(offsetof(struct cached, hold) == LINE_BYTES,
               "the members that every acquire reads are in one cache line");

/* The entries of a handle whose cache would survive fork(): no thread ever owns one. */
extern struct cached cache_disabled[CACHE_ENTRIES];

/* A number that no two living threads of a process share. */
static inline uintptr_t
thread_number(void)
{
#if defined(__GNUC__) && !defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
	return (uintptr_t)__builtin_thread_pointer(); /* one instruction instead of a call */
#else
	return (uintptr_t)pthread_self();
#endif
}

/* Fibonacci hashing: thread numbers are addresses, whose low bits are alike. */
static inline size_t
cache_index(uintptr_t thread)
{
	_Static_assert(CACHE_ENTRIES == 16, "four bits");
	return (size_t)((uint32_t)thread * UINT32_C(0x9e3779b9) >> 28);
}

/* The entry that the thread uses, unless another thread owns it. */
static inline struct cached *
cache_place(const struct tsem *sem, uintptr_t thread)
{
	return sem->cache[cache_index(thread)];
}

/* The calling thread's entry; NULL if it has none. */
static inline struct cached *
cache_entry(const struct tsem *sem)
{
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(sem, self);
	return LOAD_RLX(&entry->thread) == self ? entry : NULL;
}

/* Whether the entry has a record that is ready for the next hold. Acquire: the record's other words are read afterwards. */
static inline bool
cache_is_ready(const struct cached *entry)
{
	return entry != NULL && LOAD_ACQ(&entry->record->state) == entry->claimed;
}

/* Allocates the entries of a new handle. False: no memory. */
bool cache_allocate(struct tsem *sem);
void cache_free(struct tsem *sem);

/* The calling thread's entry, which it takes if no other thread owns it; NULL if one does. */
struct cached *cache_take(struct tsem *sem);

/* Stores a record, CLAIMED and preset for the next hold, in the entry. */
void cache_store(struct cached *entry, struct tsem *sem, uint32_t index, struct record *record, uint64_t owner);

/* The entry has no record from now on. */
void cache_clear(struct cached *entry);

/* The same if its record is this one. The entry may be NULL. */
void cache_forget(struct cached *entry, const struct record *record);

/* ---- acquire ---- */

/* Acquires by the calling thread's entry, and returns it; or returns NULL, and the slow path has to. */
ALWAYS_INLINE struct cached *
fast_acquire(struct tsem *sem, uint32_t count, tsem_hold *out)
{
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(sem, self);
	/* Relaxed: only this thread ever stores its own number. Acquire: the state comes first of all that is read here. */
	if (LOAD_RLX(&entry->thread) != self || LOAD_ACQ(&entry->record->state) != entry->claimed)
		return NULL;
	struct header *header = entry->header;
	const uint64_t tickets = entry->tickets;
	/* Sequentially consistent, T before C, as in arrive(): a setter that lowers C relies on the CAS to fail if T moved. */
	if (LOAD_SEQ(&header->tickets) != tickets || LOAD_SEQ(&header->capacity_word) != entry->capacity_word
	    || entry->count != count)
		return NULL;
	/* 1. Sequentially consistent: an arrival's half of the Dekker pairs in protocol.h. */
	const uint64_t next = (tickets ^ 1) + entry->advance; /* the same tag, the other phase */
	if (!CAS_SEQ(&header->tickets, tickets, next))
		return NULL;
	/* The members are read again here, because a register that lives across the CAS would be saved before it. */
	PROBE_SEM(take, hold_sem(&entry->hold));
	/* 2. Release: a process that sees HELD sees `count`. A plain store: another process may only have written QUEUED. */
	const uint64_t held = (tickets & ~TAG_MASK) | (entry->claimed & STATE_PHASES) | STATE_HELD;
	STORE_REL(&entry->record->state, held);
	struct hold *hold = hold_inside(out);
	memcpy(hold, &entry->hold, offsetof(struct hold, state));
	hold->state = held;
	entry->tickets = next;
	return entry;
}

/*
 * 3. Writes since when the record is held, for the first hold of the thread in each second: the clock would cost a sixth of an
 * acquire and release. So `elapsed_ns` may be up to a second too long. Returns 0.
 */
int fast_stamp(struct cached *entry);

/* ---- release ---- */

enum fast_release {
	FAST_DONE,
	FAST_NOT_MOVED, /* the record is RELEASING, and G has not been moved: the slow path goes on from there */
	FAST_NOTIFY,    /* the release is over, and other processes may have to be woken */
};

/* The calling thread's entry if the hold may be released by it; otherwise NULL. */
ALWAYS_INLINE struct cached *
fast_release_entry(const struct hold *hold)
{
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(hold_sem(hold), self);
	/*
	 * Relaxed: only this thread stores its number, and only this process stores its owner word. Acquire, then sequentially
	 * consistent: T is read after the state, so T has not moved since the hold was acquired.
	 */
	if (LOAD_RLX(&entry->thread) != self || LOAD_RLX(&entry->record->owner) != entry->owner
	    || LOAD_ACQ(&entry->record->state) != hold->state || LOAD_SEQ(&entry->header->tickets) != entry->tickets)
		return NULL;
	return entry;
}

/* Releases the hold of the entry, whose state is `held`. `*grants`: G before the move. */
ALWAYS_INLINE enum fast_release
fast_release(struct cached *entry, uint64_t held, uint64_t *grants)
{
	/* 4. Release: a process that sees RELEASING sees the record as its holder left it. */
	STORE_REL(&entry->record->state, state_releasing(held));
	struct header *header = entry->header;
	*grants = LOAD_SEQ(&header->grants);
	/* 5. Sequentially consistent: a release's half of the Dekker pairs in protocol.h. */
	const uint64_t next = (*grants ^ 1) + entry->advance;
	if (((*grants ^ entry->tag) & TAG_MASK & ~UINT64_C(1)) != 0 || !CAS_SEQ(&header->grants, *grants, next))
		return FAST_NOT_MOVED;
	PROBE_SEM(post, hold_sem(&entry->hold));
	/* 6. Relaxed: the next store publishes it. */
	const uint64_t claimed = state_reused(entry->claimed);
	if (__builtin_expect(state_is_first_use(claimed), 0))
		STORE_RLX(&entry->record->gen, (uint32_t)state_value(claimed));
	/* 7. Release, as 2: `count` and `gen` belong to it. A plain store: another process may only have written IDLE. */
	STORE_REL(&entry->record->state, claimed);
	entry->claimed = claimed;
	/* Sequentially consistent, after the move of G: the other half of an arrival's "move T, then read E". */
	if ((LOAD_SEQ(&header->pending) & PENDING_MASK) != 0 || LOAD_SEQ(&header->tickets) != entry->tickets
	    || LOAD_SEQ(&header->capacity_word) != entry->capacity_word)
		return FAST_NOTIFY;
	return FAST_DONE;
}

/* ---- the anonymous pair ---- */

/* Takes if there is room and the last arrival had no record. False: the slow path has to. */
ALWAYS_INLINE bool
fast_take(struct tsem *sem, uint32_t count)
{
	struct header *header = sem->segment.header;
	/* Sequentially consistent, T before G before C, as in arrive(). */
	const uint64_t tickets = LOAD_SEQ(&header->tickets);
	const uint64_t next = counter_word_advance(tickets, count, TAG_NONE);
	const uint64_t grants = LOAD_SEQ(&header->grants) | TAG_MASK;
	const uint32_t capacity = LOAD_SEQ(&header->capacity);
	/* With the greatest tag there is, words compare as their counters do. A count of 0 is above any capacity, too. */
	if (!sem->segment.writable || (int64_t)(grants + counter_word_make(capacity, 0) - next) < 0 || count - 1 >= capacity
	    || counter_tag(tickets) < TAG_WATCHED_TOO || !CAS_SEQ(&header->tickets, tickets, next))
		return false;
	PROBE_SEM(take, sem);
	return true;
}

/* Posts if no process watches G, and nothing limits the post. False: the slow path has to. */
ALWAYS_INLINE bool
fast_post(struct tsem *sem, uint32_t count, const uint32_t *previous)
{
	struct header *header = sem->segment.header;
	/* Relaxed: if the CAS succeeds, G has not changed, and nothing else that the others change matters. */
	const uint64_t grants = LOAD_RLX(&header->grants);
	const uint32_t capacity = LOAD_RLX(&header->capacity);
	const uint64_t tickets = LOAD_RLX(&header->tickets);
	const uint64_t limit = counter_word_advance(grants, capacity, counter_tag(tickets));
	/* Unsigned: E is neither below T nor far above it. Without capacity the semaphore may be removed. */
	if (counter_tag(grants) != TAG_NONE || previous != NULL || count - 1 >= sem->fast_post_max || capacity == 0
	    || limit - tickets >= counter_word_make(FAST_POST_MAX, 0)
	    || !CAS_SEQ(&header->grants, grants, grants + counter_word_make(count, 0)))
		return false;
	PROBE_SEM(post, sem);
	return true;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The fast path: acquire, release, take and post while no other process takes part. A few words are read, and each
 * counter that moves takes one compare-and-swap. A function here that cannot go on says so, and its caller goes on by
 * the slow path.
 *
 * A thread keeps the record of its last hold for its next one: the record is CLAIMED in advance, and the thread's cache
 * entry (struct cached) remembers some words as they were then. Where a word still has that value, a step of the slow
 * path can be left out. "Cached x" below is the member x of the entry; the configurations are those of tests/model.
 *
 *   acquire: step left out        comparison               why that is enough                          configurations
 *   ----------------------------  -----------------------  ------------------------------------------  ---------------
 *   claim a record                state[r] = cached        A record never has the same CLAIMED state   cached,
 *                                 claimed                  twice, so no other use has begun since.     cached-repeats,
 *                                                                                                      cached-handed
 *   write the record's count,     count = cached count     The last claim wrote the count. The caching cached
 *   deadline and use                                       of the record wrote deadline and use.
 *   finish the last arrival       T = cached tickets       T has this record's own tag, of a use that  cached,
 *                                                          is over.                                    cached-threads
 *   read E: is there room?        T = cached tickets, C =  When the record was cached, there was room  cached,
 *                                 cached capacity          for `count` beyond T with this C. Each      cached-set
 *                                                          hold since has moved T and G alike, and
 *                                                          other moves of G only add room.
 *   is the semaphore removed?     C = cached capacity      The cached C is at least `count`, so not    (unit tests)
 *                                                          0, and a removal sets C to 0. If the
 *                                                          remover dies before that, the next slow
 *                                                          path does it.
 *   take over `abandoned`         capacity_word = cached   The word is C and `abandoned`, which is 0   abandoned
 *                                 capacity_word            in the cache.
 *   skip orphans                  T = cached tickets       E is beyond T: all tickets are enabled, so  cached-quit
 *                                                          no waiter needs an orphan's permits.
 *
 *   release: step left out        comparison               why that is enough                          configurations
 *   ----------------------------  -----------------------  ------------------------------------------  ---------------
 *   which process is the caller?  owner[r] = cached owner  The cache is empty in a forked child. (A    cached-threads,
 *                                                          child of vfork() must not release.)         cached-handed
 *   is the hold still valid?      state[r] = hold's state  The state has the ticket, which no other    cached-handed
 *                                                          hold has.
 *   finish the last release       G's tag is that of r's   It is over: see below. If the tag has the   cached,
 *                                 last release             other phase, another process has moved G    cached-finished
 *                                                          for this hold.
 *   IDLE, then CLAIMED            none                     Only recovery acts on an IDLE record, and   cached,
 *                                                          only if its owner is dead or HANDED.        cached-finished
 *   free the record               none                     Half of the table is never cached: idle     (unit tests)
 *                                                          threads keep no process out.
 *   wake waiters                  T = cached tickets, C =  No process has arrived since this hold      cached-lowered,
 *                                 cached capacity          did, and this C enabled all earlier         cached-set
 *                                                          tickets.
 *   skip orphans, wake those      pending is empty         `pending` says whether there are any.       cached-idle,
 *   that wait for idleness                                                                             cached-quit
 *
 *   take, post: step left out     comparison               why that is enough                          configurations
 *   ----------------------------  -----------------------  ------------------------------------------  ---------------
 *   take: finish the last         T's tag names no record  The last arrival had none.                  anonymous
 *   arrival
 *   take: is it removed?          count <= C               As for acquire.                             (unit tests)
 *   post: wake, skip, notify      G's tag is NONE          No process sleeps or watches: see post.c.   post, post-quit,
 *                                                                                                      idle-posted
 *   post: maximum, bound,         count <= fast_post_max   fast_post_max is 0 if the semaphore has a   (unit tests)
 *   read-only                                              maximum or a bound, or is read-only.
 *   post: is it removed?          C is not 0               As for acquire.                             (unit tests)
 *   post: the range of E - T      0 <= E - T, and E - T <  T and C may be older than G. Arrivals       (unit tests)
 *                                 FAST_POST_MAX            since only lessen E - T, and a raised C
 *                                                          adds less than 2^32, far from
 *                                                          COUNTER_DRIFT.
 *
 * G's tag is never stale. Each release of r moves G once and writes r's tag there. A release of another record, and a
 * waiter that is about to sleep, replace the tag. A post replaces or keeps it. So if G's tag names r, it is the tag of
 * r's last release. The release phase of r flips once for each release, with the store after the move. So once r is
 * CLAIMED again, G's tag and state[r] have different phases, and G's tag with its phase flipped is the tag of r's next
 * release. T's tag behaves likewise: the arrival phase flips once for each use, at its end.
 *
 * The stores are those of protocol.h, rows 0, 1, 3 to 6 and 8: `since` is written once a second, and `gen` (row 7 f)
 * once in 2,048 holds, because the repeats in the state count the rest. protocol.h says why a death between any two of
 * them does no harm, and what other processes may write into the record meanwhile.
 *
 * The cost of an acquire and a release is what stands before their two locked instructions, which wait for all earlier
 * loads and stores. So each store that need not precede a locked instruction is placed after it.
 */
#ifndef TSEM_LIB_FAST_H
#define TSEM_LIB_FAST_H

#include <pthread.h>
#include <string.h>

#include "protocol/handle.h"
#include "protocol/probe.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* At most this many permits are posted by the fast path at once. */
enum { FAST_POST_MAX = 1 << 20 };

/* ---- what a thread keeps between two holds ---- */

/*
 * An entry of a handle's cache. It belongs to the thread whose number is in it; only that thread and tsem_close() touch
 * the rest. When the thread has ended, a later thread of the same number inherits the entry. After fast_acquire(),
 * the record stays in its entry while its hold lasts, unless the thread caches another record meanwhile.
 */
struct cached {
	_Alignas(LINE_BYTES) _Atomic uintptr_t thread;
	struct record *record;
	struct header *header;
	uint64_t claimed;       /* the record's state while it is ready for the next hold */
	uint64_t tickets;       /* T as the record's last arrival left it */
	uint64_t tags_xor;      /* T's tag XOR G's tag, as they are before a release */
	uint64_t capacity_word; /* C, and nothing abandoned */
	uint64_t advance;       /* `count` as it is added to T and G */
	/* Another cache line: the next hold, without its state. */
	_Alignas(LINE_BYTES) struct hold hold;
	uint64_t owner;       /* this process */
	uint64_t second;      /* the one in which the fast path last wrote `since` */
	uint32_t count;       /* as in the record */
	_Atomic bool is_busy; /* see cache_begin() */
};

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

/*
 * The entry that the thread uses, unless another thread owns it. Fibonacci hashing: thread numbers are addresses, whose
 * low bits are alike.
 */
static inline struct cached *
cache_place(const struct tsem *sem, uintptr_t thread)
{
	_Static_assert(CACHE_ENTRIES == 16, "four bits");
	return sem->cache[(uint32_t)thread * UINT32_C(0x9e3779b9) >> 28];
}

/* The calling thread's entry; NULL if it has none, or if the caller is a signal handler that interrupts its use. */
static inline struct cached *
cache_entry(const struct tsem *sem)
{
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(sem, self);
	return LOAD_RLX(&entry->thread) == self && !LOAD_RLX(&entry->is_busy) ? entry : NULL;
}

/*
 * Between these two calls, a tsem_release() in a signal handler of the thread leaves the entry alone. If the handler leaves
 * by longjmp(), the thread never uses the entry again. At other times, a handler may use the record that the thread holds,
 * and store another one in an entry that is not ready.
 */
static inline void
cache_begin(struct cached *entry)
{
	STORE_RLX(&entry->is_busy, true);
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void
cache_end(struct cached *entry)
{
	atomic_signal_fence(memory_order_seq_cst);
	STORE_RLX(&entry->is_busy, false);
}

/*
 * Whether the entry has a record that is ready for the next hold. Acquire: the record's other words are read
 * afterwards.
 */
static inline bool
cache_is_ready(const struct cached *entry)
{
	return entry != NULL && LOAD_ACQ(&entry->record->state) == entry->claimed;
}

/* Allocates the entries of a new handle. False: no memory. */
bool cache_allocate(struct tsem *sem);
void cache_free(struct tsem *sem);

/* As cache_entry(); the thread takes the entry if no other one owns it. */
struct cached *cache_take(struct tsem *sem);

/* Stores a record in the entry. The caller has made the record's state `claimed`. */
void cache_store(struct cached *entry, struct tsem *sem, const struct claim *claim, uint64_t claimed);

/* The entry has no record from now on. */
void cache_clear(struct cached *entry);

/* The same if its record is this one. The entry may be NULL. */
void cache_forget(struct cached *entry, const struct record *record);

/* ---- acquire ---- */

/* Acquires by the calling thread's entry, and returns it for fast_acquired(); or returns NULL, and the slow path has to. */
ALWAYS_INLINE struct cached *
fast_acquire(struct tsem *sem, uint32_t count, tsem_hold *out)
{
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(sem, self);
	/*
	 * Relaxed: only this thread ever stores its own number. Acquire: the other words of the segment are read after the
	 * state.
	 */
	if (LOAD_RLX(&entry->thread) != self || LOAD_ACQ(&entry->record->state) != entry->claimed)
		return NULL;
	struct header *header = entry->header;
	const uint64_t tickets = entry->tickets;
	/*
	 * Sequentially consistent, T before C, as in arrive(): a setter that lowers C relies on the CAS to fail if T moved.
	 */
	if (LOAD_SEQ(&header->tickets) != tickets || LOAD_SEQ(&header->capacity_word) != entry->capacity_word
	    || entry->count != count)
		return NULL;
	/* 1. Sequentially consistent: an arrival's half of the Dekker pairs in protocol.h. */
	const uint64_t next = (tickets ^ 1) + entry->advance; /* the same tag, the other phase */
	if (!CAS_SEQ(&header->tickets, tickets, next))
		return NULL;
	/*
	 * The entry's members are read again after the CAS. To keep them in registers, the compiler would have to save
	 * other registers before it.
	 */
	PROBE_SEM(take, hold_sem(&entry->hold));
	cache_begin(entry); /* the record stops being ready */
	/*
	 * 2. Release: a process that sees HELD sees `count`. A plain store is enough: what another process may have written
	 * meanwhile may be overwritten (see above).
	 */
	const uint64_t held = (tickets & ~TAG_MASK) | (entry->claimed & STATE_PHASES) | STATE_HELD;
	STORE_REL(&entry->record->state, held);
	struct hold *hold = hold_inside(out);
	memcpy(hold, &entry->hold, offsetof(struct hold, state));
	hold->state = held;
	entry->tickets = next;
	return entry;
}

/*
 * Ends fast_acquire(). 3. Stores the start time of the hold in `since`, for the first hold of the thread in each second: the
 * clock would cost a sixth of an acquire and release. So `elapsed_ns` may be up to a second too long. Returns 0.
 */
int fast_acquired(struct cached *entry);

/* ---- release ---- */

enum fast_release {
	FAST_DONE,
	FAST_NOT_MOVED, /* the record is RELEASING, and G has not been moved: the slow path goes on from there */
	FAST_NOTIFY,    /* the release is over, and other processes may have to be woken */
};

/* The calling thread's entry, after cache_begin(), if the hold may be released by it; otherwise NULL. */
ALWAYS_INLINE struct cached *
fast_release_entry(const struct hold *hold)
{
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(hold_sem(hold), self);
	/*
	 * Relaxed: only this thread stores its number, and only this process stores its owner word. Acquire, then
	 * sequentially consistent: T is read after the state. If T is still entry->tickets, T has not moved since the hold
	 * was acquired.
	 */
	if (LOAD_RLX(&entry->thread) != self || LOAD_RLX(&entry->is_busy))
		return NULL;
	cache_begin(entry);
	if (LOAD_RLX(&entry->record->owner) == entry->owner && LOAD_ACQ(&entry->record->state) == hold->state
	    && LOAD_SEQ(&entry->header->tickets) == entry->tickets)
		return entry;
	cache_end(entry);
	return NULL;
}

/* Releases the hold of the entry, whose state is `held`. `*grants`: G before the move. The caller ends the use of the entry. */
ALWAYS_INLINE enum fast_release
fast_release(struct cached *entry, uint64_t held, uint64_t *grants)
{
	/* 4. Release: a process that sees RELEASING sees the record as its holder left it. */
	STORE_REL(&entry->record->state, state_releasing(held));
	struct header *header = entry->header;
	*grants = LOAD_SEQ(&header->grants);
	/* 5. Sequentially consistent: a release's half of the Dekker pairs in protocol.h. */
	const uint64_t next = (*grants ^ 1) + entry->advance;
	if ((uint16_t)(*grants ^ entry->tickets) != (uint16_t)entry->tags_xor || !CAS_SEQ(&header->grants, *grants, next))
		return FAST_NOT_MOVED;
	PROBE_SEM(post, hold_sem(&entry->hold));
	/* 6. Relaxed: the next store publishes it. */
	const uint64_t claimed = state_reused(entry->claimed);
	if (__builtin_expect(state_is_first_use(claimed), 0))
		STORE_RLX(&entry->record->gen, (uint32_t)state_value(claimed));
	/* 7. Release, as 2: `count` and `gen` belong to it. A plain store, as 2. */
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
	/*
	 * The local copy of G has the tag NONE, as `next` does, so the words compare as their counters do. If `count` is 0,
	 * `count - 1` wraps round and is never below C.
	 */
	if (!sem->segment.writable || (int64_t)(grants + counter_word_make(capacity, 0) - next) < 0 || count - 1 >= capacity
	    || counter_tag(tickets) < TAG_WATCHED_FIRST || !CAS_SEQ(&header->tickets, tickets, next))
		return false;
	PROBE_SEM(take, sem);
	return true;
}

/* Posts if no process watches G, and nothing limits the post. False: the slow path has to. */
ALWAYS_INLINE bool
fast_post(struct tsem *sem, uint32_t count, const uint32_t *previous)
{
	struct header *header = sem->segment.header;
	/* Relaxed: if the CAS succeeds, G has not changed. The table above says why T and C may be old. */
	const uint64_t grants = LOAD_RLX(&header->grants);
	const uint32_t capacity = LOAD_RLX(&header->capacity);
	const uint64_t tickets = LOAD_RLX(&header->tickets);
	const uint64_t limit = counter_word_advance(grants, capacity, counter_tag(tickets));
	/* Unsigned: E is neither below T nor far above it. If C is 0, the semaphore may have been removed. */
	if (counter_tag(grants) != TAG_NONE || previous != NULL || count - 1 >= sem->fast_post_max || capacity == 0
	    || limit - tickets >= counter_word_make(FAST_POST_MAX, 0)
	    || !CAS_SEQ(&header->grants, grants, grants + counter_word_make(count, 0)))
		return false;
	PROBE_SEM(post, sem);
	return true;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The parts of a segment, and the meaning of each word in it.
 *
 * A segment is a file that the processes which use the semaphore map shared, or other memory that they share
 * (tsem_init_at()). A read-only handle maps nothing, and reads the file. The parts are:
 *
 *     header          one page: identity, the counters, hints, flags, statistics
 *     waiting array   4,096 futex words that waiters sleep on
 *     slots           which hold has which of the numbers from 0 on
 *     owner records   one cache line each; the table grows by whole pages up to 32,766 records
 *
 * Terms
 *
 *     ticket                     the number of one requested permit; a waiter for n permits takes n in a row, and its
 *                                first one names it
 *     T                          the number of tickets taken, modulo 2^48
 *     G                          grants: the number of permits given back or posted, modulo 2^48
 *     C                          the capacity
 *     drained                    with a capacity of 0
 *     creator's number           the permits that the semaphore was created with
 *     E                          G + C, the limit: ticket t of a waiter for n permits is *enabled* once E - t >= n
 *     E has come to ticket t     E - t >= 0: all tickets before t are enabled
 *     record                     says which process has which ticket
 *     owner                      the process that a record belongs to; also the word that names it
 *     state                      what a record is used for at present; also the word that says so
 *     hold                       permits that are recorded for their owner
 *     void                       of a hold: released, handed over, or never acquired
 *     lent                       of a hold: another process owns it, until the lender ends the loan
 *     tag                        the part of T and G that names the record for which the counter was moved
 *     phase                      one bit that tells two consecutive uses of a record apart
 *     finish                     to write the state that another process has not written yet after its move of T or G;
 *                                the tag names the record
 *     admit                      to let a waiter have its permits
 *     finisher, setter, remover  a process that finishes a tag, changes C, or removes the semaphore
 *     anonymous                  taken by tsem_take(): recorded for no process
 *     bounded                    of a semaphore: a post only gives back what was taken anonymously
 *     gen                        the generation: counts the uses of a record, together with the repeats of its state
 *     orphan                     the ticket of a waiter that gave up
 *     skip                       to release a ticket that no waiter uses: G moves by its permits
 *     abandoned                  a permit came back from a dead holder, and no later holder has been told so yet
 *     cancelled                  of a waiter: another process has told it to give up
 *     declared                   of a waiter: a user has declared its owner dead, which no process can judge. The ticket
 *                                is skipped like an orphan, and the record stays its owner's until that notices or is
 *                                certainly dead
 *     cached record              a record that a thread keeps for its next hold
 *     fast path                  what a call does while no other process takes part (lib/protocol/fast.h); everything else is
 *                                the slow path
 *     pending                    the word that says whether there are orphans, with a hint at the lowest one, and
 *                                whether a process waits for idleness
 *     slot                       a number that one live hold has, for resources that come in numbered pieces
 *     waiting-array word         what a waiter sleeps on: a sequence number, which changes with each wake-up, and
 *                                `posted`, by which a post says beforehand that it enables a ticket
 *     presence lock              by which other PID namespaces notice a process's death (lib/records/presence.h)
 *     look                       what a sleeping process does from time to time: it looks for dead owners (lib/recovery/look.h)
 *
 * T and G contain a tag, mostly that of the record that moved them last:
 *
 *     bits    63 ........ 16  15 .... 1   0
 *             counter         record      phase        tag NONE: all 16 bits set
 *
 * G's tag may also be one of three WATCHED values: a process sleeps in the queue, or watches the counters for another
 * reason, so a post must look for sleepers before it moves G. While G's tag is NONE, no process needs this
 * (lib/calls/post.c says how).
 *
 * The owner word of a record:
 *
 *     bits    63 62   61 .. 40   39 ......... 0
 *     FREE     0  0      0             0            no owner; may be claimed
 *     PROCESS  0  0     pid       l, ns, start      claimed by that process, or adopted by that child;
 *                                                   l: OWNER_LOCKED, ns: part of the PID namespace's number
 *     HANDED   0  1     pid       ticket            handed over to that process; its start time is in `start`
 *     ORPHAN   1  0        ticket (48 bits)         the owner gave the ticket up: counts as dead
 *
 * HANDED and ORPHAN have the ticket, so that no owner word comes twice in one record while a slow process may still
 * compare with the old one. Only a live process writes its own PROCESS word again.
 *
 * The state word of a record:
 *
 *     bits    63 ........ 16    15 .. 5     4   3   2 .. 0
 *             value             repeats     b   a   kind
 *
 *     kind        value    meaning                         next kind, and which process may write it
 *     IDLE        gen      not in use                      CLAIMED: owner
 *     CLAIMED     gen      takes a ticket, or is cached    QUEUED: owner, or finisher of T's tag. HELD: owner.
 *                                                          IDLE: owner or recovery, without a ticket; owner, with a
 *                                                          ticket, after an anonymous take
 *     QUEUED      ticket   has its ticket, enabled or not  HELD: owner, or a setter that lowers C. IDLE: owner, if
 *                                                          anonymous. RELEASING: recovery. QUEUED, CANCELLED or
 *                                                          DECLARED: any process
 *     HELD        ticket   admitted                        RELEASING: owner; any process if HANDED; recovery.
 *                                                          HELD, repeats + 1: the child that adopts it.
 *                                                          IDLE: owner, if anonymous (a setter has written HELD)
 *     RELEASING   ticket   its permits go back into G      IDLE: any process that has moved G or found it moved, or
 *                                                          finisher of G's tag. CLAIMED: owner that caches it
 *
 *     a, b        the phases of the arrival (in T's tag) and of the release (in G's tag) of this use. b flips after the
 *                 release; a flips at the end of the use
 *     repeats     HELD: how often a child has adopted the hold. So the compare-and-swap of a process that judged the
 *                 parent dead fails after the adoption.
 *                 CLAIMED: how often the owner has reused the record since it wrote `gen`. So a CLAIMED state of a
 *                 record comes again only after 2^43 uses (2^32 on the slow path), and `gen`
 *                 mostly need not be written.
 *                 QUEUED: STATE_CANCELLED, STATE_DECLARED, or 0
 *
 * A tag {r, phase} in T is *unfinished* while record r is CLAIMED with a == phase; one in G, while r is RELEASING with
 * b == phase. No process overwrites an unfinished tag. lib/protocol/protocol.h has the steps and their reasons.
 */
#ifndef TSEM_SHM_LAYOUT_H
#define TSEM_SHM_LAYOUT_H

#include <stddef.h>

#include "atomic.h"

enum {
	LAYOUT_VERSION = 1,
	PAGE_BYTES = 4096, /* of the layout; the pages of the machine may be larger */
	LINE_BYTES = 64,
	ARRAY_WORDS = 4096,
	SLOTS_MAX = 1024,
	RECORDS_MAX = 32766,
	LOOKS = 4,
	RECORDS_PER_PAGE = PAGE_BYTES / LINE_BYTES,
	HISTOGRAM_BINS = 48,
	NO_RECORD = RECORDS_MAX,
};

#define LAYOUT_MAGIC \
	UINT64_C(0x016d68736d657374) /* "tsemshm\1" on a little-endian machine, and something else on a big-endian one */

/* ---- counters ---- */

#define COUNTER_SHIFT 16
#define COUNTER_MASK ((UINT64_C(1) << 48) - 1)
#define TAG_MASK UINT64_C(0xffff)
#define TAG_NONE UINT64_C(0xffff)
#define TAG_WATCHED_FIRST UINT64_C(0xfffc)
#define TAG_WATCHED_LAST UINT64_C(0xfffe)

/* T and E never differ by more than this, so that signed differences of 48 bits keep their sign. */
#define COUNTER_DRIFT (INT64_C(1) << 46)

static inline uint64_t
counter_word_make(uint64_t counter, uint64_t tag)
{
	return counter << COUNTER_SHIFT | tag;
}

static inline uint64_t
counter_value(uint64_t word)
{
	return word >> COUNTER_SHIFT;
}

static inline uint64_t
counter_tag(uint64_t word)
{
	return word & TAG_MASK;
}

/* The same counter, another tag. */
static inline uint64_t
counter_word_retag(uint64_t word, uint64_t tag)
{
	return (word & ~TAG_MASK) | tag;
}

static inline bool
tag_is_watched(uint64_t tag)
{
	return tag >= TAG_WATCHED_FIRST && tag <= TAG_WATCHED_LAST;
}

/* The counter plus n, and another tag. */
static inline uint64_t
counter_word_advance(uint64_t word, uint32_t n, uint64_t tag)
{
	return ((word & ~TAG_MASK) + ((uint64_t)n << COUNTER_SHIFT)) | tag;
}

static inline uint64_t
tag_make(uint32_t record, unsigned phase)
{
	return (uint64_t)record << 1 | phase;
}

static inline uint32_t
tag_record(uint64_t tag)
{
	return (uint32_t)(tag >> 1);
}

static inline unsigned
tag_phase(uint64_t tag)
{
	return (unsigned)(tag & 1);
}

/* a + n, modulo 2^48. */
static inline uint64_t
counter_add(uint64_t a, uint64_t n)
{
	return (a + n) & COUNTER_MASK;
}

/* a - b, modulo 2^48 and signed: how far a is ahead of b. */
static inline int64_t
counter_diff(uint64_t a, uint64_t b)
{
	return (int64_t)((a - b) << COUNTER_SHIFT) >> COUNTER_SHIFT; /* every supported compiler shifts arithmetically */
}

/* ---- owner ---- */

#define PID_BITS 22 /* the kernel's PID_MAX_LIMIT is 2^22 */
#define OWNER_LOW_BITS 40
#define OWNER_LOW_MASK ((UINT64_C(1) << OWNER_LOW_BITS) - 1)
#define OWNER_KIND_MASK (UINT64_C(3) << 62)
#define OWNER_KIND_PROCESS UINT64_C(0)
#define OWNER_KIND_HANDED (UINT64_C(1) << 62)
#define OWNER_KIND_ORPHAN (UINT64_C(1) << 63)
#define OWNER_LOCKED (UINT64_C(1) << 39) /* PROCESS: the process has a presence lock */
#define NAMESPACE_SHIFT 28
#define NAMESPACE_MASK UINT64_C(0x7ff)
#define START_MASK ((UINT64_C(1) << NAMESPACE_SHIFT) - 1)

/*
 * A start time is in clock ticks since boot, as field 22 of /proc/PID/stat says in the initial time namespace; 0 where
 * that is not known. START_RULE stands for this sentence in the fingerprint: builds that measure start times
 * differently would take each other's processes for dead.
 */
#define START_RULE 3U

/* A start time in 28 bits, in which it repeats after 31 days: 0 if it is not known, else 1 to START_MASK. */
static inline uint64_t
start_shorten(uint64_t start)
{
	return start == 0 ? 0 : (start - 1) % START_MASK + 1;
}

static inline uint64_t
owner_process(uint32_t pid, uint64_t start)
{
	return (uint64_t)pid << OWNER_LOW_BITS | (start & START_MASK);
}

/* The same process, in a PID namespace of this inode number: its lower 11 bits tell live namespaces apart. */
static inline uint64_t
owner_in_namespace(uint64_t owner, uint32_t pid_ns)
{
	return owner | (pid_ns & NAMESPACE_MASK) << NAMESPACE_SHIFT;
}

/* Whether a PROCESS word may be of this namespace, as far as both are known. */
static inline bool
owner_may_be_in(uint64_t owner, uint32_t pid_ns)
{
	const uint64_t bits = owner >> NAMESPACE_SHIFT & NAMESPACE_MASK;
	return bits == 0 || pid_ns == 0 || bits == (pid_ns & NAMESPACE_MASK);
}

/* The same process, whether or not it has a presence lock. */
static inline uint64_t
owner_unlocked(uint64_t owner)
{
	return owner & ~OWNER_LOCKED;
}

static inline uint64_t
owner_handed(uint32_t pid, uint64_t ticket)
{
	return OWNER_KIND_HANDED | (uint64_t)pid << OWNER_LOW_BITS | (ticket & OWNER_LOW_MASK);
}

static inline uint64_t
owner_orphan(uint64_t ticket)
{
	return OWNER_KIND_ORPHAN | (ticket & COUNTER_MASK);
}

static inline uint64_t
owner_kind(uint64_t owner)
{
	return owner & OWNER_KIND_MASK;
}

static inline uint32_t
owner_pid(uint64_t owner)
{
	return (uint32_t)(owner >> OWNER_LOW_BITS) & ((1U << PID_BITS) - 1);
}

static inline uint64_t
owner_start(uint64_t owner)
{
	return owner & START_MASK;
}

/* ---- state ---- */

enum state_kind { STATE_IDLE = 0, STATE_CLAIMED, STATE_QUEUED, STATE_HELD, STATE_RELEASING };

#define STATE_KIND_MASK UINT64_C(7)
#define STATE_ARRIVAL_PHASE (UINT64_C(1) << 3)
#define STATE_RELEASE_PHASE (UINT64_C(1) << 4)
#define STATE_PHASES (STATE_ARRIVAL_PHASE | STATE_RELEASE_PHASE)
#define STATE_REPEAT_SHIFT 5
#define STATE_REPEAT_ONE (UINT64_C(1) << STATE_REPEAT_SHIFT)
#define STATE_REPEAT_MASK (UINT64_C(0x7ff) << STATE_REPEAT_SHIFT)

/* QUEUED: the waiter is to give up. */
#define STATE_CANCELLED STATE_REPEAT_ONE
/* QUEUED: the same, and any process may skip its ticket. */
#define STATE_DECLARED (STATE_REPEAT_ONE << 1)

/* The same phases, another kind and value, and no repeats. */
static inline uint64_t
state_next(uint64_t state, enum state_kind kind, uint64_t value)
{
	return (value & COUNTER_MASK) << COUNTER_SHIFT | (state & STATE_PHASES) | (uint64_t)kind;
}

/* HELD -> RELEASING, everything else unchanged. */
static inline uint64_t
state_releasing(uint64_t state)
{
	return state + 1;
}

/*
 * The CLAIMED of the next use of a cached record: both phases flipped, and one more repeat. After the last repeat comes
 * the next `gen`, which the owner writes before this state.
 */
static inline uint64_t
state_reused(uint64_t claimed)
{
	return (claimed ^ STATE_PHASES) + STATE_REPEAT_ONE;
}

static inline bool
state_is_first_use(uint64_t state)
{
	return (state & STATE_REPEAT_MASK) == 0;
}

/* HELD, adopted once more. */
static inline uint64_t
state_adopted(uint64_t state)
{
	return (state & ~STATE_REPEAT_MASK) | ((state + STATE_REPEAT_ONE) & STATE_REPEAT_MASK);
}

static inline unsigned
state_kind(uint64_t state)
{
	return (unsigned)(state & STATE_KIND_MASK);
}

static inline bool
state_is_declared(uint64_t state)
{
	return state_kind(state) == STATE_QUEUED && (state & STATE_DECLARED) != 0;
}

/* Whether the waiter is to give up. */
static inline bool
state_is_cancelled(uint64_t state)
{
	return state_kind(state) == STATE_QUEUED && (state & (STATE_CANCELLED | STATE_DECLARED)) != 0;
}

/* Of a waiter that lives: another process has skipped its ticket, or may do so. */
static inline bool
state_is_skipped(uint64_t state)
{
	return state_is_declared(state) || state_kind(state) == STATE_IDLE || state_kind(state) == STATE_RELEASING;
}

static inline unsigned
state_arrival_phase(uint64_t state)
{
	return (state & STATE_ARRIVAL_PHASE) != 0;
}

static inline unsigned
state_release_phase(uint64_t state)
{
	return (state & STATE_RELEASE_PHASE) != 0;
}

static inline uint64_t
state_value(uint64_t state)
{
	return state >> COUNTER_SHIFT;
}

_Static_assert(STATE_HELD + 1 == STATE_RELEASING, "state_releasing()");

/* ---- waiting array ---- */

/*
 * Its words:
 *
 *     bits    31 ... 16   15 ... 2          1         0
 *             posted      sequence number   SEVERAL   SLEEPERS
 *
 * While a waiter sleeps there, one of the two bits is set, whatever process dies at whatever step; while several sleep,
 * SEVERAL is set. SEVERAL is set alone while they are being woken, until another waiter announces itself.
 *
 * `posted` is (t / 4,096) + 1, modulo 2^16, for the ticket t that the last post on this word is about to enable, or has
 * enabled; 0: none. A post writes it before it moves G, because it may not touch the word afterwards.
 */
#define WORD_SLEEPERS 1U
#define WORD_SEVERAL 2U
#define WORD_SLEEPER_BITS (WORD_SLEEPERS | WORD_SEVERAL)
#define WORD_STEP 4U
#define WORD_SEQUENCE_MASK 0xfffcU
#define WORD_POSTED_SHIFT 16

/* The next sequence number, everything else unchanged. */
static inline uint32_t
word_next_sequence(uint32_t word)
{
	return (word & ~WORD_SEQUENCE_MASK) | ((word + WORD_STEP) & WORD_SEQUENCE_MASK);
}

/*
 * Odd, so that 4,096 consecutive tickets have different words; above 16, so that neighbours are in different cache
 * lines. The ticket-aware hash of Dice and Kogan, with a salt, so that semaphores do not all begin on the same line.
 */
#define HASH_MULTIPLIER 17U

static inline uint32_t
word_index(uint64_t ticket, uint32_t hash_salt)
{
	return ((uint32_t)ticket * HASH_MULTIPLIER + hash_salt) & (ARRAY_WORDS - 1);
}

/* Tickets that share a word sleep on different bits of it, up to 32 rounds of the array. */
static inline uint32_t
word_bit(uint64_t ticket)
{
	return 1U << ((ticket / ARRAY_WORDS) & 31);
}

static inline uint32_t
word_round(uint64_t ticket)
{
	return (uint32_t)(ticket / ARRAY_WORDS + 1) & 0xffff;
}

/* The word after a post has written that it is about to enable `ticket`. */
static inline uint32_t
word_posted(uint32_t word, uint64_t ticket)
{
	return (word_next_sequence(word) & ((1U << WORD_POSTED_SHIFT) - 1)) | word_round(ticket) << WORD_POSTED_SHIFT;
}

static inline bool
word_is_posted(uint32_t word, uint64_t ticket)
{
	return word >> WORD_POSTED_SHIFT == word_round(ticket);
}

/* ---- the capacity word ---- */

/* `capacity_word` for this capacity, with nothing abandoned. */
static inline uint64_t
capacity_word_make(uint32_t capacity)
{
	const union {
		uint32_t halves[2];
		uint64_t both;
	} word = {.halves = {capacity, 0}};
	return word.both;
}

/* ---- pending ---- */

/*
 * What a process that moved G has to look after, apart from the waiters that it enables, in one word: mostly one load
 * shows that there is nothing.
 *
 *     bits    63 ........ 16   15 .. 3    2         1        0
 *             ticket           version    HOLDERS   IDLE     ORPHANS
 *
 *     ORPHANS    there are orphans; `ticket` is the lowest one, as far as is known
 *     IDLE       a process sleeps on `idle` until no process holds or waits
 *     HOLDERS    a process sleeps on `idle` until no process holds
 *     version    advances with every change of `ticket`
 */
#define PENDING_ORPHANS UINT64_C(1)
#define PENDING_IDLE UINT64_C(2)
#define PENDING_HOLDERS UINT64_C(4)
#define PENDING_MASK UINT64_C(7)
#define PENDING_VERSION_ONE UINT64_C(8)

/* Another ticket, or none, and the next version; the other bits as they are. */
static inline uint64_t
pending_next(uint64_t pending, bool orphans, uint64_t ticket)
{
	const uint64_t low = ((pending + PENDING_VERSION_ONE) & TAG_MASK & ~PENDING_ORPHANS) | orphans;
	return counter_word_make(ticket, low);
}

/* ---- looks and called ---- */

/*
 * `looks` tells processes of a PID namespace that one of them has looked for dead owners: the number of the namespace in
 * the upper half, and in the lower half when the look began, in ms of CLOCK_MONOTONIC, modulo 2^32. A namespace has
 * entry number % LOOKS. `called` is a word of counter_word_make(): the time in units of TICK (lib/recovery/look.h), and the number
 * of calls so far, modulo 2^16.
 */
static inline uint64_t
look_make(uint32_t pid_ns, uint32_t ms)
{
	return (uint64_t)pid_ns << 32 | ms;
}

static inline uint32_t
look_namespace(uint64_t look)
{
	return (uint32_t)(look >> 32);
}

static inline uint32_t
look_ms(uint64_t look)
{
	return (uint32_t)look;
}

/* ---- slots ---- */

/* A slot names the hold that has it, and is free once that record is no longer HELD under that ticket. */
static inline uint64_t
slot_make(uint64_t ticket, uint32_t record)
{
	return ticket << 16 | (record + 1);
}

static inline uint64_t
slot_ticket(uint64_t slot)
{
	return slot >> 16;
}

/* RECORDS_MAX or more stands for no record, as in a slot that no hold ever had. */
static inline uint32_t
slot_record(uint64_t slot)
{
	return (uint32_t)(slot & 0xffff) - 1;
}

/* ---- the segment ---- */

struct record {
	_Atomic uint64_t owner;
	_Atomic uint64_t state;
	_Atomic uint32_t gen;
	_Atomic uint32_t count; /* permits */
	_Atomic uint64_t
		start; /* HANDED: the owner's start time. PROCESS: the owner word again, once pid_ns is the owner's */
	_Atomic uint64_t since;  /* CLOCK_MONOTONIC ns of the arrival, and then of the admission */
	_Atomic uint64_t until;  /* a waiter's deadline, CLOCK_MONOTONIC ns; 0: none */
	_Atomic uint32_t pid_ns; /* inode number of the PID namespace that the owner's pid was read in */
	uint32_t pad;
	_Atomic uint32_t uid;
	_Atomic uint32_t use; /* enum use */
};

/*
 * What a record is claimed for. T, G and the states do not depend on it. It decides what a death means: only a HOLD or
 * a COMMAND that was killed has abandoned its permits, and a COMMAND that ended by itself has not. The record of a TAKE
 * is not shown as a holder. tsem_release_for() leaves a COMMAND to the process that looks after it.
 */
enum use { USE_HOLD = 0, USE_TAKE, USE_COMMAND /* a process looks after the owner, which is a command */ };

struct statistics {
	_Atomic uint64_t contended;    /* waits that neither the arrival nor a short spin ended */
	_Atomic uint64_t wait_total;   /* ns */
	_Atomic uint64_t wait_longest; /* ns */
	_Atomic uint64_t recovered;    /* permits that came back from dead holders */
	_Atomic uint64_t timeouts;     /* waits that were given up: deadline, signal, cancellation or removal */
	_Atomic uint64_t handed_over;
	_Atomic uint64_t histogram[HISTOGRAM_BINS]; /* of wait times: the smallest i with a time below 2^i us is its bin */
};

struct header {
	/* The identity, which never changes once the name is visible. */
	_Atomic uint64_t magic;
	_Atomic uint32_t version;
	_Atomic uint32_t fingerprint;
	unsigned char uuid[16];
	int64_t created; /* seconds since the Epoch */
	uint32_t uid;
	uint32_t permits; /* the creator's number, which later callers must name, too */
	uint32_t max;
	uint32_t bounded; /* not 0: a post only gives back what was taken anonymously */
	uint32_t pad0[2];

	/* The line of the counters. */
	_Alignas(LINE_BYTES) _Atomic uint64_t tickets; /* T */
	_Atomic uint64_t grants;                       /* G */
	union {
		struct {
			_Atomic uint32_t capacity;  /* C */
			_Atomic uint32_t abandoned; /* not 0: the next holder has to be told */
		};
		_Atomic uint64_t capacity_word; /* both at once */
	};
	_Atomic uint32_t capacity_version; /* how often C was stored */
	uint32_t pad1[9];

	/* Hints: any value is safe, and a wrong one costs time. But `reserved` is never too large, and only grows. */
	_Alignas(LINE_BYTES) _Atomic uint32_t free_hint; /* where to look for a free record first */
	_Atomic uint32_t reserved;                       /* records whose pages exist */
	_Atomic uint64_t pending;
	_Atomic uint64_t called;       /* when waiters were last woken to judge owners, and how often */
	_Atomic uint64_t looks[LOOKS]; /* for dead owners: the last ones that are complete */
	_Atomic uint32_t line;         /* how many waited at the last look */
	_Atomic uint32_t holders;      /* how many held then */

	/* Events. */
	_Alignas(LINE_BYTES) _Atomic uint32_t idle; /* futex: processes wait until no process holds */
	_Atomic uint32_t cancels;                   /* how often all waits were cancelled */
	_Atomic uint32_t removed;                   /* not 0: the semaphore is removed */
	_Atomic uint32_t pid_ns;                    /* that of the first owner */
	_Atomic uint32_t unlocks;                   /* how often a live process released a presence lock, or was about to */
	_Atomic uint32_t mixed_pid_ns;              /* not 0: there was an owner in another PID namespace, too */
	_Atomic uint32_t nameless;                  /* not 0: the file has no name any more, and the semaphore lives on */
	uint32_t pad4[9];

	_Alignas(LINE_BYTES) struct statistics statistics;
	uint32_t pad5[4];

	/* The process that owns this record, and no other, may unlink the name. */
	_Alignas(LINE_BYTES) struct record remover;
};

#define ARRAY_OFFSET ((size_t)PAGE_BYTES)
#define SLOTS_OFFSET (ARRAY_OFFSET + (size_t)ARRAY_WORDS * 4)
#define RECORDS_OFFSET (SLOTS_OFFSET + (size_t)SLOTS_MAX * 8)
#define SEGMENT_BYTES_MIN (RECORDS_OFFSET + PAGE_BYTES)
#define SEGMENT_BYTES_MAX (RECORDS_OFFSET + ((size_t)RECORDS_MAX + 2) * LINE_BYTES)

/*
 * Every member: structure, name, offset. There are no gaps, and tests/unit/test_layout.c checks that every byte of the
 * structures is in a member that is listed here.
 */
#define LAYOUT_MEMBERS(X)           \
	X(header, magic, 0)             \
	X(header, version, 8)           \
	X(header, fingerprint, 12)      \
	X(header, uuid, 16)             \
	X(header, created, 32)          \
	X(header, uid, 40)              \
	X(header, permits, 44)          \
	X(header, max, 48)              \
	X(header, bounded, 52)          \
	X(header, pad0, 56)             \
	X(header, tickets, 64)          \
	X(header, grants, 72)           \
	X(header, capacity, 80)         \
	X(header, abandoned, 84)        \
	X(header, capacity_word, 80)    \
	X(header, capacity_version, 88) \
	X(header, pad1, 92)             \
	X(header, free_hint, 128)       \
	X(header, reserved, 132)        \
	X(header, pending, 136)         \
	X(header, called, 144)          \
	X(header, looks, 152)           \
	X(header, line, 184)            \
	X(header, holders, 188)         \
	X(header, idle, 192)            \
	X(header, cancels, 196)         \
	X(header, removed, 200)         \
	X(header, pid_ns, 204)          \
	X(header, unlocks, 208)         \
	X(header, mixed_pid_ns, 212)    \
	X(header, nameless, 216)        \
	X(header, pad4, 220)            \
	X(header, statistics, 256)      \
	X(header, pad5, 688)            \
	X(header, remover, 704)         \
	X(statistics, contended, 0)     \
	X(statistics, wait_total, 8)    \
	X(statistics, wait_longest, 16) \
	X(statistics, recovered, 24)    \
	X(statistics, timeouts, 32)     \
	X(statistics, handed_over, 40)  \
	X(statistics, histogram, 48)    \
	X(record, owner, 0)             \
	X(record, state, 8)             \
	X(record, gen, 16)              \
	X(record, count, 20)            \
	X(record, start, 24)            \
	X(record, since, 32)            \
	X(record, until, 40)            \
	X(record, pid_ns, 48)           \
	X(record, pad, 52)              \
	X(record, uid, 56)              \
	X(record, use, 60)

/* The constants that give words their meaning, or parts their places. */
#define LAYOUT_CONSTANTS(X) \
	X(ARRAY_WORDS)          \
	X(SLOTS_MAX)            \
	X(RECORDS_MAX)          \
	X(HISTOGRAM_BINS)       \
	X(HASH_MULTIPLIER)      \
	X(WORD_STEP)            \
	X(WORD_SEQUENCE_MASK)   \
	X(WORD_POSTED_SHIFT)    \
	X(TAG_WATCHED_FIRST)    \
	X(TAG_WATCHED_LAST)     \
	X(STATE_REPEAT_ONE)     \
	X(STATE_CANCELLED)      \
	X(STATE_DECLARED)       \
	X(STATE_CLAIMED)        \
	X(STATE_QUEUED)         \
	X(STATE_HELD)           \
	X(STATE_RELEASING)      \
	X(USE_TAKE)             \
	X(USE_COMMAND)          \
	X(OWNER_LOW_BITS)       \
	X(PENDING_VERSION_ONE)  \
	X(START_RULE)

#define LAYOUT_ASSERT(structure, member, offset) \
	_Static_assert(offsetof(struct structure, member) == (offset), #structure "." #member);
LAYOUT_MEMBERS(LAYOUT_ASSERT)
#undef LAYOUT_ASSERT

_Static_assert(sizeof(struct header) <= PAGE_BYTES, "the header is one page");
_Static_assert(sizeof(struct record) == LINE_BYTES, "a record is one cache line");
_Static_assert(PAGE_BYTES % sizeof(struct record) == 0, "records fill their pages");
_Static_assert(SEGMENT_BYTES_MIN <= 32 * 1024, "little memory at rest");
_Static_assert((RECORDS_MAX - 1) * 2 + 1 < TAG_WATCHED_FIRST, "no record's tag is one of the others");
_Static_assert(SEGMENT_BYTES_MAX % PAGE_BYTES == 0, "the table ends with a page");

/* The terms of the fingerprint are numbered, so that two that change places change the sum. */
#define LAYOUT_MEMBER_NUMBER(structure, member, offset) LAYOUT_NUMBER_##structure##_##member,
#define LAYOUT_CONSTANT_NUMBER(constant) LAYOUT_NUMBER_##constant,
enum { LAYOUT_MEMBERS(LAYOUT_MEMBER_NUMBER) LAYOUT_CONSTANTS(LAYOUT_CONSTANT_NUMBER) LAYOUT_NUMBERS };
#undef LAYOUT_MEMBER_NUMBER
#undef LAYOUT_CONSTANT_NUMBER

#define LAYOUT_TERM(number, value) (((uint32_t)(value) + 1U) * (2654435761U * (2U * (uint32_t)(number) + 1U)))
#define LAYOUT_MEMBER_TERM(structure, member, offset)                                                      \
	LAYOUT_TERM(LAYOUT_NUMBER_##structure##_##member,                                                      \
	            offsetof(struct structure, member) * PAGE_BYTES + sizeof(((struct structure *)0)->member)) \
	+
#define LAYOUT_CONSTANT_TERM(constant) LAYOUT_TERM(LAYOUT_NUMBER_##constant, constant) +

/* What two builds must agree on beyond the version. An attach refuses a segment with another fingerprint. */
#define LAYOUT_FINGERPRINT (LAYOUT_MEMBERS(LAYOUT_MEMBER_TERM) LAYOUT_CONSTANTS(LAYOUT_CONSTANT_TERM) 0U)

#endif

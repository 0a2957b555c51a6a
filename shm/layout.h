/* SPDX-License-Identifier: MIT */
/*
 * What lies where in a segment, and what each word means.
 *
 * A segment is one file, mapped shared by every participant:
 *
 *     header          one page: identity, the counter line, hints, flags, statistics
 *     waiting array   4,096 futex words that waiters sleep on
 *     slots           which holder has which of the numbers from 0 on
 *     owner records   who has which ticket; one cache line each, grows by whole pages up to 32,766 records
 *
 * The counters: T, tickets issued, and G, grants (permits given back or posted). Both only ever grow, modulo 2^48.
 * With C, the capacity, E = G + C; ticket t of a waiter for n permits is *enabled* once E - t >= n. Readers load G
 * first and C after it. T and G carry in the same word the tag of the record that moved them last:
 *
 *     bits    63 ........ 16  15 .... 1   0
 *             counter         record      phase         tag NONE: all 16 bits set
 *
 * G's tag may also be WATCHED or WATCHED_TOO: a process sleeps in the queue, or watches the counters for another reason, so
 * a post must look for sleepers before it moves G. While G's tag is NONE, no process does. lib/post.c has the rules.
 *
 * `owner` of a record, the owner:
 *
 *     bits    63 62   61 .. 40   39 ......... 0
 *     FREE     0  0      0             0            nobody; may be claimed
 *     OWNER    0  0     pid       start time        claimed by that process itself, or adopted by its child
 *     HANDED   0  1     pid       ticket            handed over to that process; its start time is in `start`
 *     ORPHAN   1  0        ticket (48 bits)         the owner gave its place up: dead for certain
 *
 * A HANDED or ORPHAN owner carries the ticket so that no value of `owner` ever comes twice in one record while a slow
 * helper may still hold the old one in its hands. (An OWNER value comes back only through its own live process.)
 *
 * `state` of a record, the state:
 *
 *     bits    63 ........ 16    15 .. 5   4   3   2 .. 0
 *             value             turn      b   a   state
 *
 *     state       value    meaning                              who may write the next state
 *     IDLE        gen      not in use                           owner -> CLAIMED
 *     CLAIMED     gen      about to take a ticket, or kept      owner or finisher of T's tag -> QUEUED, owner -> HELD,
 *                                                               owner or recoverer -> IDLE when no ticket was taken
 *     QUEUED      ticket   has its ticket, may not know more    owner -> HELD (or IDLE, anonymous), setter -> HELD,
 *                                                               recoverer -> RELEASING
 *     HELD        ticket   was admitted                         owner, or anybody for a HANDED one, or recoverer
 *                                                               -> RELEASING
 *     RELEASING   ticket   its permits go back into G           whoever moved G, or finisher of G's tag -> IDLE;
 *                                                               owner that keeps it -> CLAIMED
 *
 *     a, b        the phases of the next arrival (in T's tag) and release (in G's tag); each flips when used
 *     turn        HELD: how often the hold was adopted by a child; a recoverer that took the parent for dead before that
 *                 must fail when it acts on the hold after it. CLAIMED: how often its owner has claimed it for itself
 *                 again since it wrote `gen` down; so no state of a record comes twice, and mostly `gen` can stay
 *
 * A tag {r, phase} in T is *unfinished* while record r is CLAIMED with a == phase; one in G, while it is RELEASING with
 * b == phase. Nobody overwrites a tag before it is finished. lib/protocol.h has the rules and the reasons.
 */
#ifndef TSEM_SHM_LAYOUT_H
#define TSEM_SHM_LAYOUT_H

#include <stddef.h>

#include "atomic.h"

enum {
	LAYOUT_VERSION = 1,
	PAGE_BYTES = 4096, /* of the layout, whatever the machine's own pages are */
	LINE_BYTES = 64,
	ARRAY_WORDS = 4096,
	SLOTS_MAX = 1024,
	RECORDS_MAX = 32766,
	RECORDS_PER_PAGE = PAGE_BYTES / LINE_BYTES,
	HISTOGRAM_BINS = 48,
	NO_RECORD = RECORDS_MAX,
};

#define LAYOUT_MAGIC UINT64_C(0x016d68736d657374) /* "tsemshm\1" on a little-endian machine; refuses the other order */

/* ---- counters ---- */

#define COUNTER_SHIFT 16
#define COUNTER_MASK ((UINT64_C(1) << 48) - 1)
#define TAG_MASK UINT64_C(0xffff)
#define TAG_NONE UINT64_C(0xffff)
#define TAG_WATCHED UINT64_C(0xfffe)
#define TAG_WATCHED_TOO UINT64_C(0xfffd)

/* T and E never drift further apart than this, so that signed differences stay far from the sign bit of 48 bits. */
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
	return tag == TAG_WATCHED || tag == TAG_WATCHED_TOO;
}

/* The counter further by n, and another tag. */
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

/* a + n on the circle of 48 bits. */
static inline uint64_t
counter_add(uint64_t a, uint64_t n)
{
	return (a + n) & COUNTER_MASK;
}

/* a - b on the circle of 48 bits, signed: how far a is ahead of b. */
static inline int64_t
counter_diff(uint64_t a, uint64_t b)
{
	return (int64_t)((a - b) << COUNTER_SHIFT) >> COUNTER_SHIFT; /* arithmetic, in every compiler there is */
}

/* ---- who ---- */

#define PID_BITS 22 /* the kernel's PID_MAX_LIMIT is 2^22 */
#define OWNER_LOW_BITS 40
#define OWNER_LOW_MASK ((UINT64_C(1) << OWNER_LOW_BITS) - 1)
#define OWNER_KIND_MASK (UINT64_C(3) << 62)
#define OWNER_KIND_PROCESS UINT64_C(0)
#define OWNER_KIND_HANDED (UINT64_C(1) << 62)
#define OWNER_KIND_ORPHAN (UINT64_C(1) << 63)

/*
 * start: in clock ticks since boot, as field 22 of /proc/PID/stat in the time namespace that all processes begin in; 0
 * where that is not known. START_RULE stands for this sentence in the fingerprint: builds to which a start means
 * something else would rob one another.
 */
#define START_RULE 2U
static inline uint64_t
owner_process(uint32_t pid, uint64_t start)
{
	return (uint64_t)pid << OWNER_LOW_BITS | (start & OWNER_LOW_MASK);
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
	return owner & OWNER_LOW_MASK;
}

/* ---- what ---- */

enum state_kind { STATE_IDLE = 0, STATE_CLAIMED, STATE_QUEUED, STATE_HELD, STATE_RELEASING };

#define STATE_KIND_MASK UINT64_C(7)
#define STATE_ARRIVAL_PHASE (UINT64_C(1) << 3)
#define STATE_RELEASE_PHASE (UINT64_C(1) << 4)
#define STATE_PHASES (STATE_ARRIVAL_PHASE | STATE_RELEASE_PHASE)
#define STATE_REPEAT_SHIFT 5
#define STATE_REPEAT_ONE (UINT64_C(1) << STATE_REPEAT_SHIFT)
#define STATE_REPEAT_MASK (UINT64_C(0x7ff) << STATE_REPEAT_SHIFT)

/* The same phases, another state and value, and no turn. */
static inline uint64_t
state_next(uint64_t state, enum state_kind kind, uint64_t value)
{
	return (value & COUNTER_MASK) << COUNTER_SHIFT | (state & STATE_PHASES) | (uint64_t)kind;
}

/* HELD -> RELEASING, all else as it is. */
static inline uint64_t
state_releasing(uint64_t state)
{
	return state + 1;
}

/*
 * The CLAIMED of a record that its owner keeps, for the use after this one: both phases flipped, and the next turn.
 * After the last turn there is the next `gen`, which the owner has to write down before.
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

/* The same, adopted once more. */
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
 * A word of it:
 *
 *     bits    31 ... 16   15 ... 2          1         0
 *             posted      sequence number   SEVERAL   SLEEPERS
 *
 * While a waiter sleeps there, one of the two bits is set, whichever process dies at whatever step; while several do,
 * SEVERAL is. It stands alone while they are being woken, until another waiter announces itself.
 *
 * `posted` is the round of the array, plus one, of the ticket that the last post on this word is about to enable, or has
 * enabled: a post says so before it moves G, because afterwards it may not touch the word any more.
 */
#define WORD_SLEEPERS 1U
#define WORD_SEVERAL 2U
#define WORD_SLEEPER_BITS (WORD_SLEEPERS | WORD_SEVERAL)
#define WORD_STEP 4U
#define WORD_SEQUENCE_MASK 0xfffcU
#define WORD_POSTED_SHIFT 16

/* The next sequence number, all else as it is. */
static inline uint32_t
word_next_sequence(uint32_t word)
{
	return (word & ~WORD_SEQUENCE_MASK) | ((word + WORD_STEP) & WORD_SEQUENCE_MASK);
}

/* Odd, so that 4,096 tickets in a row have words of their own; over 16, so that neighbours have lines of their own
 * (the ticket-aware hash of Dice and Kogan, with a hash_salt so that semaphores do not all start on the same line). */
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

/* The word after a post has said that it enables `ticket`. */
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

/* ---- terms ---- */

/* What stands in the header when C is `capacity` and nobody has to be told of abandonment. */
static inline uint64_t
capacity_word_make(uint32_t capacity)
{
	const union {
		uint32_t halves[2];
		uint64_t both;
	} terms = {.halves = {capacity, 0}};
	return terms.both;
}

/* ---- concern ---- */

/*
 * One word for all that whoever moved G has to look after beyond waking those whom it enabled, so that mostly one load
 * tells that there is nothing:
 *
 *     bits    63 ........ 16   15 .. 3    2         1        0
 *             ticket           version    HOLDERS   IDLE     ORPHANS
 *
 *     ORPHANS    a place was given up; `ticket` is the lowest such, as far as known
 *     IDLE       somebody sleeps on `idle` until nobody holds or waits
 *     HOLDERS    somebody sleeps on `idle` until nobody holds
 *     version    moves with every change of `ticket`
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

/* ---- slots ---- */

/* A slot names the hold that has it, and is free once that record is not HELD under that ticket any more. */
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

/* RECORDS_MAX or more, also for a slot that nobody ever had: no record. */
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
	_Atomic uint32_t count;  /* permits */
	_Atomic uint64_t start;  /* HANDED: the owner's start time. OWNER: `owner` again, once the namespace is its own */
	_Atomic uint64_t since;  /* CLOCK_MONOTONIC ns of the arrival, then of the admission */
	_Atomic uint64_t until;  /* deadline of a waiter, CLOCK_MONOTONIC ns; 0: none */
	_Atomic uint32_t pid_ns; /* inode number of the namespace the owner's pid was read in */
	uint32_t pad0;
	_Atomic uint32_t uid;
	_Atomic uint32_t use; /* enum use */
};

/* What a record was claimed for; for those who look on, the protocol does not depend on it. */
enum use { USE_HOLD = 0, USE_TAKE, USE_COMMAND /* a hold that a command has, while somebody looks on */ };

struct statistics {
	_Atomic uint64_t contended;    /* waits that had to sleep */
	_Atomic uint64_t wait_total;   /* ns */
	_Atomic uint64_t wait_longest; /* ns */
	_Atomic uint64_t recovered;    /* permits that came back from the dead */
	_Atomic uint64_t timeouts;     /* waits given up: time, signal or cancel */
	_Atomic uint64_t handed_over;
	_Atomic uint64_t histogram[HISTOGRAM_BINS]; /* of wait times: bin i counts those below 2^i us, i the smallest */
};

struct header {
	/* Never changes once the name is visible. */
	_Atomic uint64_t magic;
	_Atomic uint32_t version;
	_Atomic uint32_t fingerprint;
	unsigned char uuid[16];
	int64_t created; /* seconds since the Epoch */
	uint32_t uid;
	uint32_t permits; /* the creator's number, which later callers must name too */
	uint32_t max;
	uint32_t pad0[3];

	/* The counter line. */
	_Alignas(LINE_BYTES) _Atomic uint64_t tickets; /* T */
	_Atomic uint64_t grants;                       /* G */
	union {
		struct {
			_Atomic uint32_t capacity;  /* C */
			_Atomic uint32_t abandoned; /* a permit came back from the dead, and no holder was told since */
		};
		_Atomic uint64_t capacity_word; /* both at once */
	};
	_Atomic uint32_t sets; /* how often C was stored */

	/* Hints: any value is safe, a wrong one costs time. But `reserved` only grows. */
	_Alignas(LINE_BYTES) _Atomic uint32_t free_hint; /* where to look for a free record first */
	_Atomic uint32_t reserved;                       /* records whose pages exist */
	_Atomic uint64_t pending;                        /* what concerns whoever has moved G: see below */
	_Atomic uint64_t scanned;                        /* CLOCK_MONOTONIC ns of the last look for dead owners */

	/* Words that say something happened. */
	_Alignas(LINE_BYTES) _Atomic uint32_t idle; /* futex: somebody waits until nobody holds */
	_Atomic uint32_t cancels;                   /* how often all waiters were told to give up */
	_Atomic uint32_t removed;                   /* not 0: the name is gone */
	_Atomic uint32_t record_waiters;            /* futex: WORD_SLEEPERS while somebody waits for a free record */
	_Atomic uint32_t pid_ns;                    /* of the first claimer */
	uint32_t pad1;
	_Atomic uint32_t mixed_pid_ns; /* not 0: a process of another PID namespace has claimed a record, too */

	_Alignas(LINE_BYTES) struct statistics statistics;

	/* The right to unlink the name of this segment: `owner` has it, and start and namespaces tell whether that one lives. */
	_Alignas(LINE_BYTES) struct record remover;
};

#define ARRAY_OFFSET ((size_t)PAGE_BYTES)
#define SLOTS_OFFSET (ARRAY_OFFSET + (size_t)ARRAY_WORDS * 4)
#define RECORDS_OFFSET (SLOTS_OFFSET + (size_t)SLOTS_MAX * 8)
#define SEGMENT_BYTES_MIN (RECORDS_OFFSET + PAGE_BYTES)
#define SEGMENT_BYTES_MAX (RECORDS_OFFSET + ((size_t)RECORDS_MAX + 2) * LINE_BYTES)

_Static_assert(offsetof(struct header, magic) == 0, "layout");
_Static_assert(offsetof(struct header, version) == 8, "layout");
_Static_assert(offsetof(struct header, fingerprint) == 12, "layout");
_Static_assert(offsetof(struct header, uuid) == 16, "layout");
_Static_assert(offsetof(struct header, created) == 32, "layout");
_Static_assert(offsetof(struct header, uid) == 40, "layout");
_Static_assert(offsetof(struct header, permits) == 44, "layout");
_Static_assert(offsetof(struct header, max) == 48, "layout");
_Static_assert(offsetof(struct header, tickets) == 64, "layout");
_Static_assert(offsetof(struct header, grants) == 72, "layout");
_Static_assert(offsetof(struct header, capacity) == 80, "layout");
_Static_assert(offsetof(struct header, abandoned) == 84, "layout");
_Static_assert(offsetof(struct header, capacity_word) == 80, "layout");
_Static_assert(offsetof(struct header, sets) == 88, "layout");
_Static_assert(offsetof(struct header, free_hint) == 128, "layout");
_Static_assert(offsetof(struct header, reserved) == 132, "layout");
_Static_assert(offsetof(struct header, pending) == 136, "layout");
_Static_assert(offsetof(struct header, scanned) == 144, "layout");
_Static_assert(offsetof(struct header, idle) == 192, "layout");
_Static_assert(offsetof(struct header, cancels) == 196, "layout");
_Static_assert(offsetof(struct header, removed) == 200, "layout");
_Static_assert(offsetof(struct header, record_waiters) == 204, "layout");
_Static_assert(offsetof(struct header, pid_ns) == 208, "layout");
_Static_assert(offsetof(struct header, mixed_pid_ns) == 216, "layout");
_Static_assert(offsetof(struct header, statistics) == 256, "layout");
_Static_assert(offsetof(struct header, remover) == 704, "layout");
_Static_assert(sizeof(struct header) <= PAGE_BYTES, "the header is one page");
_Static_assert(offsetof(struct record, owner) == 0, "layout");
_Static_assert(offsetof(struct record, state) == 8, "layout");
_Static_assert(offsetof(struct record, gen) == 16, "layout");
_Static_assert(offsetof(struct record, count) == 20, "layout");
_Static_assert(offsetof(struct record, start) == 24, "layout");
_Static_assert(offsetof(struct record, since) == 32, "layout");
_Static_assert(offsetof(struct record, until) == 40, "layout");
_Static_assert(offsetof(struct record, pid_ns) == 48, "layout");
_Static_assert(offsetof(struct record, uid) == 56, "layout");
_Static_assert(offsetof(struct record, use) == 60, "layout");
_Static_assert(sizeof(struct record) == LINE_BYTES, "a record is one cache line");
_Static_assert(PAGE_BYTES % sizeof(struct record) == 0, "records fill their pages");
_Static_assert(SEGMENT_BYTES_MIN <= 32 * 1024, "little memory at rest");
_Static_assert((RECORDS_MAX - 1) * 2 + 1 < TAG_WATCHED_TOO, "every record's tag differs from those of none");
_Static_assert(SEGMENT_BYTES_MAX % PAGE_BYTES == 0, "the table ends with a page");

/* What two builds must agree on beyond the version: refused at attach when it differs. */
#define LAYOUT_FINGERPRINT                                                                                           \
	((uint32_t)(sizeof(struct header) * 2654435761U ^ sizeof(struct record) * 40503U ^ ARRAY_WORDS * 69069U          \
	            ^ SLOTS_MAX * 134775813U ^ RECORDS_MAX * 65599U ^ HASH_MULTIPLIER * 1103515245U ^ WORD_STEP * 69621U \
	            ^ WORD_SEQUENCE_MASK * 48271U ^ (uint32_t)TAG_WATCHED * 16807U                                       \
	            ^ offsetof(struct header, statistics) * 31U ^ START_RULE * 2246822519U                               \
	            ^ offsetof(struct header, remover) * 37U))

#endif

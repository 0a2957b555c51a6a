/* SPDX-License-Identifier: MIT */
/*
 * shm/layout.h with shorter words. Counters count modulo 16 and start at 13, so that every configuration goes through
 * the wrap. Words are packed as in the segment, because the protocol compares whole words.
 */
#ifndef COUNTER_START
#define COUNTER_START 13
#endif
#ifndef POSTED
#define POSTED 0 /* permits that were posted before the processes begin */
#endif
#ifndef ARRAY_WORDS
#define ARRAY_WORDS 4
#endif

/* ---- counters: value << 4 | tag; the tag is record << 1 | phase, or none of a record ---- */

#define TAG_NONE 15
#define TAG_WATCHED_LAST 14
#define TAG_WATCHED_FIRST 12
#define is_watched(tag) ((tag) >= TAG_WATCHED_FIRST && (tag) <= TAG_WATCHED_LAST)
#define counter_word_make(counter, tag) (((counter) << 4) | (tag))
#define counter_value(word) ((word) >> 4)
#define counter_tag(word) ((word) & 15)
#define counter_word_retag(word, tag) (((word) & ~15) | (tag))
#define tag_make(record, phase) (((record) << 1) | (phase))
#define tag_record(tag) ((tag) >> 1)
#ifdef MUTANT_NO_PHASES
#define tag_phase(tag) 0
#define state_arrival_phase(w) 0
#define state_release_phase(w) 0
#else
#define tag_phase(tag) ((tag) & 1)
#define state_arrival_phase(w) (((w) >> 3) & 1)
#define state_release_phase(w) (((w) >> 4) & 1)
#endif
#define counter_add(a, n) (((a) + (n)) & 15)
#define counter_diff(a, b) (((((a) - (b)) & 15) ^ 8) - 8)

/* ---- owner: LOCKED | process + 1; 512 | process << 4 | ticket: handed over; 1024 | ticket: an orphan ---- */

#ifdef THREADS
#define owner_process(p) ((p) < 2 -> 1 : (p) + 1) /* the first two are threads of one process */
#elif defined(LOCKS)
#define owner_process(p) ((has_bit(p) -> OWNER_LOCKED : 0) | ((p) + 1)) /* presence.pml */
#else
#define owner_process(p) ((p) + 1)
#endif
#define owner_handed(p, ticket) (512 | ((p) << 4) | (ticket))
#ifdef MUTANT_ORPHAN_WITHOUT_TICKET
#define owner_orphan(ticket) 1024
#else
#define owner_orphan(ticket) (1024 | (ticket))
#endif
#define OWNER_LOCKED 256
#define owner_is_orphan(w) ((w) >= 1024)
#define owner_is_handed(w) ((w) >= 512 && (w) < 1024)
#define owner_pid(w) (owner_is_handed(w) -> (((w) >> 4) & 7) : ((w) & ~OWNER_LOCKED) - 1)

/* ---- state: value << 6 | repeat, b, a | kind ---- */

#define STATE_IDLE 0
#define STATE_CLAIMED 1
#define STATE_QUEUED 2
#define STATE_HELD 3
#define STATE_RELEASING 4
#define STATE_ARRIVAL_PHASE 8
#define STATE_RELEASE_PHASE 16
#define STATE_REPEAT_ONE 32 /* a single bit: the next generation begins after two uses */
#define state_kind(w) ((w) & 7)
#define state_value(w) ((w) >> 6)
#ifdef MUTANT_NO_GENERATION
#define state_next(w, kind, value) \
	((((kind) == STATE_IDLE || (kind) == STATE_CLAIMED -> 0 : (value)) << 6) | ((w) & 24) | (kind))
#else
#define state_next(w, kind, value) ((((value) & 15) << 6) | ((w) & 24) | (kind))
#endif
#if defined(MUTANT_SAME_REPEAT_AGAIN)
#define state_reused(w) ((w) ^ (STATE_ARRIVAL_PHASE | STATE_RELEASE_PHASE))
#elif defined(MUTANT_PHASES_NOT_FLIPPED)
#define state_reused(w) (((w) + STATE_REPEAT_ONE) & 1023)
#else
#define state_reused(w) ((((w) ^ (STATE_ARRIVAL_PHASE | STATE_RELEASE_PHASE)) + STATE_REPEAT_ONE) & 1023)
#endif
#define STATE_DECLARED STATE_REPEAT_ONE /* QUEUED: the owner was declared dead */
#define state_is_declared(w) (((w) & STATE_DECLARED) && state_kind(w) == STATE_QUEUED)
#define state_adopted(w) ((w) ^ STATE_REPEAT_ONE)
#define state_is_first_use(w) (((w) & STATE_REPEAT_ONE) == 0)
#define state_released(w, generation) \
	state_next((w) ^ (STATE_ARRIVAL_PHASE | STATE_RELEASE_PHASE), STATE_IDLE, (generation) + 1)

/* ---- waiting array: posted << 6 | sequence number << 2 | SEVERAL, SLEEPERS ---- */

#define WORD_SLEEPERS 1
#define WORD_SEVERAL 2
#define WORD_SLEEPER_BITS (WORD_SLEEPERS | WORD_SEVERAL)
#define WORD_STEP 4
#define WORD_SEQUENCE_MASK 60
#define word_next_sequence(w) (((w) & ~WORD_SEQUENCE_MASK) | (((w) + WORD_STEP) & WORD_SEQUENCE_MASK))
#define word_posted(w, ticket) ((word_next_sequence(w) & 63) | (((ticket) / ARRAY_WORDS + 1) << 6))
#ifdef MUTANT_POSTED_IGNORED
#define word_is_posted(w, ticket) false
#else
#define word_is_posted(w, ticket) (((w) >> 6) == (ticket) / ARRAY_WORDS + 1)
#endif

#define word_index(ticket) ((ticket) & (ARRAY_WORDS - 1))
#define word_bit(ticket) (1 << (((ticket) / ARRAY_WORDS) & 1))
#define ALL_BITS 3

/* ---- the segment ---- */

short T = counter_word_make(COUNTER_START, TAG_NONE);
short G = counter_word_make((COUNTER_START + POSTED) & 15, TAG_NONE);
#ifdef SETTER
byte C = CAPACITY;
#else
#define C CAPACITY /* no process writes it */
#endif
short owner[RECORDS];
short state[RECORDS];
byte gen[RECORDS];
byte count[RECORDS];
short array[ARRAY_WORDS];
short pending; /* HOLDERS, IDLE << 12 | ticket of an orphan << 8 | version << 1 | ORPHANS */

#define pending_ticket(h) (((h) >> 8) & 15)
#define pending_next(h, present, ticket) (((h) & 12288) | ((ticket) << 8) | (((h) + 2) & 254) | (present))

/* ---- the processes, as the kernel sees them ---- */

bool dead[PROCESSES];
byte asleep[4]; /* 0: awake; 1 + (word << 2 | bits): what it sleeps on */
#if PROCESSES > 4
#error "futex_wake_one() knows of four"
#endif

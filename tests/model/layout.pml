/* SPDX-License-Identifier: MIT */
/*
 * What lies where: shm/layout.h with short words. Counters count modulo 16 and start at 13, so every configuration
 * goes through the wrap. Words are packed as in the segment, because "still the same word" is what the protocol asks.
 */
#ifndef COUNTER_START
#define COUNTER_START 13
#endif
#ifndef POSTED
#define POSTED 0 /* permits, before anybody came */
#endif
#ifndef SLOTS
#define SLOTS 4 /* words of the waiting array */
#endif

/* ---- counters: value << 4 | tag; the tag is record << 1 | face, or NONE ---- */

#define TAG_NONE 15
#define TAG_WATCHED 14
#define TAG_WATCHED_TOO 13
#define is_watched(tag) ((tag) == TAG_WATCHED || (tag) == TAG_WATCHED_TOO)
#define word_make(counter, tag) (((counter) << 4) | (tag))
#define word_counter(word) ((word) >> 4)
#define word_tag(word) ((word) & 15)
#define word_retag(word, tag) (((word) & ~15) | (tag))
#define tag_make(record, face) (((record) << 1) | (face))
#define tag_record(tag) ((tag) >> 1)
#ifdef MUTANT_NO_FACES
#define tag_face(tag) 0
#define what_a(w) 0
#define what_b(w) 0
#else
#define tag_face(tag) ((tag) & 1)
#define what_a(w) (((w) >> 3) & 1)
#define what_b(w) (((w) >> 4) & 1)
#endif
#define counter_add(a, n) (((a) + (n)) & 15)
#define counter_diff(a, b) (((((a) - (b)) & 15) ^ 8) - 8)

/* ---- who ---- */

#ifdef THREADS
#define who_owner(p) ((p) < 2 -> 1 : (p) + 1) /* the first two are threads of one process */
#else
#define who_owner(p) ((p) + 1)
#endif
#define who_handed(p, ticket) (512 | ((p) << 4) | (ticket))
#ifdef MUTANT_ORPHAN_WITHOUT_TICKET
#define who_orphan(ticket) 1024
#else
#define who_orphan(ticket) (1024 | (ticket))
#endif
#define who_is_orphan(w) ((w) >= 1024)
#define who_is_handed(w) ((w) >= 512 && (w) < 1024)
#define who_process(w) (who_is_handed(w) -> (((w) >> 4) & 7) : (w) - 1)

/* ---- what: value << 6 | turn, b, a | state ---- */

#define IDLE 0
#define CLAIMED 1
#define QUEUED 2
#define HELD 3
#define RELEASING 4
#define WHAT_A 8
#define WHAT_B 16
#define WHAT_TURN 32 /* one bit: every other turn is the next generation */
#define what_state(w) ((w) & 7)
#define what_value(w) ((w) >> 6)
#ifdef MUTANT_NO_GENERATION
#define what_next(w, state, value) ((((state) == IDLE || (state) == CLAIMED -> 0 : (value)) << 6) | ((w) & 24) | (state))
#else
#define what_next(w, state, value) ((((value) & 15) << 6) | ((w) & 24) | (state))
#endif
#if defined(MUTANT_SAME_TURN_AGAIN)
#define what_next_turn(w) ((w) ^ (WHAT_A | WHAT_B))
#elif defined(MUTANT_FACES_NOT_FLIPPED)
#define what_next_turn(w) (((w) + WHAT_TURN) & 1023)
#else
#define what_next_turn(w) ((((w) ^ (WHAT_A | WHAT_B)) + WHAT_TURN) & 1023)
#endif
#define what_is_first_turn(w) (((w) & WHAT_TURN) == 0)
#define what_released(w, generation) what_next((w) ^ (WHAT_A | WHAT_B), IDLE, (generation) + 1)

/* ---- waiting array: posted << 6 | sequence number << 2 | several, sleepers ---- */

#define SLEEPERS 1
#define SEVERAL 2
#define ANYBODY (SLEEPERS | SEVERAL)
#define WORD_STEP 4
#define NUMBER 60
#define slot_advance(w) (((w) & ~NUMBER) | (((w) + WORD_STEP) & NUMBER))
#define slot_posted(w, ticket) ((slot_advance(w) & 63) | (((ticket) / SLOTS + 1) << 6))
#ifdef MUTANT_POSTED_IGNORED
#define slot_is_posted(w, ticket) false
#else
#define slot_is_posted(w, ticket) (((w) >> 6) == (ticket) / SLOTS + 1)
#endif

#define slot_index(ticket) ((ticket) & (SLOTS - 1))
#define slot_bit(ticket) (1 << (((ticket) / SLOTS) & 1))
#define ALL_BITS 3

/* ---- the segment ---- */

short T = word_make(COUNTER_START, TAG_NONE);
short G = word_make((COUNTER_START + POSTED) & 15, TAG_NONE);
#ifdef SETTER
byte C = CAPACITY;
#else
#define C CAPACITY /* nobody writes it */
#endif
short who[RECORDS];
short what[RECORDS];
byte gen[RECORDS];
byte count[RECORDS];
short slot[SLOTS];
short hint; /* `concern`: HOLDERS, IDLE << 12 | ticket of an orphan << 8 | version << 1 | present */

#define hint_ticket(h) (((h) >> 8) & 15)
#define hint_next(h, present, ticket) (((h) & 12288) | ((ticket) << 8) | (((h) + 2) & 254) | (present))

/* ---- the processes, as the kernel sees them ---- */

bool dead[PROCESSES];
byte asleep[4]; /* 0, or 1 + (word << 2 | bit) it sleeps on; for as many as futex_wake_one() knows of */
#if PROCESSES > 4
#error "futex_wake_one() knows of four"
#endif

/* SPDX-License-Identifier: MIT */
/* Getting an owner record, and giving it back. */
#ifndef TSEM_LIB_RECORD_H
#define TSEM_LIB_RECORD_H

#include <pthread.h>

#include "handle.h"
#include "platform.h"

struct claim {
	uint32_t index;
	struct record *record;
	uint64_t owner;
};

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

/* Fibonacci hashing: the numbers of threads are addresses, alike in their low bits. */
static inline size_t
cache_index(uintptr_t thread)
{
	return (size_t)((uint32_t)thread * UINT32_C(0x9e3779b9) >> 28);
}

/* Where the calling thread's entry is, unless another thread has its place. */
static inline struct cached *
cache_place(const struct tsem *sem, uintptr_t self)
{
	return sem->cache[cache_index(self)];
}

/* The calling thread's entry of kept records; NULL if it has none yet, or another thread has its place. */
static inline struct cached *
cache_entry(const struct tsem *sem)
{
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(sem, self);
	return LOAD_RLX(&entry->thread) == self ? entry : NULL;
}

/* Whether the calling thread has kept a record that is free for the next use. */
static inline bool
cache_is_ready(const struct cached *entry)
{
	return entry != NULL && LOAD_ACQ(&entry->record->state) == entry->claimed;
}

/* What a kept record says of its use, so that the next one need not write what is there: a hold, and no waiter. */
static inline void
record_describe(struct record *record, enum use use, uint64_t until)
{
	STORE_RLX(&record->use, (uint32_t)use);
	STORE_RLX(&record->until, until);
}

/* IDLE -> CLAIMED; all else is written, or will be before T is moved. Returns the state. */
static inline uint64_t
record_mark_claimed(struct record *record)
{
	const uint64_t idle = LOAD_RLX(&record->state);
	const uint32_t gen = (uint32_t)state_value(idle);
	/* Whoever finishes the last release may read it already and write an IDLE by it, which this CLAIMED follows. */
	STORE_RLX(&record->gen, gen);
	/* Release: whoever sees CLAIMED sees all of the above. */
	const uint64_t claimed = state_next(idle, STATE_CLAIMED, gen);
	STORE_REL(&record->state, claimed);
	return claimed;
}

/* CLAIMED -> IDLE, no ticket taken: the phases stay. */
static inline void
record_mark_idle(struct record *record)
{
	/* A plain store: T does not carry this record's tag, so no helper touches it while its owner lives. */
	const uint64_t state = LOAD_RLX(&record->state);
	STORE_REL(&record->state, state_next(state, STATE_IDLE, (uint32_t)state_value(state) + 1));
}

/*
 * Claims a record and makes it CLAIMED. -EUSERS: all are in use. -ENOSPC, -EFBIG: the table cannot grow. -ENOMEM.
 */
int record_claim(struct tsem *sem, uint32_t count, enum use use, uint64_t until, struct claim *claim);

/* The same where one is free, and all else was tried before. */
int record_claim_free(struct tsem *sem, uint32_t count, enum use use, uint64_t until, struct claim *claim);

/*
 * Makes the calling process the owner of a record that it need not make CLAIMED. `from`: 0, or an owner that is certainly
 * dead. False: another process was faster.
 */
bool record_take_over(struct tsem *sem, struct record *record, uint64_t from);

/* record_mark_idle(), and the record is kept or freed. */
void record_unclaim(struct tsem *sem, const struct claim *claim);

/* The owner has made its record IDLE, there is nothing to keep it for: frees it. */
void record_free(struct tsem *sem, const struct claim *claim);

/* The owner has made its record IDLE: keeps it for this thread's next use, or frees it. */
void record_cache_or_free(struct tsem *sem, const struct claim *claim);

/* CAS who -> 0, for a record that is IDLE: by whoever knows that `owner` cannot come back. */
void record_free_for(struct tsem *sem, uint32_t index, struct record *record, uint64_t owner);

/* The entry keeps nothing from now on. */
void cache_clear(struct cached *entry);

/* Frees what the calling process keeps, at close. */
void record_free_cached(struct tsem *sem);

#endif

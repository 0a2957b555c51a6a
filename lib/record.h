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
	uint64_t who;
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

/* Makes a free entry the calling thread's. */
bool record_take_entry(struct kept *entry, uintptr_t self);

/* The calling thread's entry of kept records; false if another thread has its place. */
static inline bool
kept_entry(struct tsem *sem, struct kept **entry)
{
	const uintptr_t self = thread_number();
	*entry = &sem->kept[(self >> 12 ^ self >> 20) % KEPT_ENTRIES];
	const uintptr_t thread = atomic_load_explicit(&(*entry)->thread, memory_order_relaxed);
	return thread == self || (thread == 0 && record_take_entry(*entry, self));
}

/* The record that this thread has kept, for the process `who`. False: it has none. */
static inline bool
record_take_kept(struct tsem *sem, uint64_t who, struct claim *claim)
{
	struct kept *kept;
	if (!kept_entry(sem, &kept) || kept->record == 0 || kept->who != who)
		return false;
	*claim = (struct claim){
		.index = kept->record - 1,
		.record = &sem->segment.records[kept->record - 1],
		.who = who,
	};
	kept->record = 0;
	return true;
}

/* IDLE -> CLAIMED. `until`: the waiter's deadline in ns, 0 for none, to be looked at by others. */
static inline uint64_t
record_fill(const struct claim *claim, uint32_t count, enum use use, uint64_t until)
{
	struct record *record = claim->record;
	const uint64_t idle = LOAD_RLX(&record->what);
	const uint32_t gen = (uint32_t)what_value(idle);
	STORE_RLX(&record->gen, gen);
	STORE_RLX(&record->count, count);
	/* Mostly these are what they were, and a look costs less than a store that a CAS has to wait for. */
	if (LOAD_RLX(&record->use) != (uint32_t)use)
		STORE_RLX(&record->use, (uint32_t)use);
	if (LOAD_RLX(&record->until) != until)
		STORE_RLX(&record->until, until);
	STORE_RLX(&record->since, coarse_now());
	/* Release: whoever sees CLAIMED sees all of the above. */
	const uint64_t claimed = what_next(idle, STATE_CLAIMED, gen);
	STORE_REL(&record->what, claimed);
	return claimed;
}

/*
 * Claims a record and makes it CLAIMED. -EUSERS: all are in use. -ENOSPC, -EFBIG: the table cannot grow. -ENOMEM.
 */
int record_claim(struct tsem *sem, uint32_t count, enum use use, uint64_t until, struct claim *claim);

/* Sleeps until a record may be free again, 100 ms at most, not beyond `until`. -ETIMEDOUT, -EINTR or 0. */
int record_wait_for_vacancy(struct tsem *sem, uint64_t until);

/* Back to IDLE from CLAIMED, no ticket taken: the faces stay. The record is kept or freed. */
void record_unclaim(struct tsem *sem, const struct claim *claim);

/* The owner has made its record IDLE, there is nothing to keep it for: frees it. */
void record_free(struct tsem *sem, const struct claim *claim);

/* The owner has made its record IDLE: keeps it for this thread's next use, or frees it. */
static inline void
record_keep_or_free(struct tsem *sem, const struct claim *claim)
{
	struct kept *kept;
	if (!kept_entry(sem, &kept) || (kept->record != 0 && kept->who == claim->who)) {
		record_free(sem, claim);
		return;
	}
	kept->record = claim->index + 1;
	kept->who = claim->who;
}

/* CAS who -> 0, for a record that is IDLE: by whoever knows that `who` cannot come back. */
void record_free_for(struct tsem *sem, uint32_t index, struct record *record, uint64_t who);

/* Frees what the calling process keeps, at close. */
void record_free_kept(struct tsem *sem);

#endif

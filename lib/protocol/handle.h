/* SPDX-License-Identifier: MIT */
/* The inside of a handle and of a hold, and the way from an index or a hold to its record. */
#ifndef TSEM_LIB_HANDLE_H
#define TSEM_LIB_HANDLE_H

#include "name.h"
#include "segment.h"
#include "tsem.h"

/* ---- the handle ---- */

enum { CACHE_ENTRIES = 16 };

struct cached;   /* fast.h */
struct presence; /* presence.c */

struct tsem {
	struct segment segment;
	uint32_t hash_salt; /* of the waiting array's hash: from the UUID */
	uint32_t permits;   /* the header's numbers as they were when the handle was opened */
	uint32_t max;
	bool bounded;
	uint32_t fast_post_max; /* the fast path may post this many permits at once; 0 where it may not post at all */
	_Atomic uint32_t spin;  /* rounds that a spinning wait is worth at present: wait_spinning() */
	_Atomic uint32_t spin_skipped;
	_Atomic uint64_t last_handoff;  /* E after this process's last grant to a waiter: wait_backoff() */
	_Atomic bool unsure;            /* a look met an owner of its own PID namespace that it could not judge */
	_Atomic uint64_t last_try_look; /* when a failing try last looked for dead owners: recover_before_failing() */
	unsigned char uuid[16];
	char name[NAME_BYTES_MAX + 1];     /* "": in the program's own memory */
	struct presence *_Atomic presence; /* the process's; in a forked child its parent's, until the first claim */
	struct cached *cache[CACHE_ENTRIES];
};

/* ---- records ---- */

/*
 * Finds record `index`; NULL if no such record exists, because an index may come from memory that a peer has scribbled
 * on. Returns false if the record exists and this process cannot map it: the program has closed the segment's
 * descriptor, or may not use it.
 */
static inline bool
record_find(struct tsem *sem, uint32_t index, struct record **record)
{
	*record = NULL;
	if (index >= LOAD_ACQ(&sem->segment.reserved)) {
		if (index >= RECORDS_MAX || index >= LOAD_ACQ(&sem->segment.header->reserved))
			return true;
		if (segment_reserve(&sem->segment, index + 1) < 0)
			return false;
	}
	*record = &sem->segment.records[index];
	return true;
}

static inline struct record *
record_at(struct tsem *sem, uint32_t index)
{
	struct record *record;
	return index < LOAD_ACQ(&sem->segment.header->reserved) && record_find(sem, index, &record) ? record : NULL;
}

/* The number of records that exist. A peer may have scribbled on it, so it is bounded here. */
static inline uint32_t
record_limit(const struct tsem *sem)
{
	const uint32_t reserved = LOAD_ACQ(&sem->segment.header->reserved);
	return reserved < RECORDS_MAX ? reserved : RECORDS_MAX;
}

/* A record that the calling process owns. */
struct claim {
	uint32_t index;
	struct record *record;
	uint64_t owner; /* as in the record */
};

/* Visits every record that exists; `record` is NULL after the last one. */
/* NOLINTBEGIN(bugprone-macro-parentheses): the name of a variable cannot be in any */
#define FOR_EACH_RECORD(sem, index, record) \
	for (uint32_t index = 0; ((record) = record_at((sem), index)) != NULL; index++)
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- the hold ---- */

/*
 * The inside of a tsem_hold. It is valid while `state` is the state of its record and this process, or `lent`, its
 * owner.
 */
struct hold {
	uint64_t sem; /* struct tsem *; 0: void */
	uint32_t record;
	uint32_t flags;  /* enum hold_flag */
	uint64_t state;  /* HELD, and the ticket */
	uint64_t lent;   /* HOLD_LENT: the owner that it was lent to, as in the record */
	uint64_t lender; /* HOLD_LENT: the process that may end the loan */
};

enum hold_flag {
	HOLD_RECOVERED = 1, /* this holder was told that a permit came back from a dead holder */
	HOLD_LENT = 2,      /* the owner is the process that the hold was lent to */
};

_Static_assert(sizeof(tsem_hold) == 128, "part of the interface");
_Static_assert(sizeof(struct hold) <= sizeof(tsem_hold), "a hold fits");

static inline struct hold *
hold_inside(tsem_hold *hold)
{
	return (struct hold *)(void *)hold;
}

static inline const struct hold *
hold_inside_const(const tsem_hold *hold)
{
	return (const struct hold *)(const void *)hold;
}

static inline struct tsem *
hold_sem(const struct hold *hold)
{
	return (struct tsem *)(uintptr_t)hold->sem;
}

/* The record of a hold that is not void. */
static inline struct record *
hold_record(const struct hold *hold)
{
	return &hold_sem(hold)->segment.records[hold->record];
}

static inline uint64_t
hold_ticket(const struct hold *hold)
{
	return state_value(hold->state);
}

static inline bool
hold_is_lent(const struct hold *hold)
{
	return (hold->flags & HOLD_LENT) != 0;
}

/* Whether a process has a ticket in this record and has not given it up, enabled or not; stores its state. */
static inline bool
record_is_queued(const struct record *record, uint64_t *state)
{
	*state = LOAD_ACQ(&record->state);
	return state_kind(*state) == STATE_QUEUED && owner_kind(LOAD_ACQ(&record->owner)) == OWNER_KIND_PROCESS;
}

/* Whether the record is still HELD under the ticket; stores its state. */
static inline bool
record_is_held(const struct record *record, uint64_t ticket, uint64_t *state)
{
	*state = LOAD_ACQ(&record->state);
	return state_kind(*state) == STATE_HELD && state_value(*state) == ticket;
}

#endif

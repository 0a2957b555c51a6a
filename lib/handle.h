/* SPDX-License-Identifier: MIT */
/* What a handle and a hold consist of; shared by the files of the library. */
#ifndef TSEM_LIB_HANDLE_H
#define TSEM_LIB_HANDLE_H

#include "name.h"
#include "segment.h"
#include "tsem.h"

/* The inside of a tsem_hold. It is valid while the record is its owner's, and HELD under its ticket. */
struct hold {
	uint64_t sem; /* struct tsem *; 0: void */
	uint32_t record;
	uint32_t flags; /* enum hold_flag */
	uint64_t state; /* HELD, and the ticket */
	uint64_t lent;  /* HOLD_LENT: to whom, as in the record's `owner` */
};

enum hold_flag {
	HOLD_RECOVERED = 1, /* this holder was told that a permit had come back from the dead */
	HOLD_LENT = 2,      /* another process is the owner; without it the one that acquired or adopted it */
};

static inline uint64_t
hold_ticket(const struct hold *hold)
{
	return state_value(hold->state);
}

/*
 * A record that a thread keeps between its uses, so that an uncontended acquire costs no search. It is claimed for the
 * next use as soon as the last one is over: then an acquire has nothing to write before it takes its ticket. An entry
 * belongs to the thread whose number stands in it, and only that thread touches the rest; when the thread ends, its
 * successor under the same number inherits it.
 *
 * The record stays in its entry while it is in use by one who was alone. It is free for the next use when its state is
 * the very one that this thread left it in: whatever else was done with it, by a thread that released the hold in this
 * one's place or by a process that it was handed over to, has left a higher `gen` behind.
 *
 * `tickets` is T as this record's last use moved it. While it is that, there is nobody's arrival to finish; and while C, too,
 * is what it was when there was room for `count`, there still is, for G only grows.
 */
struct cached {
	_Alignas(LINE_BYTES) _Atomic uintptr_t thread;
	struct record *record;
	struct header *header;
	uint64_t claimed; /* the record's state when it is free for the next use */
	uint64_t tickets;
	uint64_t tag;           /* the record's, in T and G, but for the phase */
	uint64_t capacity_word; /* C, and nobody to be told of abandonment */
	uint64_t advance;       /* `count` as it is added to T and G */
	struct hold hold;       /* the next one, but for its ticket */
	uint64_t owner;
	uint64_t second; /* in which `since` was last written on the fast road */
	uint32_t count;  /* for as many as at the last use, so that it need not be written */
};

enum { CACHE_ENTRIES = 16 /* cache_index() has four bits */, SPIN_MAX = 2000, FAST_POST_MAX = 1 << 20 };

struct tsem {
	struct segment segment;
	uint32_t hash_salt; /* of the hash, from the UUID */
	uint32_t permits;   /* the header's numbers as they were at open */
	uint32_t max;
	uint32_t fast_post_max; /* how many may be posted without a look at a limit: FAST_POST_MAX, or 0 */
	_Atomic uint32_t spin;  /* how many rounds waiting in a loop has been worth lately */
	_Atomic uint32_t spin_skipped;
	_Atomic uint64_t last_handoff; /* E after this process's last grant to somebody who waited */
	_Atomic uint64_t tried;        /* when a failing try last looked for dead owners */
	unsigned char uuid[16];
	struct cached
		*cache[CACHE_ENTRIES]; /* cleared in a forked child; `cache_disabled` where the kernel does not do that */
};

_Static_assert(sizeof(tsem_hold) == 128, "part of the interface");
_Static_assert(sizeof(struct hold) <= sizeof(tsem_hold), "a hold fits");
_Static_assert(offsetof(struct cached, hold) == LINE_BYTES, "half of what is needed every time is in one cache line");

/* Entries that nobody takes. */
extern struct cached cache_disabled[CACHE_ENTRIES];

/* Spins, when there is more than one processor to spin on. */
uint32_t wait_spin_ceiling(void);

/*
 * Record `index`, or NULL if there is none: tags and hints come from memory that anybody may have written. False: there
 * is one, but this process cannot get at it, because it has closed the segment's descriptor or may not use it.
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

/* For loops over all records, which end where there are no more: NULL. */
static inline struct record *
record_at(struct tsem *sem, uint32_t index)
{
	struct record *record;
	return index < LOAD_ACQ(&sem->segment.header->reserved) && record_find(sem, index, &record) ? record : NULL;
}

#endif

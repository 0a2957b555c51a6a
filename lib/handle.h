/* SPDX-License-Identifier: MIT */
/* What a handle and a hold consist of; shared by the files of the library. */
#ifndef TSEM_LIB_HANDLE_H
#define TSEM_LIB_HANDLE_H

#include "name.h"
#include "segment.h"
#include "tsem.h"

/* The inside of a tsem_hold. It is valid while the record is its owner's, and HELD under its ticket. */
struct hold {
	uint64_t sem; /* struct tsem * */
	uint64_t who; /* the owner as recorded; 0: void */
	uint32_t record;
	uint32_t recovered; /* this holder was told that a permit had come back from the dead */
	uint64_t what;      /* HELD, and the ticket */
};

static inline uint64_t
hold_ticket(const struct hold *hold)
{
	return what_value(hold->what);
}

/*
 * A record that a thread keeps between its uses, so that an uncontended acquire costs no search. An entry belongs to
 * the thread whose number stands in it, and only that thread touches the rest; when the thread ends, its
 * successor under the same number inherits it.
 *
 * The record stays in its entry while it is in use. It is free for the next use when its state is the very one that
 * this thread left it in: whatever else was done with it, by a thread that released the hold in this one's place
 * or by a process that it was handed over to, has left a higher `gen` behind.
 */
struct kept {
	_Alignas(LINE_BYTES) _Atomic uintptr_t thread;
	struct record *record;
	uint64_t idle; /* its state when this thread was done with it: IDLE */
	struct header *header;
	struct hold hold; /* the next one, but for its state */
	uint64_t second;  /* in which `since` was last written on the fast road */
};

enum { KEPT_ENTRIES = 16 /* kept_index() has four bits */, SPIN_MAX = 2000, POST_AT_ONCE_MAX = 1 << 20 };

struct tsem {
	struct segment segment;
	uint32_t salt;    /* of the hash, from the UUID */
	uint32_t permits; /* the header's numbers as they were at open */
	uint32_t max;
	uint32_t post_at_once; /* how many may be posted without a look at a limit: POST_AT_ONCE_MAX, or 0 */
	_Atomic uint32_t spin; /* how many rounds waiting in a loop has been worth lately */
	_Atomic uint32_t spin_skipped;
	_Atomic uint64_t passed_on; /* E after this process's last grant to somebody who waited */
	_Atomic uint64_t tried;     /* when a failing try last looked for dead owners */
	unsigned char uuid[16];
	struct kept *kept; /* KEPT_ENTRIES, cleared in a forked child; `nothing_kept` where the kernel does not do that */
};

_Static_assert(sizeof(tsem_hold) == 128, "part of the interface");
_Static_assert(sizeof(struct hold) <= sizeof(tsem_hold), "a hold fits");
_Static_assert(offsetof(struct kept, second) == LINE_BYTES, "what is needed every time is in one cache line");

/* Entries that nobody takes. */
extern struct kept nothing_kept[KEPT_ENTRIES];

/* Spins, when there is more than one processor to spin on. */
uint32_t spin_ceiling(void);

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

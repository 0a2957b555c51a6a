/* SPDX-License-Identifier: MIT */
/*
 * The operations that are stepped through, each in three parts: what the process does before, the operation itself,
 * and how it gives back what it got if it is let live.
 */
#ifndef TSEM_TESTS_CRASH_OPERATION_H
#define TSEM_TESTS_CRASH_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tsem.h"

enum { BESIDE = 2, SLOTS_SEEN_MAX = 4 };

enum phase { PHASE_BEFORE, PHASE_BEGIN, PHASE_END, PHASE_FINISHED, PHASE_NOT_APPLICABLE };

/* How long the library's sleeps last in this process. */
enum naps {
	NAPS_AS_THEY_ARE,
	NAPS_SHORT, /* a sleeper looks at E every few ms: whoever should have woken it was killed */
	NAPS_LONG,  /* a sleeper never wakes by itself: nobody was killed, so somebody has to wake it */
	NAPS_JUMP,  /* the first sleep lasts until after every deadline, on a clock that jumps */
};

/* One process that does an operation; in memory shared with the driver. */
struct actor {
	tsem *sem;
	tsem *beside[BESIDE]; /* two more, one with a lower UUID and one with a higher one */
	const char *name;     /* of the semaphore */
	const char *absent;   /* a name that is free for `create` */
	uint32_t capacity;    /* of the semaphore, as it was created */
	uint32_t count;
	pid_t other; /* a living process to hand holds over to */
	enum naps naps;
	tsem_hold hold;
	tsem_hold others[BESIDE];
	bool elsewhere; /* the hold is one of a semaphore beside it; from here on the driver reads what it is told */
	bool told;      /* that a permit had come back from a dead holder */
	uint32_t slots[SLOTS_SEEN_MAX];
	uint32_t slot_count;
	_Atomic int phase;
	int result;
	int finish_result;
};

enum {
	NEEDS_OTHER = 1,    /* a process to hand over to */
	NEEDS_DEAD = 2,     /* a dead holder and a dead waiter */
	NEEDS_FULL = 4,     /* makes sense only when nothing is available */
	NEEDS_EMPTY = 8,    /* nobody else may hold anything */
	IS_CHILD = 16,      /* the child of vfork() does it */
	IS_PARENT = 32,     /* the parent does it, when the child is dead */
	PARENT_DEAD = 64,   /* and the parent is dead before it begins */
	REMOVES = 128,      /* the semaphore may be gone afterwards */
	CREATES = 256,      /* `absent` may exist afterwards */
	CLOCK_JUMPS = 512,  /* it has a deadline in the future, which passes while it sleeps */
	SECOND_ONLY = 1024, /* for pairs only */
	SETS = 2048,        /* the capacity may be another one afterwards */
	CANCELS = 4096,     /* waiters may give up */
	WAITS_IDLE = 8192,  /* sleeps while anybody has anything */
	ONE_PERMIT = 16384, /* of each semaphore */
	USES_BESIDE = 32768,
	POSTS_FIRST = 65536,    /* has posted, and not taken yet */
	DRAINS_BESIDE = 131072, /* of those, too, everything is taken before it begins, where it is of the semaphore */
	LONG_LOOP = 262144,     /* thousands of rounds, too many to be stopped half-way in, beside another one */
};

struct operation {
	const char *name;
	unsigned flags;
	int taken;     /* permits, in units of count, that nobody is recorded for: 1 taken, -1 posted */
	bool holds;    /* leaves a hold if it returns 0 */
	int result;    /* what it returns when nobody interferes */
	int otherwise; /* what else it may return when somebody does */
	int (*prepare)(struct actor *);
	int (*run)(struct actor *);
	int (*finish)(struct actor *);
};

extern const struct operation operations[];
extern const unsigned operation_count;

const struct operation *operation_by_name(const char *name);

/* The life of an actor's process; does not return. */
_Noreturn void actor_live(struct actor *actor, const struct operation *operation);

#endif

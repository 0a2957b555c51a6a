/* SPDX-License-Identifier: MIT */
/*
 * The operations that the sweep steps through. Each has three parts: what the process does before, the operation
 * itself, and how the process gives back what it got if it lives.
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
enum sleep_mode {
	SLEEP_UNCHANGED,
	SLEEP_SHORT,       /* a sleeper looks at E every few ms, because the process that should have woken it was killed */
	SLEEP_UNTIL_WOKEN, /* a sleep ends by a wake-up only: no process was killed, so a missing wake-up is a fault */
	SLEEP_CLOCK_JUMP,  /* the clock jumps during the first sleep, past every deadline */
};

/* A process that runs an operation; in memory shared with the driver. */
struct executor {
	tsem *sem;
	tsem *beside[BESIDE]; /* two more semaphores, one with the lowest UUID and one with the highest one */
	const char *name;     /* of the semaphore */
	const char *absent;   /* a name that no semaphore has, for `create` */
	uint32_t capacity;    /* of the semaphore when it was created */
	uint32_t count;
	pid_t other; /* a live process that holds can be handed over to */
	enum sleep_mode sleep_mode;
	tsem_hold hold;
	tsem_hold others[BESIDE];
	bool elsewhere; /* the hold is one of a semaphore beside it. The driver watches this member and those that follow */
	bool notified;  /* tsem_hold_recovered() was true */
	uint32_t slots[SLOTS_SEEN_MAX];
	uint32_t slot_count;
	_Atomic int phase;
	int result;
	int finish_result;
};

enum {
	NEEDS_OTHER = 1,    /* another process, to hand a hold over to */
	NEEDS_DEAD = 2,     /* a dead holder and a dead waiter */
	NEEDS_FULL = 4,     /* applies only when nothing is available */
	NEEDS_EMPTY = 8,    /* no other process may hold anything */
	IS_CHILD = 16,      /* the child of vfork() runs the operation */
	IS_PARENT = 32,     /* the parent runs the operation after the child has died */
	PARENT_DEAD = 64,   /* the parent dies before the operation begins */
	REMOVES = 128,      /* the semaphore may be removed afterwards */
	CREATES = 256,      /* `absent` may exist afterwards */
	CLOCK_JUMPS = 512,  /* its deadline passes while it sleeps */
	SECOND_ONLY = 1024, /* only as the second operation of a pair */
	SETS = 2048,        /* may change the capacity */
	CANCELS = 4096,     /* waiters may give up */
	WAITS_IDLE = 8192,  /* sleeps while any process holds or waits */
	ONE_PERMIT = 16384, /* of each semaphore */
	USES_BESIDE = 32768,
	POSTS_FIRST = 65536,    /* has posted, and not taken yet */
	DRAINS_BESIDE = 131072, /* if the driver takes everything before it begins, it takes that of these, too */
	TAKES_FIRST = 524288,   /* has taken before it begins, and gives that back */
	LONG_LOOP = 262144,     /* thousands of rounds: too many steps to stop in the middle of it in a pair */
	UNLINKS = 1048576,      /* the name may be gone afterwards, and the semaphore lives on */
};

struct operation {
	const char *name;
	unsigned flags;
	int taken;     /* permits without a recorded holder, in units of count: 1 taken, -1 posted */
	bool holds;    /* leaves a hold if it returns 0 */
	int result;    /* what it returns when no other process interferes */
	int otherwise; /* what else it may return when another process interferes */
	int (*prepare)(struct executor *);
	int (*run)(struct executor *);
	int (*finish)(struct executor *);
};

extern const struct operation operations[];
extern const unsigned operation_count;

const struct operation *operation_by_name(const char *name);

/* Runs the operation in a forked process; does not return. */
_Noreturn void executor_main(struct executor *executor, const struct operation *operation);

#endif

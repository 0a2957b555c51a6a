/* SPDX-License-Identifier: MIT */
/*
 * The storm: hundreds of processes use a few semaphores while they are killed, stopped and signalled; a witness of its
 * own, which never asks a semaphore, watches that nobody is admitted who should not be.
 */
#ifndef TSEM_TESTS_CRASH_STORM_H
#define TSEM_TESTS_CRASH_STORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tsem.h"

enum { SEMAPHORES = 4, ANONYMOUS = 3, WORKERS_MAX = 1000, STORM_FAULTS_MAX = 5 };

/* How a worker stands to the semaphore it uses, as it knows itself. */
enum stand {
	STAND_OUT,     /* has nothing that it knows of */
	STAND_CALLING, /* has called, and may have a ticket already */
	STAND_IN_LINE, /* has a ticket, for certain */
	STAND_HOLDING, /* has been admitted; set behind the acquire, cleared before the release */
	STAND_POSTING, /* an anonymous post may have happened */
};

/*
 * Written by the worker alone. Entries under-count: a worker that was admitted and has not said so is missing. So more
 * than the capacity among them is a proof of over-admission, whatever else happens.
 */
struct entry {
	_Atomic uint64_t word;   /* version << 8 | semaphore << 4 | stand; no value comes twice */
	_Atomic uint64_t called; /* sequence number from before the call */
	_Atomic uint64_t lined;  /* and from when it stood in line */
	_Atomic uint32_t count;
	_Atomic bool patient; /* will not give up its place */
	_Atomic bool doomed;  /* set before SIGKILL is sent: what it had may be somebody else's from now on */
	_Atomic int pid;
};

struct storm {
	char names[SEMAPHORES][64];
	uint32_t capacity[SEMAPHORES];
	tsem *sems[SEMAPHORES];
	uint64_t seed;
	unsigned workers;
	_Atomic bool ending;
	_Atomic uint64_t sequence;
	_Atomic uint64_t surplus; /* permits of the anonymous one that the driver may have posted in excess */
	_Atomic unsigned faults;
	_Atomic uint64_t admissions[SEMAPHORES];
	_Atomic uint64_t waits[SEMAPHORES];
	_Atomic uint64_t timeouts;
	_Atomic uint64_t cancels;
	_Atomic uint64_t handed_over;
	_Atomic uint64_t checks;
	_Atomic uint64_t most[SEMAPHORES]; /* permits seen held at once */
	struct entry entries[WORKERS_MAX];
};

/* ---- a generator that a seed replays ---- */

static inline uint64_t
next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline unsigned
below(uint64_t *state, unsigned limit)
{
	return (unsigned)(next_random(state) % limit);
}

/* ---- witness.c ---- */

void witness_stand(struct storm *storm, unsigned worker, unsigned semaphore, enum stand stand);
enum stand witness_stands(const struct storm *storm, unsigned worker, unsigned *semaphore);

/* Called by a worker that has just been admitted to `semaphore`: looks whether that can be right. */
void witness_check(struct storm *storm, unsigned worker, unsigned semaphore);

void storm_fault(struct storm *storm, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- storm_worker.c ---- */

_Noreturn void storm_work(struct storm *storm, unsigned worker, unsigned life);

#endif

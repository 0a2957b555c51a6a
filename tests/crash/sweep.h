/* SPDX-License-Identifier: MIT */
/* Which points there are, and going through them. */
#ifndef TSEM_TESTS_CRASH_SWEEP_H
#define TSEM_TESTS_CRASH_SWEEP_H

#include <stdatomic.h>

#include "play.h"

enum { OPERATIONS_MAX = 64, FAULTS_MAX = 10, WEIGHTS_STRIDE = 5, ROUNDS_MAX = 70, ROUNDS_STRIDE = 4999 };

/* In memory shared by the workers. */
struct tally {
	_Atomic unsigned long steps[OPERATIONS_MAX];   /* of the operation, in all its settings */
	_Atomic unsigned long singles[OPERATIONS_MAX]; /* killed after each of them */
	_Atomic unsigned long pairs[OPERATIONS_MAX];   /* a whole operation in between */
	_Atomic unsigned long grid[OPERATIONS_MAX];    /* part of another one in between */
	_Atomic unsigned long passed_over;             /* left to --full, as they leave what the step before leaves */
	_Atomic unsigned long astray;                  /* took another way than when it was learned; judged as well */
	_Atomic unsigned faults;
	_Atomic unsigned next; /* of all operations in all their settings, for whoever has time */
};

struct sweep {
	struct tally *tally;
	const char *program;
	unsigned worker;
	unsigned workers;
	bool full; /* every step also where somebody stands in line, which takes long */
	bool pairs_only;
	size_t sample;                         /* of the points that leave what the one before leaves, one in so many */
	size_t sample_at;                      /* which of them */
	const char *only;                      /* FIRST: this operation alone; FIRST,SECOND: this pair and no other */
	double deadline;                       /* of the pairs, in seconds of CLOCK_MONOTONIC; 0: none */
	struct scene scenes[CAPACITY_MAX + 1]; /* by capacity */
};

/* Every point of every operation by itself. */
void sweep_singles(struct sweep *sweep);

/* Two operations: the points around changes of the segment first, then the rest, until the time is over. */
void sweep_pairs(struct sweep *sweep);

/* Plays, counts and reports; false when enough faults have been found. */
bool sweep_play(struct sweep *sweep, const struct plan *plan, const struct trace *first, const struct trace *second,
                struct played *played);

/*
 * The trace of the first operation of `plan`, learned now: by itself, or if it looks at everybody, beside the second one
 * that has not begun. False: it makes no sense there.
 */
bool sweep_learn(struct sweep *sweep, const struct plan *plan, struct trace *trace);

#endif

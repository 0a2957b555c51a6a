/* SPDX-License-Identifier: MIT */
/* The sweep: all points of single operations and of pairs. */
#ifndef TSEM_TESTS_CRASH_SWEEP_H
#define TSEM_TESTS_CRASH_SWEEP_H

#include <stdatomic.h>

#include "run_plan.h"

enum { OPERATIONS_MAX = 64, FAULTS_MAX = 10, WEIGHTS_STRIDE = 5, ROUNDS_MAX = 70, ROUNDS_STRIDE = 4999 };

/* In memory that the workers share. */
struct tally {
	_Atomic unsigned long steps[OPERATIONS_MAX];   /* of the operation, in all its settings */
	_Atomic unsigned long singles[OPERATIONS_MAX]; /* kills of the operation by itself */
	_Atomic unsigned long pairs[OPERATIONS_MAX];   /* points with a whole other operation in between */
	_Atomic unsigned long grid[OPERATIONS_MAX];    /* points with a part of another operation in between */
	_Atomic unsigned long skipped;  /* left to --full, because they leave the same state as the step before */
	_Atomic unsigned long diverged; /* the run took another path than its trace; checked as well */
	_Atomic unsigned faults;
	_Atomic unsigned next; /* the next operation and setting that no worker has taken yet */
};

struct sweep {
	struct tally *tally;
	const char *program;
	unsigned worker;
	unsigned workers;
	bool full; /* tries every step */
	bool pairs_only;
	size_t sample;    /* of the steps that leave the same state as the step before, one in `sample` is tried */
	size_t part;      /* of the settings of each single operation, one in `part` is tried */
	size_t sample_at; /* which one of them */
	bool may_contain; /* processes in other PID namespaces are permitted */
	const char *only; /* FIRST: this operation alone; FIRST,SECOND: this pair alone */
	double seconds;   /* for pairs; 0: no limit; less than 0: no pairs */
	double deadline;  /* of the pairs, in seconds of CLOCK_MONOTONIC; 0: none */
	struct fixture fixtures[CAPACITY_MAX + 1]; /* indexed by capacity */
};

/* Tries every point of every single operation. */
void sweep_singles(struct sweep *sweep);

/* Tries pairs of operations, until the deadline: first the points around changes of the segment, then the rest. */
void sweep_pairs(struct sweep *sweep);

/* Runs a plan, and counts and reports its result. False when enough faults have been found. */
bool sweep_run_plan(struct sweep *sweep, const struct plan *plan, const struct trace *first, const struct trace *second,
                    struct result *result);

/*
 * Makes the trace of the first operation of `plan`. If that operation reads the records of all processes, the second
 * executor exists too, but has not begun. False: the operation does not apply there.
 */
bool sweep_learn(struct sweep *sweep, const struct plan *plan, struct trace *trace);

#endif

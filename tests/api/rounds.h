/* SPDX-License-Identifier: MIT */
/* Processes that do the same at once, round after round, beside a process that acquires and releases. */
#ifndef TSEM_TEST_ROUNDS_H
#define TSEM_TEST_ROUNDS_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "tsem.h"

enum { ROUNDS_PROCESSES_MAX = 16 };

/* What a process does once in each round. Returns 0, and its result; else it has failed, as by CHECK(). */
typedef int rounds_act(tsem *sem, int64_t *result);

struct rounds {
	tsem *sem;
	rounds_act *act;
	unsigned processes;
	unsigned rounds;
	pid_t pids[ROUNDS_PROCESSES_MAX + 1];
	_Atomic unsigned ready;
	_Atomic unsigned round;
	_Atomic int64_t sum; /* of the results of this round */
	_Atomic unsigned done;
};

/* Starts the processes. */
struct rounds *rounds_start(tsem *sem, unsigned processes, unsigned rounds, rounds_act *act);

/* Waits until all processes are about to begin round `round`, from 1 on. */
void rounds_get_ready(const struct rounds *rounds, unsigned round);

/* Lets the processes do the round, and returns the sum. */
int64_t rounds_do(struct rounds *rounds, unsigned round);

/* Waits for the ends of the processes, after the last round. */
void rounds_end(struct rounds *rounds);

#endif

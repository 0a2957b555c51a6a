/* SPDX-License-Identifier: MIT */
#include "rounds.h"

#include <sched.h>

#include "support.h"

static int
act_each_round(void *arg)
{
	struct rounds *rounds = arg;
	for (unsigned round = 1; round <= rounds->rounds; round++) {
		atomic_fetch_add(&rounds->ready, 1);
		while (atomic_load(&rounds->round) < round)
			sched_yield();
		int64_t result = 0;
		const int failed = rounds->act(rounds->sem, &result);
		if (failed != 0)
			return failed;
		atomic_fetch_add(&rounds->sum, result);
		atomic_fetch_add(&rounds->done, 1);
	}
	return 0;
}

static int
acquire_and_release(void *arg)
{
	struct rounds *rounds = arg;
	while (atomic_load(&rounds->round) <= rounds->rounds) {
		tsem_hold hold;
		CHECK(tsem_acquire(rounds->sem, 1, NULL, &hold) == 0);
		CHECK(tsem_release(&hold) == 0);
	}
	return 0;
}

struct rounds *
rounds_start(tsem *sem, unsigned processes, unsigned n, rounds_act *act)
{
	struct rounds *rounds = shared_memory(sizeof(*rounds));
	assert_in_range(processes, 1, ROUNDS_PROCESSES_MAX);
	rounds->sem = sem;
	rounds->act = act;
	rounds->processes = processes;
	rounds->rounds = n;
	for (size_t i = 0; i < processes; i++)
		rounds->pids[i] = start_child(act_each_round, rounds);
	rounds->pids[processes] = start_child(acquire_and_release, rounds);
	return rounds;
}

void
rounds_get_ready(const struct rounds *rounds, unsigned round)
{
	while (atomic_load(&rounds->ready) < round * rounds->processes)
		sched_yield();
}

int64_t
rounds_do(struct rounds *rounds, unsigned round)
{
	atomic_store(&rounds->sum, 0);
	atomic_store(&rounds->round, round);
	while (atomic_load(&rounds->done) < round * rounds->processes)
		sched_yield();
	return atomic_load(&rounds->sum);
}

void
rounds_end(struct rounds *rounds)
{
	atomic_store(&rounds->round, rounds->rounds + 1);
	for (size_t i = 0; i <= rounds->processes; i++)
		assert_int_equal(end_of_child(rounds->pids[i]), 0);
}

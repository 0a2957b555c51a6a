/* SPDX-License-Identifier: MIT */
/* Walkers meet after each leg of the way. No walker is ever more than one leg ahead of another. */
#include "barrier.h"

#include "crew.h"

enum { WALKERS = 5, LEGS = 2000 };

struct shared {
	atomic_ulong arrived;
	atomic_int leg[WALKERS];
	atomic_int last_ones;
};

static struct shared *shared;
static struct barrier barrier;

static void
walk(int number)
{
	for (int leg = 1; leg <= LEGS; leg++) {
		atomic_store(&shared->leg[number], leg);
		int rc = barrier_wait(&barrier);
		CHECK(rc >= 0);
		if (rc == 1)
			atomic_fetch_add(&shared->last_ones, 1);
		for (int i = 0; i < WALKERS; i++) {
			const int other = atomic_load(&shared->leg[i]);
			CHECK(other == leg || other == leg + 1);
		}
		if ((leg + number) % WALKERS == 0)
			sched_yield(); /* so that the order changes */
	}
}

static void
meet_twice(int number)
{
	(void)number;
	CHECK(barrier_wait(&barrier) >= 0);
	CHECK(barrier_wait(&barrier) >= 0);
}

/* One walker has arrived and pauses in front of the door; the others go through and come to the next round. */
static void
meet_with_a_dreamer(void)
{
	static const struct timespec past = {0};
	atomic_fetch_add(barrier.arrived, 1);
	for (int i = 1; i < WALKERS; i++)
		start(meet_twice, i);
	AWAIT(stat_of(barrier.doors[1]).waiting == WALKERS - 1);
	CHECK(tsem_take(barrier.doors[0], 1, &past) == 0); /* no other walker has gone through in its place */
	CHECK(barrier_wait(&barrier) == 1);
	all_end_well();
}

int
main(void)
{
	crew_begin();
	shared = shared_memory(sizeof(*shared));
	barrier = (struct barrier){
		.arrived = &shared->arrived,
		.doors = {shared_semaphore(0, 0), shared_semaphore(0, 0)},
		.participants = WALKERS,
	};
	meet_with_a_dreamer();
	for (int i = 0; i < WALKERS; i++)
		start(walk, i);
	all_end_well();
	CHECK(atomic_load(&shared->last_ones) == LEGS);
	printf("%d legs, and all walkers together after each\n", LEGS);
	return 0;
}

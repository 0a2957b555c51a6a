/* SPDX-License-Identifier: MIT */
/*
 * In this form of the dining philosophers, each takes both forks or none, with tsem_acquire_all(). This function
 * acquires forks in the same order for every philosopher, so no circle of philosophers forms in which each waits for
 * the next. One philosopher dies at the table with a fork in each hand, and the others go on.
 */
#include "crew.h"

enum { PHILOSOPHERS = 5, MEALS = 300, LAST_MEAL_OF_ONE = 10 };

struct shared {
	struct room forks[PHILOSOPHERS];
	atomic_int meals;
};

static struct shared *shared;
static tsem *forks[PHILOSOPHERS];

static void
eat(int left, int right)
{
	enter(&shared->forks[left], 1);
	enter(&shared->forks[right], 1);
	leave(&shared->forks[left]);
	leave(&shared->forks[right]);
	atomic_fetch_add(&shared->meals, 1);
}

static void
dine(int number)
{
	const int left = number;
	const int right = (number + 1) % PHILOSOPHERS;
	tsem *const both[] = {forks[left], forks[right]};
	for (int meal = 1; meal <= MEALS; meal++) {
		tsem_hold holds[2];
		CHECK(tsem_acquire_all(both, 2, NULL, holds) == 0);
		eat(left, right);
		if (number == 0 && meal == LAST_MEAL_OF_ONE)
			raise(SIGKILL);
		CHECK(tsem_release(&holds[0]) == 0);
		CHECK(tsem_release(&holds[1]) == 0);
	}
}

/* This process holds all forks while the philosophers sit down, so all of them reach for forks at the same instant. */
static void
start_together(pid_t philosophers[])
{
	tsem_hold holds[PHILOSOPHERS];
	unsigned waiting = 0;
	CHECK(tsem_acquire_all(forks, PHILOSOPHERS, NULL, holds) == 0);
	for (int i = 0; i < PHILOSOPHERS; i++)
		philosophers[i] = start(dine, i);
	while (waiting < PHILOSOPHERS) {
		usleep(200);
		waiting = 0;
		for (int i = 0; i < PHILOSOPHERS; i++)
			waiting += stat_of(forks[i]).waiting;
	}
	for (int i = 0; i < PHILOSOPHERS; i++)
		CHECK(tsem_release(&holds[i]) == 0);
}

int
main(void)
{
	crew_begin();
	shared = shared_memory(sizeof(*shared));
	for (int i = 0; i < PHILOSOPHERS; i++)
		forks[i] = shared_semaphore(1, 0);

	pid_t philosophers[PHILOSOPHERS];
	start_together(philosophers);
	CHECK(status_of(philosophers[0]) == SIGKILL);
	all_end_well();

	CHECK(atomic_load(&shared->meals) == (PHILOSOPHERS - 1) * MEALS + LAST_MEAL_OF_ONE);
	/* If the others had eaten before the one died, no philosopher has recovered its forks. */
	for (int i = 0; i < PHILOSOPHERS; i++)
		CHECK(tsem_recover(forks[i], NULL) == 0 && stat_of(forks[i]).held == 0
		      && atomic_load(&shared->forks[i].most) == 1);
	printf("%d meals; one philosopher died of it\n", atomic_load(&shared->meals));
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * In this form of the dining philosophers, each takes the left fork and then the right one, but only four of the five
 * sit at the table at a time. So at least one of the four can have both forks, and no circle of waiting philosophers
 * forms.
 */
#include "crew.h"

enum { PHILOSOPHERS = 5, CHAIRS = 4, MEALS = 100 };

struct shared {
	struct room forks[PHILOSOPHERS];
	struct room table;
	atomic_int meals;
};

static struct shared *shared;
static tsem *table;
static tsem *forks[PHILOSOPHERS];

static void
use(int fork, struct tsem_hold *hold)
{
	CHECK(tsem_acquire(forks[fork], 1, NULL, hold) == 0);
	enter(&shared->forks[fork], 1);
	usleep(500); /* without the limit of four, each would soon have one fork and wait forever */
}

static void
put_back(int fork, struct tsem_hold *hold)
{
	leave(&shared->forks[fork]);
	CHECK(tsem_release(hold) == 0);
}

static void
dine(int number)
{
	const int left = number;
	const int right = (number + 1) % PHILOSOPHERS;
	for (int meal = 0; meal < MEALS; meal++) {
		tsem_hold left_hand, right_hand;
		TSEM_SCOPED_HOLD(chair);
		CHECK(tsem_acquire(table, 1, NULL, &chair) == 0);
		enter(&shared->table, CHAIRS);
		use(left, &left_hand);
		use(right, &right_hand);
		atomic_fetch_add(&shared->meals, 1);
		put_back(right, &right_hand);
		put_back(left, &left_hand);
		leave(&shared->table);
	}
}

int
main(void)
{
	crew_begin();
	shared = shared_memory(sizeof(*shared));
	table = shared_semaphore(CHAIRS, 0);
	for (int i = 0; i < PHILOSOPHERS; i++)
		forks[i] = shared_semaphore(1, 0);

	for (int i = 0; i < PHILOSOPHERS; i++)
		start(dine, i);
	all_end_well();

	CHECK(atomic_load(&shared->meals) == PHILOSOPHERS * MEALS);
	CHECK(stat_of(table).held == 0);
	printf("%d meals, never more than %u at the table\n", atomic_load(&shared->meals),
	       atomic_load(&shared->table.most));
	return 0;
}

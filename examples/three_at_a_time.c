/* SPDX-License-Identifier: MIT */
/*
 * This loop of ten iterations runs three at a time, as in Microsoft's example of a cooperative semaphore. Here each
 * iteration is a process. The permit ends with its scope, and would come back if the process died.
 */
#include "crew.h"

enum { ITERATIONS = 10, AT_A_TIME = 3 };

struct shared {
	struct room room;
	atomic_bool go_on;
	atomic_int done;
};

static struct shared *shared;
static const char *name;

static void
iterate(int i)
{
	TSEM_SCOPED_HANDLE(sem);
	CHECK(tsem_open(name, 0, &sem) == 0);
	TSEM_SCOPED_HOLD(hold);
	CHECK(tsem_acquire(sem, 1, NULL, &hold) == 0);

	enter(&shared->room, AT_A_TIME);
	printf("in loop iteration %d\n", i);
	AWAIT(atomic_load(&shared->go_on));
	leave(&shared->room);
	atomic_fetch_add(&shared->done, 1);
}

int
main(void)
{
	crew_begin();
	shared = shared_memory(sizeof(*shared));
	name = crew_name("example-three-at-a-time");
	const struct tsem_config config = {.size = sizeof(config), .permits = AT_A_TIME};
	tsem *sem;
	CHECK(tsem_create(name, &config, &sem) == 0);
	for (int i = 0; i < ITERATIONS; i++)
		start(iterate, i);
	AWAIT(stat_of(sem).waiting == ITERATIONS - AT_A_TIME); /* three are in, and seven wait */
	AWAIT(atomic_load(&shared->room.inside) == AT_A_TIME);
	atomic_store(&shared->go_on, true);
	all_end_well();

	CHECK(atomic_load(&shared->done) == ITERATIONS);
	CHECK(atomic_load(&shared->room.most) == AT_A_TIME);
	CHECK(stat_of(sem).held == 0);
	tsem_close(sem);
	return 0;
}

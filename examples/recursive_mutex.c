/* SPDX-License-Identifier: MIT */
/* Threads of several processes lock a mutex that they have again and again. One process dies with the mutex. */
#include "recursive_mutex.h"

#include <pthread.h>

#include "crew.h"

enum { PROCESSES = 3, ROUNDS = 300, DEPTH = 4 };

struct shared {
	struct room room;
	unsigned long visits; /* not atomic */
};

static struct shared *shared;
static struct recursive_mutex mutex;

static void
lock(bool expect_abandoned)
{
	bool abandoned;
	CHECK(recursive_mutex_lock(&mutex, NULL, &abandoned) == 0);
	CHECK(abandoned == expect_abandoned);
}

static void
visit(int depth)
{
	lock(false);
	if (depth == 1)
		enter(&shared->room, 1);
	shared->visits++;
	if (depth < DEPTH)
		visit(depth + 1);
	if (depth == 1)
		leave(&shared->room);
	CHECK(recursive_mutex_unlock(&mutex) == 0);
}

static void *
visit_often(void *arg)
{
	CHECK(recursive_mutex_unlock(&mutex) == -EPERM);
	for (int i = 0; i < ROUNDS; i++)
		visit(1);
	return arg;
}

static void
visit_with_two_threads(int number)
{
	(void)number;
	pthread_t other;
	CHECK(pthread_create(&other, NULL, visit_often, NULL) == 0);
	visit_often(NULL);
	CHECK(pthread_join(other, NULL) == 0);
}

/* Another thread of the owner's process does not have the mutex. */
static void *
try_as_another_thread(void *arg)
{
	static const struct timespec past = {0};
	bool abandoned;
	CHECK(recursive_mutex_lock(&mutex, &past, &abandoned) == -ETIMEDOUT);
	CHECK(recursive_mutex_unlock(&mutex) == -EPERM);
	return arg;
}

static void
die_with_it(int number)
{
	(void)number;
	lock(false);
	lock(false);
	raise(SIGKILL);
}

int
main(void)
{
	crew_begin();
	shared = shared_memory(sizeof(*shared));
	mutex.sem = shared_semaphore(1, 0);

	CHECK(status_of(start(die_with_it, 0)) == SIGKILL);
	lock(true); /* the next owner is told, once */
	lock(false);
	CHECK(recursive_mutex_unlock(&mutex) == 0);
	CHECK(stat_of(mutex.sem).held == 1); /* still locked, once */
	pthread_t other;
	CHECK(pthread_create(&other, NULL, try_as_another_thread, NULL) == 0);
	CHECK(pthread_join(other, NULL) == 0);
	for (int i = 0; i < PROCESSES; i++)
		start(visit_with_two_threads, i);
	AWAIT(stat_of(mutex.sem).waiting == 2 * PROCESSES);
	CHECK(recursive_mutex_unlock(&mutex) == 0);
	CHECK(recursive_mutex_unlock(&mutex) == -EPERM);
	all_end_well();

	CHECK(shared->visits == 2 * PROCESSES * ROUNDS * DEPTH);
	CHECK(stat_of(mutex.sem).held == 0);
	printf("%lu visits, and one owner that died\n", shared->visits);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Prints how many ns sem_wait() and sem_post() take together, and sem_getvalue(), on a named semaphore without competition:
 * the fastest of some rounds. tests/bench/posix runs it with libtsem-posix and without.
 */
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 10, CALLS = 300000 };

static double
now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void
wait_and_post(sem_t *sem)
{
	sem_wait(sem);
	sem_post(sem);
}

static void
get_value(sem_t *sem)
{
	int value;
	sem_getvalue(sem, &value);
}

static double
fastest(void (*call)(sem_t *sem), sem_t *sem)
{
	double best = 1e18;
	for (int round = 0; round < ROUNDS; round++) {
		const double start = now_ns();
		for (int i = 0; i < CALLS; i++)
			call(sem);
		const double took = (now_ns() - start) / CALLS;
		best = took < best ? took : best;
	}
	return best;
}

int
main(void)
{
	char name[64];
	snprintf(name, sizeof(name), "/rounds-%d", (int)getpid());
	sem_t *sem = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	if (sem == SEM_FAILED) {
		perror(name);
		return 1;
	}
	sem_unlink(name);
	printf("%f %f\n", fastest(wait_and_post, sem), fastest(get_value, sem));
	return 0;
}

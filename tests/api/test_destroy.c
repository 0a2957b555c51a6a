/* SPDX-License-Identifier: MIT */
/*
 * The waiter that a post admits closes the handle or unmaps the memory while the post has not returned yet. POSIX
 * allows that after sem_wait(). A post that accesses the memory then dies of SIGSEGV.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ROUNDS = 5000, ROUNDS_QUITTING = 1000, PARTICIPANTS = 4 };

static const struct tsem_config empty = {.size = sizeof(empty), .permits = 0};
static size_t size;

/* The next action of the posting thread. */
static struct {
	sem_t go, over;
	void *memory;
	tsem *sem; /* NULL: a handle of its own, on `memory` */
	_Atomic bool end;
} job;

static void *
post_each_time(void *unused)
{
	for (;;) {
		while (sem_wait(&job.go) != 0)
			;
		if (job.end)
			return unused;
		tsem *sem = job.sem;
		if (sem == NULL && tsem_open_at(job.memory, size, &sem) != 0)
			abort();
		if (tsem_post(sem, 1, NULL) != 0)
			abort();
		if (job.sem == NULL)
			tsem_close(sem);
		sem_post(&job.over);
	}
}

static pthread_t poster;

static int
set_up(void **state)
{
	(void)state;
	size = tsem_size_at(PARTICIPANTS);
	job.end = false;
	sem_init(&job.go, 0, 0);
	sem_init(&job.over, 0, 0);
	return pthread_create(&poster, NULL, post_each_time, NULL);
}

static int
tear_down(void **state)
{
	(void)state;
	job.end = true;
	sem_post(&job.go);
	return pthread_join(poster, NULL);
}

static tsem *
new_semaphore_at(void **memory)
{
	tsem *sem;
	*memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(*memory, MAP_FAILED);
	assert_int_equal(tsem_init_at(*memory, size, &empty, &sem), 0);
	return sem;
}

static void
await_end_of_post(void)
{
	while (sem_wait(&job.over) != 0)
		;
}

/* Unmaps the memory as soon as it is admitted, and closes its own handle later. */
static void
one_round(bool share_handle)
{
	tsem *sem = new_semaphore_at(&job.memory);
	job.sem = share_handle ? sem : NULL;
	sem_post(&job.go);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(mprotect(job.memory, size, PROT_NONE), 0);
	await_end_of_post();
	assert_int_equal(mprotect(job.memory, size, PROT_READ | PROT_WRITE), 0);
	tsem_close(sem);
	munmap(job.memory, size);
}

#define TEST_HERE(name) TEST_BETWEEN(set_up, tear_down, name)

TEST_HERE(the_admitted_waiter_unmaps_the_memory)
{
	for (size_t i = 0; i < ROUNDS; i++)
		one_round(true);
}

TEST_HERE(the_admitted_waiter_unmaps_another_handles_memory)
{
	for (size_t i = 0; i < ROUNDS; i++)
		one_round(false);
}

TEST_HERE(the_admitted_waiter_closes_the_handle)
{
	const char *name = fresh_name();
	for (size_t i = 0; i < ROUNDS; i++) {
		tsem *sem;
		if (i % 1000 == 0) {
			tsem_remove(name, TSEM_FORCE);
			assert_int_equal(tsem_create(name, &empty, NULL), 0);
		}
		assert_int_equal(tsem_open(name, 0, &sem), 0);
		job.sem = sem;
		sem_post(&job.go);
		assert_int_equal(tsem_take(sem, 1, NULL), 0);
		tsem_close(sem);
		await_end_of_post();
	}
	assert_int_equal(tsem_remove(name, 0), 0);
}

/*
 * A waiter behind the admitted one has given up. The post must not skip its ticket after it has admitted the first one.
 */
static void *
wait_in_vain(void *sem)
{
	const struct timespec soon = deadline_in(0);
	if (tsem_take(sem, 1, &soon) != -ETIMEDOUT)
		abort();
	return NULL;
}

static void *
take_and_destroy(void *sem)
{
	if (tsem_take(sem, 1, NULL) != 0)
		abort();
	tsem_close(sem);
	if (mprotect(job.memory, size, PROT_NONE) != 0)
		abort();
	return NULL;
}

TEST_HERE(a_waiter_behind_has_given_up)
{
	for (size_t i = 0; i < ROUNDS_QUITTING; i++) {
		pthread_t waiter, quitter;
		tsem *sem = new_semaphore_at(&job.memory);
		job.sem = sem;
		assert_int_equal(pthread_create(&waiter, NULL, take_and_destroy, sem), 0);
		EVENTUALLY(stat_of(sem).waiting == 1);
		assert_int_equal(pthread_create(&quitter, NULL, wait_in_vain, sem), 0);
		pthread_join(quitter, NULL);
		sem_post(&job.go);
		pthread_join(waiter, NULL);
		await_end_of_post();
		munmap(job.memory, size);
	}
}

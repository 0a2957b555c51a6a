/* SPDX-License-Identifier: MIT */
/* Threads and processes use one handle: never more holders than the capacity, and no permit is lost. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CAPACITY = 3, THREADS = 12, ROUNDS = 2000, PROCESSES = 3 };

/* The holders count themselves here, independently of the semaphore; shared with children. */
struct counts {
	tsem *sem;
	_Atomic uint32_t inside;
	_Atomic uint32_t most;
	_Atomic uint32_t rounds;
	_Atomic uint32_t failures;
};

static struct counts *
new_counts(void)
{
	struct counts *counts = shared_memory(sizeof(*counts));
	counts->sem = new_semaphore(CAPACITY, 0);
	return counts;
}

static void
enter(struct counts *counts, uint32_t count)
{
	const uint32_t now = atomic_fetch_add(&counts->inside, count) + count;
	uint32_t most = atomic_load(&counts->most);
	while (now > most && !atomic_compare_exchange_weak(&counts->most, &most, now))
		;
}

static void
leave(struct counts *counts, uint32_t count)
{
	atomic_fetch_sub(&counts->inside, count);
	atomic_fetch_add(&counts->rounds, 1);
}

/* Alternates between holds and takes of one to three permits. */
static void *
work(void *arg)
{
	struct counts *counts = arg;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint32_t count = i % CAPACITY + 1;
		tsem_hold hold;
		int rc;
		if (i % 4 == 3) {
			rc = tsem_take(counts->sem, count, NULL);
			enter(counts, count);
			leave(counts, count);
			rc |= tsem_post(counts->sem, count, NULL);
		} else {
			rc = tsem_acquire(counts->sem, count, NULL, &hold);
			enter(counts, count);
			leave(counts, count);
			rc |= tsem_release(&hold);
		}
		if (rc != 0)
			atomic_fetch_add(&counts->failures, 1);
	}
	return NULL;
}

static void
run_threads(struct counts *counts)
{
	pthread_t threads[THREADS];
	size_t started = 0;
	while (started < THREADS && pthread_create(&threads[started], NULL, work, counts) == 0)
		started++;
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

static void
expect_balance(struct counts *counts, uint32_t rounds)
{
	assert_int_equal(counts->failures, 0);
	assert_int_equal(counts->rounds, rounds);
	assert_in_range(counts->most, 1, CAPACITY);
	expect_at_rest(counts->sem, CAPACITY);
	tsem_close(counts->sem);
	munmap(counts, sizeof(*counts));
}

TEST(threads_share_a_handle)
{
	struct counts *counts = new_counts();
	run_threads(counts);
	expect_balance(counts, THREADS * ROUNDS);
}

static int
run_threads_in_a_child(void *arg)
{
	run_threads(arg);
	return 0;
}

TEST(processes_with_threads_share_a_semaphore)
{
	struct counts *counts = new_counts();
	pid_t children[PROCESSES];
	for (size_t i = 0; i < PROCESSES; i++)
		children[i] = start_child(run_threads_in_a_child, counts);
	for (size_t i = 0; i < PROCESSES; i++)
		assert_int_equal(end_of_child(children[i]), 0);
	expect_balance(counts, PROCESSES * THREADS * ROUNDS);
}

/* ---- one thread acquires, another one releases ---- */

static void *
release_it(void *arg)
{
	return tsem_release(arg) == 0 ? arg : NULL;
}

TEST(one_thread_acquires_another_releases)
{
	tsem *sem = new_semaphore(1, 0);
	for (int i = 0; i < 100; i++) {
		tsem_hold hold;
		pthread_t thread;
		void *result = NULL;
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_int_equal(pthread_create(&thread, NULL, release_it, &hold), 0);
		pthread_join(thread, &result);
		assert_ptr_equal(result, &hold);
	}
	assert_int_equal(stat_of(sem).available, 1);
	tsem_close(sem);
}

/* ---- reads while others use the semaphore ---- */

static _Atomic bool stop;

static void *
read_in_a_loop(void *arg)
{
	struct counts *counts = arg;
	while (!stop) {
		struct tsem_stat stat = {.size = sizeof(stat)};
		if (tsem_stat(counts->sem, &stat) != 0 || stat.available > CAPACITY || tsem_recover(counts->sem, NULL) != 0)
			atomic_fetch_add(&counts->failures, 1);
	}
	return NULL;
}

TEST(reads_have_no_effect)
{
	struct counts *counts = new_counts();
	pthread_t reader;
	stop = false;
	assert_int_equal(pthread_create(&reader, NULL, read_in_a_loop, counts), 0);
	run_threads(counts);
	stop = true;
	pthread_join(reader, NULL);
	expect_balance(counts, THREADS * ROUNDS);
}

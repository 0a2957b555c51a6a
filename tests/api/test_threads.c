/* SPDX-License-Identifier: MIT */
/* Threads and processes through one handle: never more than the capacity inside, and nothing lost. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CAPACITY = 3, THREADS = 12, ROUNDS = 2000, PROCESSES = 3 };

/* Counted by those inside, independently of the semaphore; shared with children. */
struct witness {
	tsem *sem;
	_Atomic uint32_t inside;
	_Atomic uint32_t most;
	_Atomic uint32_t rounds;
	_Atomic uint32_t failures;
};

static struct witness *
new_witness(void)
{
	struct witness *witness = shared_memory(sizeof(*witness));
	witness->sem = new_semaphore(CAPACITY, 0);
	return witness;
}

static void
enter(struct witness *witness, uint32_t count)
{
	const uint32_t now = atomic_fetch_add(&witness->inside, count) + count;
	uint32_t most = atomic_load(&witness->most);
	while (now > most && !atomic_compare_exchange_weak(&witness->most, &most, now))
		;
}

static void
leave(struct witness *witness, uint32_t count)
{
	atomic_fetch_sub(&witness->inside, count);
	atomic_fetch_add(&witness->rounds, 1);
}

/* Holds and takes of one to three permits, by turns. */
static void *
work(void *arg)
{
	struct witness *witness = arg;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint32_t count = i % CAPACITY + 1;
		tsem_hold hold;
		int rc;
		if (i % 4 == 3) {
			rc = tsem_take(witness->sem, count, NULL);
			enter(witness, count);
			leave(witness, count);
			rc |= tsem_post(witness->sem, count, NULL);
		} else {
			rc = tsem_acquire(witness->sem, count, NULL, &hold);
			enter(witness, count);
			leave(witness, count);
			rc |= tsem_release(&hold);
		}
		if (rc != 0)
			atomic_fetch_add(&witness->failures, 1);
	}
	return NULL;
}

static void
run_threads(struct witness *witness)
{
	pthread_t threads[THREADS];
	size_t started = 0;
	while (started < THREADS && pthread_create(&threads[started], NULL, work, witness) == 0)
		started++;
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

static void
expect_balance(struct witness *witness, uint32_t rounds)
{
	assert_int_equal(witness->failures, 0);
	assert_int_equal(witness->rounds, rounds);
	assert_in_range(witness->most, 1, CAPACITY);
	expect_at_rest(witness->sem, CAPACITY);
	tsem_close(witness->sem);
	munmap(witness, sizeof(*witness));
}

static void
threads_share_a_handle(void **state)
{
	(void)state;
	struct witness *witness = new_witness();
	run_threads(witness);
	expect_balance(witness, THREADS * ROUNDS);
}

static int
run_threads_in_a_child(void *arg)
{
	run_threads(arg);
	return 0;
}

static void
processes_with_threads_share_a_semaphore(void **state)
{
	(void)state;
	struct witness *witness = new_witness();
	pid_t children[PROCESSES];
	for (size_t i = 0; i < PROCESSES; i++)
		children[i] = start_child(run_threads_in_a_child, witness);
	for (size_t i = 0; i < PROCESSES; i++)
		assert_int_equal(end_of_child(children[i]), 0);
	expect_balance(witness, PROCESSES * THREADS * ROUNDS);
}

/* ---- a hold passes between threads ---- */

static void *
release_it(void *arg)
{
	return tsem_release(arg) == 0 ? arg : NULL;
}

static void
one_thread_acquires_another_releases(void **state)
{
	(void)state;
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

/* ---- while others look on ---- */

static _Atomic bool stop;

static void *
look_on(void *arg)
{
	struct witness *witness = arg;
	while (!stop) {
		struct tsem_stat stat = {.size = sizeof(stat)};
		if (tsem_stat(witness->sem, &stat) != 0 || stat.available > CAPACITY || tsem_recover(witness->sem, NULL) != 0)
			atomic_fetch_add(&witness->failures, 1);
	}
	return NULL;
}

static void
looking_on_disturbs_nobody(void **state)
{
	(void)state;
	struct witness *witness = new_witness();
	pthread_t looker;
	stop = false;
	assert_int_equal(pthread_create(&looker, NULL, look_on, witness), 0);
	run_threads(witness);
	stop = true;
	pthread_join(looker, NULL);
	expect_balance(witness, THREADS * ROUNDS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_a_handle),
		cmocka_unit_test(processes_with_threads_share_a_semaphore),
		cmocka_unit_test(one_thread_acquires_another_releases),
		cmocka_unit_test(looking_on_disturbs_nobody),
	};
	support_start(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

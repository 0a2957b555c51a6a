/* SPDX-License-Identifier: MIT */
/* Large numbers of waiters, time-outs, and holds, up to the end of the record table. */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/handle.h"

enum { WAITERS = 10000, TIMEOUTS = 40000, STACK_BYTES = 65536 };

/* A thread that acquires, and its place in the order of admission. */
struct waiter {
	tsem *sem;
	pthread_t thread;
	int result;
	uint32_t admitted; /* from 1; written while holding the only permit */
};

static uint32_t admitted;

static void *
wait_in_queue(void *arg)
{
	struct waiter *waiter = arg;
	tsem_hold hold;
	waiter->result = tsem_acquire(waiter->sem, 1, NULL, &hold);
	if (waiter->result != 0)
		return NULL;
	waiter->admitted = ++admitted; /* the holder is alone: a second one would be a data race and a wrong order */
	waiter->result = tsem_release(&hold);
	return NULL;
}

static bool
start_waiter(struct waiter *waiter, tsem *sem)
{
	pthread_attr_t attributes;
	*waiter = (struct waiter){.sem = sem};
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	const int rc = pthread_create(&waiter->thread, &attributes, wait_in_queue, waiter);
	pthread_attr_destroy(&attributes);
	return rc == 0;
}

/* The number of tickets, which grows with each waiter. A count of the waiters would cost a scan. */
static uint64_t
tickets(tsem *sem)
{
	return counter_value(LOAD_SEQ(&sem->segment.header->tickets));
}

TEST(test_10000_waiters_are_admitted_in_order)
{
	tsem *sem = new_semaphore(1, 0);
	struct waiter *waiters = calloc(WAITERS, sizeof(*waiters));
	tsem_hold hold;
	size_t n = 0;
	assert_non_null(waiters);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	for (; n < WAITERS && start_waiter(&waiters[n], sem); n++)
		EVENTUALLY(tickets(sem) == n + 2);
	assert_int_equal(stat_of(sem).waiting, n);
	admitted = 0;
	assert_int_equal(tsem_release(&hold), 0);
	for (size_t i = 0; i < n; i++)
		pthread_join(waiters[i].thread, NULL);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(waiters[i].result, 0);
		assert_int_equal(waiters[i].admitted, i + 1);
	}
	assert_int_equal(stat_of(sem).available, 1);
	tsem_close(sem);
	free(waiters);
	if (n < WAITERS) {
		print_message("only %zu threads are allowed here\n", n);
		skip();
	}
}

/*
 * Tickets that were given up behind a live waiter stay in use until the front of the queue reaches them. When there are
 * no more, the result is EUSERS.
 */
TEST(test_40000_timeouts_behind_a_waiter_without_deadline)
{
	static const struct timespec past = {0};
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold;
	tsem_hold other;
	struct waiter patient;
	uint32_t timed_out = 0;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_true(start_waiter(&patient, sem));
	EVENTUALLY(stat_of(sem).waiting == 1);
	for (uint32_t i = 0; i < TIMEOUTS; i++) {
		const int rc = tsem_acquire(sem, 1, &past, &other);
		timed_out += rc == -ETIMEDOUT;
		assert_true(rc == -ETIMEDOUT || (rc == -EUSERS && timed_out == RECORDS_MAX - 2));
	}
	assert_int_equal(timed_out, RECORDS_MAX - 2);
	assert_int_equal(stat_of(sem).waiting, 1);
	assert_int_equal(tsem_try_acquire(sem, 1, &other), -EUSERS);

	admitted = 0;
	assert_int_equal(tsem_release(&hold), 0);
	pthread_join(patient.thread, NULL);
	assert_int_equal(patient.result, 0);
	assert_int_equal(patient.admitted, 1);
	EVENTUALLY(stat_of(sem).available == 1);
	assert_int_equal(stat_of(sem).held, 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &other), 0);
	assert_int_equal(tsem_release(&other), 0);
	for (uint32_t i = 0; i < RECORDS_MAX; i++) /* IDLE, or cached */
		assert_in_range(state_kind(LOAD_SEQ(&sem->segment.records[i].state)), STATE_IDLE, STATE_CLAIMED);
	tsem_close(sem);
}

TEST(test_the_record_table_full)
{
	const struct timespec soon = deadline_in(50);
	const uint32_t permits = RECORDS_MAX + 10;
	tsem *sem = new_semaphore(permits, 0);
	tsem_hold *holds = calloc(RECORDS_MAX, sizeof(*holds));
	tsem_hold another;
	assert_non_null(holds);
	for (uint32_t i = 0; i < RECORDS_MAX; i++)
		assert_int_equal(tsem_try_acquire(sem, 1, &holds[i]), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &another), -EUSERS);
	assert_int_equal(tsem_acquire(sem, 1, &soon, &another), -EUSERS);
	/* A take that need not wait needs no record. */
	assert_int_equal(tsem_take(sem, 10, NULL), 0);
	assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
	assert_int_equal(tsem_take(sem, 1, &soon), -EUSERS);
	assert_int_equal(tsem_post(sem, 10, NULL), 0);
	assert_int_equal(stat_of(sem).held, RECORDS_MAX);

	assert_int_equal(tsem_release(&holds[4711]), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &another), 0);
	holds[4711] = another;
	for (uint32_t i = 0; i < RECORDS_MAX; i++)
		assert_int_equal(tsem_release(&holds[i]), 0);
	assert_int_equal(stat_of(sem).available, permits);
	assert_int_equal(stat_of(sem).held, 0);
	tsem_close(sem);
	free(holds);
}

int
main(void)
{
	return run_all_tests(500);
}

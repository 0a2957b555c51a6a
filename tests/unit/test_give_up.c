/* SPDX-License-Identifier: MIT */
/* What ends a wait: a deadline, a signal, a cancellation, a removal; and a permit that comes at the same time. */
#include "fixture.h"

#include <unistd.h>

TEST_HELD(a_wait_ends_at_its_deadline)
{
	static const uint64_t ms[] = {1, 399, 400, 401, 1000, 2345};
	for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		began = fake.clock;
		fake.sleeps = 0;
		const struct timespec deadline = clock_after(ms[i]);
		const uint64_t timeouts = stat_of(sem).timeouts;
		tsem_hold hold;
		assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
		assert_int_equal(fake.clock - began, ms[i] * NS_PER_MS);
		assert_in_range(fake.sleeps, 1, ms[i] / 50 + 2);
		assert_int_equal(stat_of(sem).timeouts, timeouts + 1);
		assert_int_equal(records_in_use(sem), 1);
		assert_int_equal(stat_of(sem).waiting, 0);
	}
	peer_posts();
	assert_int_equal(stat_of(sem).available, 1);
}

TEST_HELD(a_deadline_in_the_past_is_a_try)
{
	const struct timespec past = clock_after(0);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, &past, &hold), -ETIMEDOUT);
	assert_int_equal(tsem_take(sem, 1, &past), -ETIMEDOUT);
	assert_int_equal(fake.sleeps, 0);
	peer_posts();
	assert_int_equal(tsem_acquire(sem, 1, &past, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
}

TEST_HELD(a_deadline_beyond_all_time_does_not_overflow)
{
	static const int64_t seconds[] = {INT64_MAX, INT64_MAX / 2, UINT64_MAX / NS_PER_SECOND + 1, INT32_MAX};
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		const struct timespec deadline = {.tv_sec = (time_t)seconds[i], .tv_nsec = 1};
		tsem_hold hold;
		if (deadline.tv_sec != seconds[i]) /* time_t has 32 bits */
			continue;
		fake.peer = peer_posts;
		assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), 0);
		assert_int_equal(fake.timed_out, 0);
	}
	assert_int_equal(stat_of(sem).timeouts, 0);
}

TEST_HELD(a_waiter_enabled_at_its_deadline_acquires)
{
	const struct timespec deadline = clock_after(40);
	tsem_hold hold;
	fake.peer = peer_posts_and_dies_before_waking; /* so the sleep ends by its time */
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), 0);
	assert_int_equal(fake.clock - began, 40 * NS_PER_MS);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).available, 1);
}

TEST_HELD(a_signal_does_not_cost_the_ticket)
{
	tsem_hold hold;
	fake.sleep_result = -EINTR;
	fake.at_sleep = 1;
	const struct timespec deadline = clock_after(40);
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(fake.sleeps, 2);
	assert_int_equal(tickets_of(sem), 2); /* one arrival, not two */
}

TEST_HELD(a_signal_ends_an_interruptible_wait)
{
	const struct tsem_wait options = {.size = sizeof(options), .flags = TSEM_INTERRUPTIBLE};
	tsem_hold hold;
	fake.sleep_result = -EINTR;
	fake.at_sleep = 1;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -EINTR);
	assert_int_equal(fake.sleeps, 1);
	assert_int_equal(records_in_use(sem), 1);

	fake.at_sleep = 2;
	assert_int_equal(tsem_take_wait(sem, 1, &options), -EINTR);
	assert_int_equal(records_in_use(sem), 1);

	/* No permit is lost that comes together with the signal. */
	fake.at_sleep = 3;
	fake.peer = peer_posts_and_dies_before_waking;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).available, 1);
}

static void
peer_cancels(void)
{
	peer_cancels_and_dies_before_waking();
	wake_all(sem);
}

TEST_HELD(a_cancellation_ends_the_waits_of_that_moment)
{
	tsem_hold hold;
	fake.peer = peer_cancels;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -ECANCELED);
	assert_int_equal(fake.timed_out, 0);
	fake.peer = peer_cancels;
	assert_int_equal(tsem_take(sem, 1, NULL), -ECANCELED);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(records_in_use(sem), 1);

	/* A later wait is not cancelled. */
	const struct timespec deadline = clock_after(1);
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
}

static void
peer_removes(void)
{
	assert_int_equal(tsem_remove(sem_name, TSEM_FORCE), 0);
}

TEST_HELD(a_removal_ends_a_wait_and_refuses_further_operations)
{
	tsem_hold hold;
	fake.peer = peer_removes;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EIDRM);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EIDRM);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
	assert_int_equal(tsem_take(sem, 1, NULL), -EIDRM);
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	assert_int_equal(tsem_post(sem, 1, NULL), -EIDRM);
}

TEST_HELD(a_removal_ends_a_wait_for_idleness)
{
	fake.peer = peer_removes;
	assert_int_equal(tsem_wait_idle(sem, 0, NULL), -EIDRM);
	assert_int_equal(fake.timed_out, 0);
}

static uint64_t timed_out_before;
static void (*peer_action)(void);

static void
peer_acts(void)
{
	timed_out_before = fake.timed_out;
	peer_action();
}

/* The peer acts within each call of the platform. No sleep after that times out. */
static void
ends_at_once(void (*action)(void), int expected)
{
	enum { INSTANTS = 20 };
	peer_action = action;
	for (uint64_t at = 1; at <= INSTANTS; at++) {
		begin_held(1);
		fake.at_call = at;
		fake.peer = peer_acts;
		tsem_hold hold;
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), expected);
		assert_null(fake.peer);
		assert_int_equal(fake.timed_out, timed_out_before);
	}
	assert_true(fake.timed_out >= 2);
}

TEST_HELD(a_cancellation_at_any_instant_ends_the_wait_at_once)
{
	ends_at_once(peer_cancels, -ECANCELED);
}

TEST_HELD(a_removal_at_any_instant_ends_the_wait_at_once)
{
	ends_at_once(peer_removes, -EIDRM);
}

static void
peer_deletes_the_file(void)
{
	assert_int_equal(unlink(file_of(sem_name)), 0);
}

TEST_HELD(a_deleted_file_is_noticed_at_the_next_tick)
{
	tsem_hold hold;
	fake.peer = peer_deletes_the_file;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EIDRM);
	assert_in_range(fake.clock - began, 1, TICK);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
}

/* ---- without a record ---- */

/* Each record belongs to a hold of a live process. */
TEST_HELD(without_a_free_record_there_is_no_wait)
{
	tsem_hold hold;
	use_up_all_records(UNUSED_PROCESS);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EUSERS);
	assert_int_equal(tsem_take(sem, 1, NULL), -EUSERS);
	assert_int_equal(tsem_post_and_take(sem, sem), -EUSERS);
	assert_int_equal(fake.sleeps, 0);
	assert_int_equal(stat_of(sem).timeouts, 0);
}

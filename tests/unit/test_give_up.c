/* SPDX-License-Identifier: MIT */
/* The end of a wait without a permit: deadlines, signals, a cancellation, a removal. Or with one, at the last instant. */
#include "one_held.h"

#include <errno.h>
#include <unistd.h>

static void
deadlines(void **state)
{
	(void)state;
	static const uint64_t ms[] = {1, 399, 400, 401, 1000, 2345};
	for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		began = fake.clock;
		fake.sleeps = 0;
		const struct timespec deadline = clock_after(ms[i]);
		const uint64_t timeouts = stat_of(sem).timeouts;
		tsem_hold hold;
		assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
		assert_int_equal(fake.clock - began, ms[i] * NS_PER_MS);
		assert_in_range(fake.sleeps, 1, ms[i] / 400 + 2);
		assert_int_equal(stat_of(sem).timeouts, timeouts + 1);
		assert_int_equal(records_in_use(sem), 1);
		assert_int_equal(stat_of(sem).waiting, 0);
	}
	others_post();
	assert_int_equal(stat_of(sem).available, 1);
}

static void
a_deadline_in_the_past_is_a_try(void **state)
{
	(void)state;
	const struct timespec past = clock_after(0);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, &past, &hold), -ETIMEDOUT);
	assert_int_equal(tsem_take(sem, 1, &past), -ETIMEDOUT);
	assert_int_equal(fake.sleeps, 0);
	others_post();
	assert_int_equal(tsem_acquire(sem, 1, &past, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
}

/* As far away as a deadline can be said to be: no overflow makes one in the past of it. */
static void
a_deadline_beyond_all_time(void **state)
{
	(void)state;
	static const time_t seconds[] = {INT64_MAX, INT64_MAX / 2, UINT64_MAX / NS_PER_SECOND + 1};
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		const struct timespec deadline = {.tv_sec = seconds[i], .tv_nsec = 1};
		tsem_hold hold;
		fake.others = others_post;
		assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), 0);
		assert_int_equal(fake.timed_out, 0);
	}
	assert_int_equal(stat_of(sem).timeouts, 0);
}

static void
enabled_at_the_last_instant(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(100);
	tsem_hold hold;
	fake.others = others_post_and_die_before_waking; /* and the sleep ends by its time */
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), 0);
	assert_int_equal(fake.clock - began, 100 * NS_PER_MS);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).available, 1);
}

static void
ticks_go_on_while_nothing_happens(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(60000);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_in_range(fake.sleeps, 150, 152);
	for (size_t i = 1; i < 60; i++)
		assert_in_range(fake.slept_until[i] - fake.slept_until[i - 1], 1, TICK_MAX);
}

static void
a_signal_handler_does_not_cost_the_place(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.sleep_result = -EINTR;
	fake.at_sleep = 1;
	const struct timespec deadline = clock_after(100);
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(fake.sleeps, 2);
	assert_int_equal(tickets_of(sem), 2); /* one arrival, not two */
}

static void
interruptible_if_asked_for(void **state)
{
	(void)state;
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

	/* Nothing is lost if the permit came together with the signal. */
	fake.at_sleep = 3;
	fake.others = others_post_and_die_before_waking;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).available, 1);
}

static void
others_cancel(void)
{
	ADD_SEQ(&sem->segment.header->cancels, 1);
	wake_all(sem);
}

static void
cancelled(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_cancel;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -ECANCELED);
	assert_int_equal(fake.timed_out, 0);
	fake.others = others_cancel;
	assert_int_equal(tsem_take(sem, 1, NULL), -ECANCELED);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(records_in_use(sem), 1);

	/* Only those who waited then. */
	const struct timespec deadline = clock_after(1);
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
}

static void
others_remove(void)
{
	assert_int_equal(tsem_remove(name, TSEM_FORCE), 0);
}

static void
removed(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_remove;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EIDRM);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EIDRM);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
	assert_int_equal(tsem_take(sem, 1, NULL), -EIDRM);
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	assert_int_equal(tsem_post(sem, 1, NULL), -EIDRM);
}

/* And whoever waits until it is idle. */
static void
removed_while_somebody_waits_until_it_is_idle(void **state)
{
	(void)state;
	fake.others = others_remove;
	assert_int_equal(tsem_wait_idle(sem, 0, NULL), -EIDRM);
	assert_int_equal(fake.timed_out, 0);
}

static uint64_t timed_out_before;
static void (*what_others_do)(void);

static void
others_act(void)
{
	timed_out_before = fake.timed_out;
	what_others_do();
}

/* At every instant at which the waiter calls out: from then on no sleep may last until its time. */
static void
ends_at_once(void **state, void (*others)(void), int expected)
{
	enum { INSTANTS = 20 };
	what_others_do = others;
	for (uint64_t at = 1; at <= INSTANTS; at++) {
		tear_down(state);
		set_up(state);
		fake.at_call = at;
		fake.others = others_act;
		tsem_hold hold;
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), expected);
		assert_null(fake.others);
		assert_int_equal(fake.timed_out, timed_out_before);
	}
	assert_true(fake.timed_out >= 2);
}

static void
cancelled_at_any_instant(void **state)
{
	ends_at_once(state, others_cancel, -ECANCELED);
}

static void
removed_at_any_instant(void **state)
{
	ends_at_once(state, others_remove, -EIDRM);
}

static void
others_delete_the_file(void)
{
	assert_int_equal(unlink(file_of(name)), 0);
}

static void
a_deleted_file_is_noticed_at_the_next_tick(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_delete_the_file;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EIDRM);
	assert_in_range(fake.clock - began, 1, TICK_MAX);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
}

/* ---- no place even in the line ---- */

/* Live processes have every record there is. */
static void
use_up_all_records(void)
{
	assert_int_equal(segment_reserve(&sem->segment, RECORDS_MAX), 0);
	STORE_SEQ(&sem->segment.header->reserved, RECORDS_MAX);
	for (uint32_t i = 0; i < RECORDS_MAX; i++) {
		STORE_SEQ(&sem->segment.records[i].owner, NOBODY);
		STORE_SEQ(&sem->segment.records[i].state, state_next(0, STATE_HELD, 0));
	}
}

static void
others_leave(void)
{
	struct record *record = &sem->segment.records[12345];
	STORE_SEQ(&record->state, state_next(0, STATE_IDLE, 0));
	others_post();
	record_free_for(sem, 12345, record, LOAD_SEQ(&record->owner));
}

static void
waiting_for_a_record(void **state)
{
	(void)state;
	tsem_hold hold;
	use_up_all_records();
	fake.others = others_leave;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(state_kind(state_of(sem, 12345)), STATE_HELD);
}

static void
giving_up_the_wait_for_a_record(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(250);
	const struct tsem_wait options = {.size = sizeof(options), .flags = TSEM_INTERRUPTIBLE};
	tsem_hold hold;
	use_up_all_records();
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -EUSERS);
	assert_int_equal(fake.clock - began, 250 * NS_PER_MS);
	fake.at_sleep = fake.sleeps + 1;
	fake.sleep_result = -EINTR;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -EINTR);
	fake.others = others_cancel;
	assert_int_equal(tsem_take_wait(sem, 1, &options), -ECANCELED);
	fake.others = others_delete_the_file;
	assert_int_equal(tsem_take(sem, 1, NULL), -EIDRM);
	assert_int_equal(tickets_of(sem), 1); /* nobody was in line */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(deadlines),
		TEST(a_deadline_in_the_past_is_a_try),
		TEST(a_deadline_beyond_all_time),
		TEST(enabled_at_the_last_instant),
		TEST(ticks_go_on_while_nothing_happens),
		TEST(a_signal_handler_does_not_cost_the_place),
		TEST(interruptible_if_asked_for),
		TEST(cancelled),
		TEST(removed),
		TEST(removed_while_somebody_waits_until_it_is_idle),
		TEST(cancelled_at_any_instant),
		TEST(removed_at_any_instant),
		TEST(a_deleted_file_is_noticed_at_the_next_tick),
		TEST(waiting_for_a_record),
		TEST(giving_up_the_wait_for_a_record),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

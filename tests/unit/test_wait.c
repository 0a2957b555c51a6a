/* SPDX-License-Identifier: MIT */
/* Waiting, as the waiter sees it: wake-ups that come at the worst instant or not at all, deadlines, and giving up. */
#include "fake.h"

#include <errno.h>
#include <unistd.h>

#include "wait.h"

#define TICK_MAX (400 * NS_PER_MS)

static tsem *sem;
static const char *name;
static uint64_t began;

/* One permit, held by a process that lives. */
static int
set_up(void **state)
{
	(void)state;
	name = fresh_name();
	sem = new_semaphore_named(name, 1, 0);
	set_counters(sem, 1, 0);
	put_record(sem, 40, NOBODY, STATE_HELD, 0, 0, 1);
	fake_begin();
	began = fake.clock;
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	fake_end();
	tsem_close(sem);
	return 0;
}

static struct timespec
clock_after(uint64_t ms)
{
	const uint64_t ns = began + ms * NS_PER_MS;
	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_SECOND), .tv_nsec = (long)(ns % NS_PER_SECOND)};
}

/* ---- wake-ups ---- */

static void
others_post(void)
{
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
}

static void
a_post_between_the_bit_and_the_sleep(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_post;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], &sem->segment.array[slot_index(1, sem->salt)]);
	assert_int_equal(fake.woken_bits[0] & fake.slept_bits, fake.slept_bits);
}

static uint64_t timed_out_before;

static void
others_post_one_by_one(void)
{
	timed_out_before = fake.timed_out;
	for (int i = 0; i < 3; i++)
		others_post();
}

/* At every instant at which the waiter calls out: from then on no sleep may last until its time. */
static void
a_post_at_any_instant(void **state)
{
	enum { INSTANTS = 30 }; /* looking around, several sleeps, and what comes between */
	static const uint32_t counts[] = {1, 3};
	for (size_t i = 0; i < 2; i++) {
		for (uint64_t at = 1; at <= INSTANTS; at++) {
			tear_down(state);
			sem = new_semaphore(3, 0);
			set_counters(sem, 3, 0);
			put_record(sem, 40, NOBODY, STATE_HELD, 0, 0, 3);
			fake_begin();
			fake.at_call = at;
			fake.others = others_post_one_by_one;
			tsem_hold hold;
			assert_int_equal(tsem_acquire(sem, counts[i], NULL, &hold), 0);
			assert_null(fake.others);
			assert_int_equal(fake.timed_out, timed_out_before);
			assert_int_equal(tsem_release(&hold), 0);
		}
		assert_true(fake.timed_out >= 2);
	}
}

static void
others_post_the_last(void)
{
	timed_out_before = fake.timed_out;
	others_post();
}

static void
others_post_all_but_one(void)
{
	others_post();
	others_post();
	fake.others = others_post_the_last;
}

/* Who waits for three is not disturbed by the first two, and woken by the third. */
static void
permits_that_come_one_by_one(void **state)
{
	tear_down(state);
	sem = new_semaphore(3, 0);
	set_counters(sem, 3, 0);
	put_record(sem, 40, NOBODY, STATE_HELD, 0, 0, 3);
	fake_begin();
	fake.others = others_post_all_but_one;
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 3, NULL, &hold), 0);
	assert_null(fake.others);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(timed_out_before, 1);
	assert_int_equal(fake.timed_out, 1);
	assert_int_equal(tsem_release(&hold), 0);
}

static void
others_post_and_die_before_waking(void)
{
	ADD_SEQ(&sem->segment.header->grants, word_make(1, 0));
}

static void
a_waker_that_dies_costs_one_tick(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_post_and_die_before_waking;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_int_equal(fake.timed_out, 1);
	assert_in_range(fake.clock - began, 1, TICK_MAX);
}

/* Woken by mistake, or by somebody on the same word: it goes on waiting, and still for no longer than a tick. */
static void
a_wake_up_for_nothing(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(300);
	tsem_hold hold;
	fake.sleep_result = 0;
	fake.at_sleep = 1;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(fake.sleeps, 2);
	assert_int_equal(fake.clock - began, 300 * NS_PER_MS);
}

static uint32_t
waiting_record(void)
{
	uint32_t i = 0;
	while (i < LOAD_SEQ(&sem->segment.reserved) && what_state(what_of(sem, i)) != STATE_QUEUED)
		i++;
	return i;
}

/* Somebody who lowered the capacity found that the waiter had been enabled before. */
static void
others_admit(void)
{
	const uint32_t i = waiting_record();
	const uint64_t what = what_of(sem, i);
	STORE_SEQ(&sem->segment.records[i].what, what_next(what, STATE_HELD, what_value(what)));
	wake_everybody(sem);
}

static void
admitted_although_not_enabled(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_admit;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(grants_of(sem), 1);
}

static uint32_t waited_in;

static void
others_post_and_clear_the_stamp(void)
{
	waited_in = waiting_record();
	STORE_SEQ(&sem->segment.records[waited_in].since, 0);
	others_post();
}

/* Whoever looks at a holder wants to know for how long it holds, not for how long it waited before that. */
static void
the_time_held_counts_from_the_admission(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_post_and_clear_the_stamp;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(what_state(what_of(sem, waited_in)), STATE_HELD);
	assert_int_not_equal(LOAD_SEQ(&sem->segment.records[waited_in].since), 0);
	assert_int_equal(tsem_release(&hold), 0);
}

/* ---- the end of patience ---- */

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
	wake_everybody(sem);
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

/* ---- progress ---- */

struct progress {
	uint32_t calls;
	uint32_t position;
	uint32_t stop_at; /* the call that gives up */
	uint64_t at[64];
};

static int
note_progress(void *arg, uint32_t position)
{
	struct progress *progress = arg;
	if (progress->calls < 64)
		progress->at[progress->calls] = fake.clock - began;
	progress->position = position;
	return ++progress->calls == progress->stop_at;
}

static void
progress_is_reported_at_its_pace(void **state)
{
	(void)state;
	struct progress progress = {0};
	const struct timespec deadline = clock_after(2100);
	const struct tsem_wait options = {
		.size = sizeof(options), .deadline = &deadline, .progress = note_progress, .arg = &progress, .every_ms = 250};
	tsem_hold hold;
	/* Two wait in front: one with a weight. */
	set_counters(sem, 5, 0);
	put_record(sem, 41, NOBODY, STATE_QUEUED, 0, 1, 1);
	put_record(sem, 42, NOBODY, STATE_QUEUED, 0, 2, 3);
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ETIMEDOUT);
	assert_int_equal(progress.calls, 8);
	for (uint32_t i = 0; i < progress.calls; i++)
		assert_int_equal(progress.at[i], (i + 1) * 250 * NS_PER_MS);
	assert_int_equal(progress.position, 3);
}

static void
progress_without_a_pace_comes_with_the_ticks(void **state)
{
	(void)state;
	struct progress progress = {0};
	const struct timespec deadline = clock_after(4000);
	const struct tsem_wait options = {
		.size = sizeof(options), .deadline = &deadline, .progress = note_progress, .arg = &progress};
	tsem_hold hold;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ETIMEDOUT);
	assert_in_range(progress.calls, 9, 12);
	assert_in_range(fake.sleeps, 9, 12);
	assert_int_equal(progress.position, 0); /* not looked up */
}

static void
progress_may_give_up(void **state)
{
	(void)state;
	struct progress progress = {.stop_at = 3};
	const struct tsem_wait options = {
		.size = sizeof(options), .progress = note_progress, .arg = &progress, .every_ms = 100};
	tsem_hold hold;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ECANCELED);
	assert_int_equal(progress.calls, 3);
	assert_int_equal(fake.clock - began, 300 * NS_PER_MS);
	assert_int_equal(records_in_use(sem), 1);
	assert_int_equal(stat_of(sem).timeouts, 1);
}

/* ---- the look for the dead ---- */

static uint64_t judged;
static bool holder_is_dead;

static int
judge_the_holder(const struct owner *owner)
{
	(void)owner;
	judged++;
	return holder_is_dead ? 0 : 1;
}

static void
the_holder_dies(void)
{
	holder_is_dead = true;
}

static void
a_dead_holder_costs_less_than_half_a_second(void **state)
{
	(void)state;
	tsem_hold hold;
	holder_is_dead = false;
	platform.judge = judge_the_holder;
	fake.others = the_holder_dies; /* just after the first look */
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_in_range(fake.clock - began, 1, 499 * NS_PER_MS);
	assert_int_equal(stat_of(sem).recovered, 1);
}

/* Too soon after the last look for another one: but before it gives up, a waiter looks once more. */
static void
a_holder_found_dead_at_the_deadline(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(50);
	tsem_hold hold;
	holder_is_dead = false;
	platform.judge = judge_the_holder;
	fake.others = the_holder_dies;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), 0);
	assert_int_equal(fake.clock - began, 50 * NS_PER_MS);
	assert_int_equal(stat_of(sem).recovered, 1);
	assert_int_equal(tsem_release(&hold), 0);
}

/* Of many waiters one looks; but none relies on a look that is older than a tick. */
static void
looks_are_shared(void **state)
{
	(void)state;
	tsem_hold hold;
	holder_is_dead = false;
	platform.judge = judge_the_holder;
	judged = 0;
	STORE_SEQ(&sem->segment.header->scanned, began - 99 * NS_PER_MS);
	const struct timespec deadline = clock_after(10000);
	fake.others = NULL;
	fake.at_sleep = 1;
	fake.sleep_result = -EAGAIN;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(fake.slept_until[0], began - 99 * NS_PER_MS + TICK_MAX);
	assert_in_range(judged, 24, 27);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_post_between_the_bit_and_the_sleep),
		TEST(a_post_at_any_instant),
		TEST(permits_that_come_one_by_one),
		TEST(a_waker_that_dies_costs_one_tick),
		TEST(a_wake_up_for_nothing),
		TEST(admitted_although_not_enabled),
		TEST(the_time_held_counts_from_the_admission),
		TEST(deadlines),
		TEST(a_deadline_in_the_past_is_a_try),
		TEST(enabled_at_the_last_instant),
		TEST(ticks_go_on_while_nothing_happens),
		TEST(a_signal_handler_does_not_cost_the_place),
		TEST(interruptible_if_asked_for),
		TEST(cancelled),
		TEST(removed),
		TEST(a_deleted_file_is_noticed_at_the_next_tick),
		TEST(progress_is_reported_at_its_pace),
		TEST(progress_without_a_pace_comes_with_the_ticks),
		TEST(progress_may_give_up),
		TEST(a_dead_holder_costs_less_than_half_a_second),
		TEST(a_holder_found_dead_at_the_deadline),
		TEST(looks_are_shared),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Waiting, as the waiter sees it: wake-ups that come at the worst instant or not at all. */
#include "one_held.h"

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
	assert_ptr_equal(fake.woken[0], ticket_word(sem, 1));
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

/* However often it wakes up by itself it is one sleeper, and the kernel need not look for another one. */
static void
who_has_looked_around_is_nobody_else(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_post;
	fake.others_from_sleep = 3;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 3);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(LOAD_SEQ(fake.woken[0]) & WORD_SLEEPER_BITS, 0); /* and has taken back what it said */
	assert_int_equal(tsem_release(&hold), 0);
}

static uint32_t
waiting_record(void)
{
	uint32_t i = 0;
	while (i < LOAD_SEQ(&sem->segment.reserved) && state_kind(state_of(sem, i)) != STATE_QUEUED)
		i++;
	return i;
}

/* Somebody who lowered the capacity found that the waiter had been enabled before. */
static void
others_admit(void)
{
	const uint32_t i = waiting_record();
	const uint64_t state = state_of(sem, i);
	STORE_SEQ(&sem->segment.records[i].state, state_next(state, STATE_HELD, state_value(state)));
	wake_all(sem);
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
	assert_int_equal(state_kind(state_of(sem, waited_in)), STATE_HELD);
	assert_int_not_equal(LOAD_SEQ(&sem->segment.records[waited_in].since), 0);
	assert_int_equal(tsem_release(&hold), 0);
}

/* Where waiting in a loop never pays off it is tried once in 64 waits, and a try in vain is not followed up. */
static void
loops_that_never_pay(void **state)
{
	enum { TRIALS = 10, WAITS = 64 * TRIALS };
	(void)state;
	if (wait_spin_ceiling() == 0)
		SKIP("one processor: nobody waits in a loop");
	STORE_RLX(&sem->spin, 0);
	for (int i = 0; i < WAITS; i++) {
		const struct timespec deadline = clock_after(1000);
		began = fake.clock;
		set_counters(sem, 1, 0); /* next in line */
		assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	}
	assert_in_range(fake.pauses, TRIALS, TRIALS * SPIN_MAX / 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_post_between_the_bit_and_the_sleep),
		TEST(a_post_at_any_instant),
		TEST(permits_that_come_one_by_one),
		TEST(a_waker_that_dies_costs_one_tick),
		TEST(a_wake_up_for_nothing),
		TEST(who_has_looked_around_is_nobody_else),
		TEST(admitted_although_not_enabled),
		TEST(the_time_held_counts_from_the_admission),
		TEST(loops_that_never_pay),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

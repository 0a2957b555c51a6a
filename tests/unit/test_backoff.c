/* SPDX-License-Identifier: MIT */
/* Who has just let somebody in stays away from the line for a moment: when, and what others can do meanwhile. */
#include "one_held.h"

static uint64_t tickets_at_pause;

static void
others_look(void)
{
	tickets_at_pause = tickets_of(sem);
}

static void
others_look_and_post(void)
{
	others_look();
	others_post();
}

/* Ours is the permit, somebody else is next, and waiting in a loop has been paying off. */
static void
let_the_next_one_in(void)
{
	set_counters(sem, 2, 0);
	put_record(sem, 41, NOBODY, STATE_QUEUED, 0, 1, 1);
	STORE_RLX(&sem->spin, SPIN_MAX);
	others_post();
	tickets_at_pause = 0;
}

/* So whoever was let in can be done with it before this process makes it hand the permit on. */
static void
before_there_is_a_place_in_line(void **state)
{
	(void)state;
	let_the_next_one_in();
	fake.others_at_pause = others_look_and_post;
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(tickets_at_pause, 2);
	assert_int_equal(fake.sleeps, 0);

	tear_down(state);
	set_up(state);
	let_the_next_one_in();
	tsem_hold hold;
	fake.others_at_pause = others_look_and_post;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tickets_at_pause, 2);
	assert_int_equal(fake.sleeps, 0);
	assert_int_equal(tsem_release(&hold), 0);
}

/* Not for ever: afterwards it stands in line as anybody does. */
static void
and_then_in_line(void **state)
{
	(void)state;
	let_the_next_one_in();
	const struct timespec deadline = clock_after(100);
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	assert_true(fake.pauses > 0);
	assert_int_equal(tickets_of(sem), 3);
}

/* The first pause, if any, is in line. */
static void
assert_in_line_at_once(void)
{
	const struct timespec deadline = clock_after(100);
	fake.others_at_pause = others_look;
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	assert_true(tickets_at_pause == 0 || tickets_at_pause == 3);
}

static void
not_when_others_gave_back_since(void **state)
{
	(void)state;
	let_the_next_one_in();
	/* By another handle, as it were: it knows nothing of what this one passed on. */
	const uint64_t last_handoff = LOAD_RLX(&sem->last_handoff);
	set_counters(sem, 3, 1);
	put_record(sem, 42, NOBODY, STATE_QUEUED, 0, 2, 1);
	others_post();
	STORE_RLX(&sem->last_handoff, last_handoff);
	const struct timespec deadline = clock_after(100);
	fake.others_at_pause = others_look;
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	assert_true(tickets_at_pause == 0 || tickets_at_pause == 4);
}

/* Others are next in any case, and the longer it stays away the longer it keeps the processor from the one it woke. */
static void
not_when_others_wait(void **state)
{
	(void)state;
	let_the_next_one_in();
	set_counters(sem, 3, 1);
	put_record(sem, 42, NOBODY, STATE_QUEUED, 0, 2, 1);
	const struct timespec deadline = clock_after(100);
	fake.others_at_pause = others_look;
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	assert_true(tickets_at_pause == 0 || tickets_at_pause == 4);
}

static void
not_when_nobody_was_let_in(void **state)
{
	(void)state;
	let_the_next_one_in();
	STORE_RLX(&sem->last_handoff, 0);
	assert_in_line_at_once();
}

static void
not_when_loops_do_not_pay(void **state)
{
	(void)state;
	let_the_next_one_in();
	STORE_RLX(&sem->spin, 0);
	assert_in_line_at_once();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(before_there_is_a_place_in_line), TEST(and_then_in_line),
		TEST(not_when_others_gave_back_since), TEST(not_when_others_wait),
		TEST(not_when_nobody_was_let_in),      TEST(not_when_loops_do_not_pay),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

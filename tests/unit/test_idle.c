/* SPDX-License-Identifier: MIT */
/*
 * What others do in the middle of a look at the records, which is interrupted when it gets to the second page of them; and
 * what is left behind by those who waited.
 */
#include "fake.h"

#include <errno.h>

#include "interrupt.h"

enum { FIRST = 0, SECOND_PAGE = RECORDS_PER_PAGE };

static tsem *sem;

static void
interrupt_the_next_look(void (*action)(void))
{
	interrupt_at(&sem->segment.records[SECOND_PAGE], PROT_NONE, action);
}

/* Without permits: there is only what is posted. */
static int
set_up(void **state)
{
	(void)state;
	sem = new_semaphore(0, 0);
	assert_int_equal(segment_reserve(&sem->segment, 2 * RECORDS_PER_PAGE), 0);
	STORE_SEQ(&sem->segment.header->reserved, 2 * RECORDS_PER_PAGE);
	fake_begin();
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

static void
release(uint32_t index)
{
	put_record(sem, index, 0, STATE_IDLE, STATE_PHASES, 8, 1);
	ADD_SEQ(&sem->segment.header->grants, counter_word_make(1, 0));
	notify_idle(sem);
}

/* The first to go enables the waiter, who is in before the second goes: at no instant does nobody hold. */
static void
both_go_and_the_waiter_enters(void)
{
	release(SECOND_PAGE);
	put_record(sem, FIRST, NOBODY, STATE_HELD, 0, 2, 1);
	release(SECOND_PAGE + 1);
}

static void
whoever_enters_behind_the_look_holds(void **state)
{
	(void)state;
	static const struct timespec past;
	SKIP_IF_UNINTERRUPTED();
	set_counters(sem, 3, 2);
	put_record(sem, FIRST, NOBODY, STATE_QUEUED, 0, 2, 1);
	put_record(sem, SECOND_PAGE, NOBODY, STATE_HELD, 0, 0, 1);
	put_record(sem, SECOND_PAGE + 1, NOBODY, STATE_HELD, 0, 1, 1);
	interrupt_the_next_look(both_go_and_the_waiter_enters);
	assert_int_equal(tsem_wait_idle(sem, TSEM_HOLDERS, &past), -ETIMEDOUT);
	assert_null(interruption.action);
	assert_int_equal(state_kind(state_of(sem, FIRST)), STATE_HELD);
}

static void
somebody_gets_in_line(void)
{
	set_counters(sem, 2, 1);
	put_record(sem, SECOND_PAGE, NOBODY, STATE_QUEUED, 0, 1, 1);
}

static void
the_holder_goes(void)
{
	release(FIRST);
	interrupt_the_next_look(somebody_gets_in_line);
}

/* Nothing need ever happen after that, so nobody would wake who went back to sleep because of it. */
static void
an_arrival_behind_the_look_is_not_slept_over(void **state)
{
	(void)state;
	SKIP_IF_UNINTERRUPTED();
	set_counters(sem, 1, 0);
	put_record(sem, FIRST, NOBODY, STATE_HELD, 0, 0, 1);
	fake.others = the_holder_goes;
	assert_int_equal(tsem_wait_idle(sem, TSEM_HOLDERS, NULL), 0);
	assert_null(interruption.action);
	assert_int_equal(fake.timed_out, 0);
}

/* ---- what is left behind ---- */

static uint64_t
pending(void)
{
	return LOAD_SEQ(&sem->segment.header->pending) & (PENDING_IDLE | PENDING_HOLDERS);
}

static void
somebody_holds(void)
{
	set_counters(sem, 1, 0);
	put_record(sem, FIRST, NOBODY, STATE_HELD, 0, 0, 1);
}

/* The last that was woken: those who wait, too, set their bits again then. */
static void
expect_others_woken(uint32_t bits)
{
	assert_int_equal(pending(), 0);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], &sem->segment.header->idle);
	assert_int_equal(fake.woken_bits[0], bits);
	fake.wakes = 0;
}

static void
the_word_is_that_of(uint32_t before)
{
	assert_int_equal(LOAD_SEQ(&sem->segment.header->idle), before);
}

/* Whoever moves G would look after it as long as anybody holds. */
static void
who_gives_up_leaves_nothing(void **state)
{
	(void)state;
	static const unsigned flags[] = {0, TSEM_HOLDERS};
	static const uint32_t bits[] = {PENDING_IDLE, PENDING_HOLDERS};
	const struct timespec deadline = {.tv_sec = 1003};
	somebody_holds();
	for (int i = 0; i < 2; i++) {
		the_word_is_that_of((uint32_t)i);
		assert_int_equal(tsem_wait_idle(sem, flags[i], &deadline), -ETIMEDOUT);
		expect_others_woken(bits[i]);
		fake.clock = 1000 * NS_PER_SECOND;
	}
	fake.at_sleep = fake.sleeps + 1;
	fake.sleep_result = -EINTR;
	assert_int_equal(tsem_wait_idle(sem, TSEM_INTERRUPTIBLE, &deadline), -EINTR);
	expect_others_woken(PENDING_IDLE);
}

/* Again and again, it would have all of them look at all records. */
static void
a_try_wakes_nobody(void **state)
{
	(void)state;
	static const struct timespec past;
	somebody_holds();
	STORE_SEQ(&sem->segment.header->pending, PENDING_IDLE | PENDING_HOLDERS);
	assert_int_equal(tsem_wait_idle(sem, 0, &past), -ETIMEDOUT);
	assert_int_equal(tsem_wait_idle(sem, TSEM_HOLDERS, &past), -ETIMEDOUT);
	assert_int_equal(pending(), PENDING_IDLE | PENDING_HOLDERS);
	assert_int_equal(fake.wakes, 0);
}

static void
the_first_goes(void)
{
	release(FIRST);
	assert_int_equal(pending(), 0); /* told */
	fake.wakes = 0;
}

static void
who_was_told_leaves_nothing(void **state)
{
	(void)state;
	somebody_holds();
	fake.others = the_first_goes;
	assert_int_equal(tsem_wait_idle(sem, 0, NULL), 0);
	assert_int_equal(pending(), 0);
}

/* What one leaves that was killed, tsem_recover() takes away, but not the hint of an orphan beside it. */
static void
the_bits_of_the_dead(void **state)
{
	(void)state;
	somebody_holds();
	set_counters(sem, 3, 0);
	put_record(sem, FIRST + 1, owner_orphan(2), STATE_QUEUED, 0, 2, 1);
	STORE_SEQ(&sem->segment.header->pending, pending_next(PENDING_IDLE | PENDING_HOLDERS, true, 2));
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) & PENDING_MASK, PENDING_ORPHANS);
	expect_others_woken(PENDING_IDLE | PENDING_HOLDERS);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* ---- the short roads, on which nothing but the counters moves ---- */

static tsem *one;
static tsem_hold its_hold;

static void
others_post_one(void)
{
	assert_int_equal(tsem_post(one, 1, NULL), 0);
}

static void
others_release_it(void)
{
	assert_int_equal(tsem_release(&its_hold), 0);
}

/* Who sleeps is woken, and does not find out by itself after a while. */
static void
idle_after(void (*others)(void), unsigned flags)
{
	const uint64_t timed_out = fake.timed_out;
	fake.others = others;
	assert_int_equal(tsem_wait_idle(one, flags, NULL), 0);
	assert_null(fake.others);
	assert_int_equal(fake.timed_out, timed_out);
}

static void
woken_by_a_post_and_by_a_release(void **state)
{
	(void)state;
	one = new_semaphore(1, 0);
	assert_int_equal(tsem_take(one, 1, NULL), 0);
	idle_after(others_post_one, 0);
	/* The second time with the record that is kept. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tsem_acquire(one, 1, NULL, &its_hold), 0);
		idle_after(others_release_it, i == 0 ? 0 : TSEM_HOLDERS);
	}
	tsem_close(one);
}

/* A signal that comes when it is idle already does not hide that. */
static void
idle_when_interrupted(void **state)
{
	(void)state;
	one = new_semaphore(1, 0);
	assert_int_equal(tsem_take(one, 1, NULL), 0);
	for (int idle = 0; idle <= 1; idle++) {
		fake.at_sleep = fake.sleeps + 1;
		fake.sleep_result = -EINTR;
		fake.others = idle ? others_post_one : NULL;
		assert_int_equal(tsem_wait_idle(one, TSEM_INTERRUPTIBLE, NULL), idle ? 0 : -EINTR);
		assert_int_equal(fake.sleeps, fake.at_sleep);
	}
	tsem_close(one);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whoever_enters_behind_the_look_holds), TEST(an_arrival_behind_the_look_is_not_slept_over),
		TEST(who_gives_up_leaves_nothing),          TEST(a_try_wakes_nobody),
		TEST(who_was_told_leaves_nothing),          TEST(the_bits_of_the_dead),
		TEST(woken_by_a_post_and_by_a_release),     TEST(idle_when_interrupted),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

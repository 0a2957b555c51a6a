/* SPDX-License-Identifier: MIT */
/*
 * What others do in the middle of a look at the records: the look is interrupted when it gets to the second page of them.
 */
#include "fake.h"

#include <errno.h>

#include "idle.h"
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
	put_record(sem, index, 0, STATE_IDLE, WHAT_FACES, 8, 1);
	ADD_SEQ(&sem->segment.header->grants, word_make(1, 0));
	idle_notify(sem);
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
	assert_int_equal(what_state(what_of(sem, FIRST)), STATE_HELD);
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

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whoever_enters_behind_the_look_holds),
		TEST(an_arrival_behind_the_look_is_not_slept_over),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

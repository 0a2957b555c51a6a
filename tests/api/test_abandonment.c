/* SPDX-License-Identifier: MIT */
/* tsem_hold_recovered(): a hold learns that an earlier holder died. */
#include "support.h"

#include <errno.h>

static void
kill_a_holder(tsem *sem)
{
	const uint64_t held = stat_of(sem).held;
	const pid_t holder = start_child(hold_until_killed, sem);
	EVENTUALLY(stat_of(sem).held == held + 1);
	kill_child(holder);
}

TEST(one_learns_it)
{
	tsem *sem = new_semaphore(2, 0);
	tsem_hold before, first, after;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &before), 0);
	kill_a_holder(sem);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &first), 0);
	assert_false(tsem_hold_recovered(&before));
	assert_true(tsem_hold_recovered(&first));
	assert_true(tsem_hold_recovered(&first)); /* stays true */
	assert_int_equal(tsem_release(&before), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &after), 0);
	assert_false(tsem_hold_recovered(&after));
	assert_int_equal(stat_of(sem).recovered, 1);
	tsem_close(sem);
}

static int
expect_recovered(void *arg)
{
	tsem_hold hold;
	CHECK(tsem_acquire(arg, 1, NULL, &hold) == 0);
	return tsem_hold_recovered(&hold) ? 42 : 0;
}

/* A holder that has learnt of a death dies itself: the next holder learns it. */
TEST(learnt_again)
{
	tsem *sem = new_semaphore(1, 0);
	kill_a_holder(sem);
	for (int i = 0; i < 3; i++)
		assert_int_equal(end_of_child(start_child(expect_recovered, sem)), 42);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_true(tsem_hold_recovered(&hold)); /* the last holder has released */
	tsem_close(sem);
}

static int
wait_briefly(void *arg)
{
	const struct timespec soon = deadline_in(30);
	return tsem_take(arg, 1, &soon) == -ETIMEDOUT ? 0 : 1;
}

/* A waiter that gives up or dies, and a process that takes anonymously, leave nothing to learn. */
TEST(waiters_leave_nothing_to_learn)
{
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(end_of_child(start_child(wait_briefly, sem)), 0);
	const pid_t waiter = start_child(hold_until_killed, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	kill_child(waiter);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_false(tsem_hold_recovered(&hold));
	tsem_close(sem);
}

/* A call that acquires and gives back passes on what it has learnt. */
TEST(the_mark_is_passed_on)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	tsem *other = new_semaphore(1, 0);
	tsem *const both[] = {sem, other};
	const struct timespec past = {0};
	const struct tsem_wait at_once = {.size = sizeof(at_once), .deadline = &past};
	tsem_hold holds[2];
	kill_a_holder(sem);
	assert_int_equal(tsem_take(other, 1, NULL), 0);
	assert_int_equal(tsem_acquire_all(both, 2, &at_once, holds), -ETIMEDOUT);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &holds[0]), 0);
	assert_true(tsem_hold_recovered(&holds[0]));
	tsem_close(sem);
	tsem_close(other);
}

TEST(given_back_unused)
{
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold;
	kill_a_holder(sem);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_true(tsem_hold_recovered(&hold));
		assert_int_equal(tsem_reap(&hold, TSEM_ABANDONED), 0);
	}
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_reap(&hold, 0), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_false(tsem_hold_recovered(&hold));
	tsem_close(sem);
}

/* SPDX-License-Identifier: MIT */
/* A limit on the number of waiters, while others come and go between the look at the queue and the arrival. */
#include "fixture.h"

/* The records of W, X and Y, which want one permit each, and are not this process. E is 103. */
enum { W = 0, X = 1, Y = 2, LIMIT = 103 };

static void
wait_in_queue(uint32_t index, uint32_t pid, uint64_t ticket)
{
	put_record(sem, index, pid == 0 ? UNUSED_PROCESS : owner_process(pid, 1), STATE_QUEUED, 0, ticket, 1);
	set_counters(sem, ticket + 1, LIMIT - 3);
}

static void
leave(uint32_t index, uint64_t ticket)
{
	put_record(sem, index, owner_orphan(ticket), STATE_QUEUED, 0, ticket, 1);
}

/* -EAGAIN: refused. -ETIMEDOUT: it was in the queue. */
static int
wait_unless(uint32_t max_waiting)
{
	const struct timespec past = {0};
	const struct tsem_wait options = {.size = sizeof(options), .deadline = &past, .max_waiting = max_waiting};
	tsem_hold hold;
	return tsem_acquire_wait(sem, 1, &options, &hold);
}

TEST_RECOVERY(a_waiter_that_is_dead_does_not_count)
{
	wait_in_queue(W, 1, LIMIT);
	wait_in_queue(X, 0, LIMIT + 1); /* it is recovered when it is next */
	assert_int_equal(wait_unless(2), -ETIMEDOUT);
	wait_in_queue(X, 0, LIMIT + 1);
	unused_process_is_alive = true;
	assert_int_equal(wait_unless(2), -EAGAIN);
	assert_int_equal(wait_unless(3), -ETIMEDOUT);
}

TEST_RECOVERY(neither_do_holders_and_those_who_have_left)
{
	put_record(sem, W, owner_process(1, 1), STATE_HELD, 0, LIMIT - 3, 2);
	put_record(sem, X, owner_process(2, 1), STATE_QUEUED, 0, LIMIT - 1, 1); /* enabled, and not awake yet */
	set_counters(sem, LIMIT, LIMIT - 3);
	assert_int_equal(wait_unless(1), -ETIMEDOUT);
	wait_in_queue(W, 1, LIMIT);
	leave(W, LIMIT);
	assert_int_equal(wait_unless(1), -ETIMEDOUT);
}

static void
another_arrives(void)
{
	wait_in_queue(X, 2, LIMIT + 1);
}

TEST_RECOVERY(one_that_arrives_behind_the_look_counts)
{
	wait_in_queue(W, 1, LIMIT);
	during_judgement = another_arrives;
	assert_int_equal(wait_unless(2), -EAGAIN);
}

static void
all_leave_and_another_arrives(void)
{
	leave(W, LIMIT);
	leave(X, LIMIT + 1);
	wait_in_queue(Y, 3, LIMIT + 2);
}

TEST_RECOVERY(those_who_did_not_wait_at_one_time_do_not_add_up)
{
	wait_in_queue(W, 1, LIMIT);
	wait_in_queue(X, 2, LIMIT + 1);
	assert_int_equal(wait_unless(2), -EAGAIN); /* the second look within 10 ms is not repeated after a recovery */
	during_judgement = all_leave_and_another_arrives;
	assert_int_equal(wait_unless(2), -ETIMEDOUT);
}

/* SPDX-License-Identifier: MIT */
/* The backoff: a process that has just let a waiter in stays out of the queue for a moment (wait_backoff()). */
#include "fixture.h"

static uint64_t tickets_at_pause;

static void
peer_looks(void)
{
	tickets_at_pause = tickets_of(sem);
}

static void
peer_looks_and_posts(void)
{
	peer_looks();
	peer_posts();
}

/* This process releases the permit to a waiter, and spinning has been paying off. */
static void
begin_after_a_handoff(void)
{
	set_counters(sem, 2, 0);
	put_record(sem, 41, UNUSED_PROCESS, STATE_QUEUED, 0, 1, 1);
	STORE_RLX(&sem->spin, SPIN_MAX);
	peer_posts();
	tickets_at_pause = 0;
}

/* The process that was let in can post before this one has a ticket. */
TEST_HELD(it_backs_off_before_it_queues_up)
{
	begin_after_a_handoff();
	fake.peer_at_pause = peer_looks_and_posts;
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(tickets_at_pause, 2);
	assert_int_equal(fake.sleeps, 0);

	begin_held(1);
	begin_after_a_handoff();
	tsem_hold hold;
	fake.peer_at_pause = peer_looks_and_posts;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tickets_at_pause, 2);
	assert_int_equal(fake.sleeps, 0);
	assert_int_equal(tsem_release(&hold), 0);
}

TEST_HELD(it_queues_up_after_the_backoff)
{
	begin_after_a_handoff();
	const struct timespec deadline = clock_after(100);
	fake.peer_at_pause = peer_looks;
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	assert_int_equal(tickets_at_pause, 2);
	assert_int_equal(tickets_of(sem), 3);
}

/* A pause of some processors takes longer than the backoff of others. */
TEST_HELD(it_lasts_a_time)
{
	const uint64_t pauses[] = {1, 40, BACKOFF_FOR, 10 * BACKOFF_FOR};
	begin_after_a_handoff();
	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		fake.pause_lasts = pauses[i];
		const uint64_t before = fake.clock;
		wait_backoff(sem);
		assert_in_range(fake.clock - before, BACKOFF_FOR, BACKOFF_FOR + pauses[i] - 1);
	}
}

/* It has its ticket at the first pause, if it pauses at all: `tickets` were taken by then. */
static void
expect_queued_at_once(uint64_t tickets)
{
	const struct timespec deadline = clock_after(100);
	fake.peer_at_pause = peer_looks;
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	assert_true(tickets_at_pause == 0 || tickets_at_pause == tickets);
}

TEST_HELD(no_backoff_after_a_later_release_by_another_process)
{
	begin_after_a_handoff();
	/* As another process would do it: this handle's last_handoff stays as it was. */
	const uint64_t last_handoff = LOAD_RLX(&sem->last_handoff);
	set_counters(sem, 3, 1);
	put_record(sem, 42, UNUSED_PROCESS, STATE_QUEUED, 0, 2, 1);
	peer_posts();
	STORE_RLX(&sem->last_handoff, last_handoff);
	expect_queued_at_once(4);
}

/* Those are next in any case, and a backoff would keep the processor from the waiter that was woken. */
TEST_HELD(no_backoff_while_others_wait)
{
	begin_after_a_handoff();
	set_counters(sem, 3, 1);
	put_record(sem, 42, UNUSED_PROCESS, STATE_QUEUED, 0, 2, 1);
	expect_queued_at_once(4);
}

TEST_HELD(no_backoff_without_a_handoff)
{
	begin_after_a_handoff();
	STORE_RLX(&sem->last_handoff, 0);
	expect_queued_at_once(3);
}

TEST_HELD(no_backoff_where_spinning_does_not_pay)
{
	begin_after_a_handoff();
	STORE_RLX(&sem->spin, 0);
	expect_queued_at_once(3);
}

/* SPDX-License-Identifier: MIT */
/*
 * Waiting for idleness: what other processes do while the records are being read, and what a waiter leaves behind. A
 * test interrupts the reading where it comes to the second page of records.
 */
#include "fixture.h"

#include "stop.h"

enum { FIRST = 0, SECOND_PAGE = RECORDS_PER_PAGE };

static void
interrupt_the_next_look(void (*action)(void))
{
	interrupt_at(&sem->segment.records[SECOND_PAGE], PROT_NONE, action);
}

static int
set_up(void **state)
{
	(void)state;
	begin_fake(0);
	assert_int_equal(segment_reserve(&sem->segment, 2 * RECORDS_PER_PAGE), 0);
	STORE_SEQ(&sem->segment.header->reserved, 2 * RECORDS_PER_PAGE);
	return 0;
}

static void
release(uint32_t index)
{
	put_record(sem, index, 0, STATE_IDLE, STATE_PHASES, 8, 1);
	ADD_SEQ(&sem->segment.header->grants, counter_word_make(1, 0));
	notify_idle(sem);
}

/* The first release enables the waiter, which holds before the second release. So the semaphore is never idle. */
static void
both_release_and_the_waiter_enters(void)
{
	release(SECOND_PAGE);
	put_record(sem, FIRST, UNUSED_PROCESS, STATE_HELD, 0, 2, 1);
	release(SECOND_PAGE + 1);
}

TEST_WITH(set_up, a_waiter_that_enters_behind_the_look_is_not_missed)
{
	static const struct timespec past;
	SKIP_WITHOUT_PAGE_FAULTS();
	set_counters(sem, 3, 2);
	put_record(sem, FIRST, UNUSED_PROCESS, STATE_QUEUED, 0, 2, 1);
	put_record(sem, SECOND_PAGE, UNUSED_PROCESS, STATE_HELD, 0, 0, 1);
	put_record(sem, SECOND_PAGE + 1, UNUSED_PROCESS, STATE_HELD, 0, 1, 1);
	interrupt_the_next_look(both_release_and_the_waiter_enters);
	assert_int_equal(tsem_wait_idle(sem, TSEM_HOLDERS, &past), -ETIMEDOUT);
	assert_true(was_interrupted());
	assert_int_equal(state_kind(state_of(sem, FIRST)), STATE_HELD);
}

static void
a_waiter_arrives(void)
{
	set_counters(sem, 2, 1);
	put_record(sem, SECOND_PAGE, UNUSED_PROCESS, STATE_QUEUED, 0, 1, 1);
}

static void
the_holder_releases(void)
{
	release(FIRST);
	interrupt_the_next_look(a_waiter_arrives);
}

/* No later event might wake the process that waits for idleness, if it slept because of that arrival. */
TEST_WITH(set_up, a_process_that_arrives_behind_the_look_does_not_hold)
{
	SKIP_WITHOUT_PAGE_FAULTS();
	set_counters(sem, 1, 0);
	put_record(sem, FIRST, UNUSED_PROCESS, STATE_HELD, 0, 0, 1);
	fake.peer = the_holder_releases;
	assert_int_equal(tsem_wait_idle(sem, TSEM_HOLDERS, NULL), 0);
	assert_true(was_interrupted());
	assert_int_equal(fake.timed_out, 0);
}

/* ---- what is left behind ---- */

static uint64_t
pending(void)
{
	return LOAD_SEQ(&sem->segment.header->pending) & (PENDING_IDLE | PENDING_HOLDERS);
}

static void
begin_with_a_holder(void)
{
	set_counters(sem, 1, 0);
	put_record(sem, FIRST, UNUSED_PROCESS, STATE_HELD, 0, 0, 1);
}

/* Waiters for idleness were woken. Each of them sets its bit again if it goes on waiting. */
static void
expect_waiters_woken(uint32_t bits)
{
	assert_int_equal(pending(), 0);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], &sem->segment.header->idle);
	assert_int_equal(fake.woken_bits[0], bits);
	fake.wakes = 0;
}

static void
expect_word(uint32_t before)
{
	assert_int_equal(LOAD_SEQ(&sem->segment.header->idle), before);
}

/* Each process that moves G would have to look at the records because of the bit, as long as a permit is held. */
TEST_WITH(set_up, a_waiter_that_gives_up_clears_its_bit_and_wakes_the_others)
{
	static const unsigned flags[] = {0, TSEM_HOLDERS};
	static const uint32_t bits[] = {PENDING_IDLE, PENDING_HOLDERS};
	const struct timespec deadline = {.tv_sec = 1003};
	begin_with_a_holder();
	for (int i = 0; i < 2; i++) {
		expect_word((uint32_t)i);
		assert_int_equal(tsem_wait_idle(sem, flags[i], &deadline), -ETIMEDOUT);
		expect_waiters_woken(bits[i]);
		fake.clock = 1000 * NS_PER_SECOND;
	}
	fake.at_sleep = fake.sleeps + 1;
	fake.sleep_result = -EINTR;
	assert_int_equal(tsem_wait_idle(sem, TSEM_INTERRUPTIBLE, &deadline), -EINTR);
	expect_waiters_woken(PENDING_IDLE);
}

/* Tries in a loop would make all waiters read all records again and again. */
TEST_WITH(set_up, a_try_wakes_no_waiter)
{
	static const struct timespec past;
	begin_with_a_holder();
	STORE_SEQ(&sem->segment.header->pending, PENDING_IDLE | PENDING_HOLDERS);
	assert_int_equal(tsem_wait_idle(sem, 0, &past), -ETIMEDOUT);
	assert_int_equal(tsem_wait_idle(sem, TSEM_HOLDERS, &past), -ETIMEDOUT);
	assert_int_equal(pending(), PENDING_IDLE | PENDING_HOLDERS);
	assert_int_equal(fake.wakes, 0);
}

static void
the_first_releases_and_wakes(void)
{
	release(FIRST);
	assert_int_equal(pending(), 0);
	fake.wakes = 0;
}

TEST_WITH(set_up, a_waiter_that_was_woken_leaves_no_bit)
{
	begin_with_a_holder();
	fake.peer = the_first_releases_and_wakes;
	assert_int_equal(tsem_wait_idle(sem, 0, NULL), 0);
	assert_int_equal(pending(), 0);
}

/* tsem_recover() clears the bits, but not the hint at an orphan in the same word. */
TEST_WITH(set_up, recovery_clears_the_bits_of_dead_waiters)
{
	begin_with_a_holder();
	set_counters(sem, 3, 0);
	put_record(sem, FIRST + 1, owner_orphan(2), STATE_QUEUED, 0, 2, 1);
	STORE_SEQ(&sem->segment.header->pending, pending_next(PENDING_IDLE | PENDING_HOLDERS, true, 2));
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) & PENDING_MASK, PENDING_ORPHANS);
	expect_waiters_woken(PENDING_IDLE | PENDING_HOLDERS);
}

/* ---- the fast path, on which only the counters move ---- */

static tsem *one;
static tsem_hold peers_hold;

static void
peer_posts_one(void)
{
	assert_int_equal(tsem_post(one, 1, NULL), 0);
}

static void
peer_releases_its_hold(void)
{
	assert_int_equal(tsem_release(&peers_hold), 0);
}

/* The waiter is woken, and does not wait for its next tick. */
static void
idle_after(void (*action)(void), unsigned flags)
{
	const uint64_t timed_out = fake.timed_out;
	fake.peer = action;
	assert_int_equal(tsem_wait_idle(one, flags, NULL), 0);
	assert_null(fake.peer);
	assert_int_equal(fake.timed_out, timed_out);
}

TEST_WITH(set_up, a_post_and_a_release_on_the_fast_path_wake)
{
	one = new_semaphore(1, 0);
	assert_int_equal(tsem_take(one, 1, NULL), 0);
	idle_after(peer_posts_one, 0);
	/* The second time with the cached record. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tsem_acquire(one, 1, NULL, &peers_hold), 0);
		idle_after(peer_releases_its_hold, i == 0 ? 0 : TSEM_HOLDERS);
	}
	tsem_close(one);
}

/* The signal comes when the semaphore is idle already. */
TEST_WITH(set_up, idleness_counts_more_than_a_signal)
{
	one = new_semaphore(1, 0);
	assert_int_equal(tsem_take(one, 1, NULL), 0);
	for (int idle = 0; idle <= 1; idle++) {
		fake.at_sleep = fake.sleeps + 1;
		fake.sleep_result = -EINTR;
		fake.peer = idle ? peer_posts_one : NULL;
		assert_int_equal(tsem_wait_idle(one, TSEM_INTERRUPTIBLE, NULL), idle ? 0 : -EINTR);
		assert_int_equal(fake.sleeps, fake.at_sleep);
	}
	tsem_close(one);
}

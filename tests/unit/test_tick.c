/* SPDX-License-Identifier: MIT */
/* Which waiters of a long queue wake up at which tick, and what one of them does for all. */
#include "fixture.h"

enum { PERMITS = 3, DEADLINE_MS = 10000, SLEEPS_SEEN = 12 };

static uint64_t tickets_behind;

static void
peers_queue_up(void)
{
	const uint64_t tickets = tickets_of(sem);
	set_counters(sem, tickets + tickets_behind, grants_of(sem));
}

/* Waits for `count` permits with `ahead` tickets in front. `behind` tickets are drawn during the first sleep. */
static void
wait_in_vain(uint64_t ahead, uint64_t behind, uint32_t count)
{
	tsem_hold hold;
	begin_held(PERMITS);
	const struct timespec deadline = clock_after(DEADLINE_MS);
	set_counters(sem, PERMITS + ahead, 0);
	tickets_behind = behind;
	fake.peer = peers_queue_up;
	assert_int_equal(tsem_acquire(sem, count, &deadline, &hold), -ETIMEDOUT);
	assert_true(fake.sleeps > SLEEPS_SEEN);
}

static bool
is_a_multiple(uint64_t time)
{
	return time % TICK_MAX == 0;
}

static void
expect_each_tick(void)
{
	for (size_t i = 1; i < SLEEPS_SEEN; i++) {
		assert_true(is_a_multiple(fake.slept_until[i]));
		assert_int_equal(fake.slept_until[i] - fake.slept_until[i - 1], TICK_MAX);
	}
}

/* From the second sleep on, which is the first one with waiters behind. Returns whether these are the odd ticks. */
static bool
expect_every_second_tick(void)
{
	assert_in_range(fake.slept_until[1] - fake.slept_until[0], TICK_MAX, 2 * TICK_MAX);
	for (size_t i = 2; i < SLEEPS_SEEN; i++) {
		assert_true(is_a_multiple(fake.slept_until[i]));
		assert_int_equal(fake.slept_until[i] - fake.slept_until[i - 1], 2 * TICK_MAX);
	}
	return fake.slept_until[1] / TICK_MAX % 2 != 0;
}

static void
near_the_ends_of_the_queue_waiters_wake_up_at_each_tick(void **state)
{
	(void)state;
	static const uint64_t queues[][2] = {{0, 0}, {20, 20}, {63, 63}, {0, 1000}, {63, 1000}, {1000, 0}, {1000, 63}};
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		for (uint32_t count = 1; count <= PERMITS; count++) {
			wait_in_vain(queues[i][0], queues[i][1], count);
			expect_each_tick();
		}
	}
}

/* So one of two neighbours wakes up at each tick, however many permits they wait for. */
static void
in_the_middle_neighbours_wake_up_at_alternate_ticks(void **state)
{
	(void)state;
	static const uint64_t queues[][2] = {{64, 64}, {65, 1000}, {1000, 64}, {499, 499}};
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		for (uint32_t count = 1; count <= PERMITS; count++) {
			wait_in_vain(queues[i][0], queues[i][1], count);
			const bool odd = expect_every_second_tick();
			wait_in_vain(queues[i][0] + count, queues[i][1], count);
			assert_int_not_equal(expect_every_second_tick(), odd);
		}
	}
}

static void
the_queue_moves_on(void)
{
	set_counters(sem, tickets_of(sem), 100);
}

static void
peers_queue_up_and_then_the_queue_moves_on(void)
{
	peers_queue_up();
	fake.peer = the_queue_moves_on;
}

static void
a_waiter_that_comes_to_the_front_wakes_up_at_each_tick(void **state)
{
	(void)state;
	tsem_hold hold;
	const struct timespec deadline = clock_after(DEADLINE_MS);
	set_counters(sem, 101 + 40, 0);
	tickets_behind = 1000;
	fake.peer = peers_queue_up_and_then_the_queue_moves_on;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(grants_of(sem), 100);
	for (size_t i = 2; i < SLEEPS_SEEN; i++)
		assert_int_equal(fake.slept_until[i] - fake.slept_until[i - 1], TICK_MAX);
}

static uint64_t judged;

static int
judge_dead_at_the_second_look(const struct process_id *owner)
{
	(void)owner;
	return ++judged == 2 ? LIVENESS_DEAD : LIVENESS_ALIVE;
}

/* More processes may be about to die with that one. */
static void
a_waiter_that_finds_a_dead_owner_looks_again_soon(void **state)
{
	(void)state;
	for (uint64_t ticket = 1000; ticket < 1002; ticket++) {
		tsem_hold hold;
		begin_held(PERMITS);
		const struct timespec deadline = clock_after(DEADLINE_MS);
		set_counters(sem, ticket, 0);
		tickets_behind = 1000;
		judged = 0;
		platform.judge = judge_dead_at_the_second_look;
		fake.peer = peers_queue_up;
		assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
		assert_int_equal(grants_of(sem), PERMITS);
		assert_int_equal(fake.slept_until[1] - fake.slept_until[0], LOOK_EVERY);
		assert_true(is_a_multiple(fake.slept_until[2]));
	}
}

static uint32_t progress_calls;

static int
count_progress(void *arg, uint32_t position)
{
	(void)arg;
	(void)position;
	progress_calls++;
	return 0;
}

static int
judge_alive(const struct process_id *owner)
{
	(void)owner;
	judged++;
	return LIVENESS_ALIVE;
}

/* How long after the tick the peer looks. */
static int64_t looks_after;

static void
peer_looks_at_each_tick(void)
{
	const uint64_t tick = fake.slept_until[fake.sleeps - 1];
	if (is_a_multiple(tick))
		STORE_SEQ(&sem->segment.header->scanned, tick + (uint64_t)looks_after);
	fake.peer = peer_looks_at_each_tick;
}

/* Returns how often the waiter looked, except for its looks before it first sleeps and at its deadline. */
static uint64_t
looks_of_its_own(int64_t after, const struct tsem_wait *options)
{
	tsem_hold hold;
	judged = 0;
	looks_after = after;
	platform.judge = judge_alive;
	fake.peer = peer_looks_at_each_tick;
	assert_int_equal(tsem_acquire_wait(sem, 1, options, &hold), -ETIMEDOUT);
	fake.peer = NULL;
	return judged - 2;
}

/* It does not read the clock either: each call is that of a sleep. */
static void
a_waiter_does_not_look_when_another_process_has_looked(void **state)
{
	(void)state;
	enum { TICKS = 25, AT_THE_ENDS = 6 };
	const struct timespec deadline = clock_after(DEADLINE_MS);
	const struct tsem_wait options = {.size = sizeof(options), .deadline = &deadline, .progress = count_progress};
	progress_calls = 0;
	assert_int_equal(looks_of_its_own((int64_t)(LOOK_EVERY - NS_PER_MS), &options), 0);
	assert_in_range(fake.sleeps, TICKS, TICKS + 1);
	assert_in_range(fake.calls - fake.sleeps, 1, AT_THE_ENDS);
	assert_in_range(progress_calls, TICKS - 1, TICKS);
}

/* The look was long ago, or in another time namespace, or this process did not run meanwhile. */
static void
a_look_at_another_time_does_not_count(void **state)
{
	(void)state;
	static const int64_t distances[] = {-1, -100 * (int64_t)NS_PER_MS, 100 * (int64_t)NS_PER_MS,
	                                    3600 * (int64_t)NS_PER_SECOND};
	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		begin_held(1);
		const struct timespec deadline = clock_after(DEADLINE_MS);
		const struct tsem_wait options = {.size = sizeof(options), .deadline = &deadline};
		assert_in_range(looks_of_its_own(distances[i], &options), 23, 25);
	}
}

static void
peer_looks_posts_and_dies_before_waking(void)
{
	peer_looks_at_each_tick();
	fake.peer = NULL;
	peer_posts_and_dies_before_waking();
}

static void
a_waiter_enabled_at_a_tick_at_which_another_process_looked_acquires(void **state)
{
	(void)state;
	tsem_hold hold;
	looks_after = 0;
	fake.peer = peer_looks_posts_and_dies_before_waking;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_int_equal(tsem_release(&hold), 0);
}

static void
peer_looks_and_dies_while_cancelling(void)
{
	peer_looks_at_each_tick();
	fake.peer = NULL;
	peer_cancels_and_dies_before_waking();
}

static void
a_waiter_cancelled_at_a_tick_at_which_another_process_looked_ends(void **state)
{
	(void)state;
	tsem_hold hold;
	looks_after = 0;
	fake.peer = peer_looks_and_dies_while_cancelling;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -ECANCELED);
	assert_int_equal(fake.sleeps, 1);
}

static int
give_up_at_the_second(void *arg, uint32_t position)
{
	return count_progress(arg, position) == 0 && progress_calls == 2;
}

static void
progress_may_give_up_at_a_tick_at_which_another_process_looked(void **state)
{
	(void)state;
	tsem_hold hold;
	const struct tsem_wait options = {.size = sizeof(options), .progress = give_up_at_the_second};
	progress_calls = 0;
	looks_after = 0;
	fake.peer = peer_looks_at_each_tick;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ECANCELED);
	assert_int_equal(fake.sleeps, 2);
}

/* ---- what one waiter does for all ---- */

static _Atomic uint32_t *
word_of(uint64_t ticket)
{
	return ticket_word(sem, ticket);
}

/* A live process with that ticket, which sleeps on the word of its last one. */
static void
put_sleeper(uint32_t index, enum state_kind state, uint64_t ticket, uint32_t count)
{
	put_record(sem, index, UNUSED_PROCESS, state, 0, ticket, count);
	wait_announce(word_of(ticket + count - 1), 0);
}

static uint32_t
wakes_of(uint64_t ticket)
{
	uint32_t n = 0;
	for (uint64_t i = 0; i < fake.wakes; i++)
		n += fake.woken[i] == word_of(ticket);
	return n;
}

/* G is 10 and E is 13. */
static void
begin_queue(uint64_t tickets)
{
	begin_held(PERMITS);
	set_counters(sem, tickets, 10);
}

static void
look_once(void)
{
	tsem_hold hold;
	const struct timespec deadline = clock_after(1);
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
}

/* The process that enabled or admitted them died before it woke them. */
static void
a_look_wakes_the_waiters_that_a_dead_process_let_in(void **state)
{
	(void)state;
	begin_queue(1000);
	put_sleeper(41, STATE_QUEUED, 10, 1);
	put_sleeper(42, STATE_QUEUED, 11, 2);                     /* its last ticket is 12 */
	put_sleeper(43, STATE_QUEUED, 13, 1);                     /* next, not enabled */
	put_sleeper(44, STATE_HELD, 20, 2);                       /* admitted before the capacity was lowered */
	put_record(sem, 45, UNUSED_PROCESS, STATE_HELD, 0, 9, 1); /* awake */
	look_once();
	assert_int_equal(wakes_of(10), 1);
	assert_int_equal(wakes_of(12), 1);
	assert_int_equal(wakes_of(21), 1);
	assert_int_equal(fake.wakes, 3);
}

/* SEVERAL without SLEEPERS: the waker died between its two steps. */
static void
a_look_wakes_the_waiters_that_a_dead_process_was_waking(void **state)
{
	(void)state;
	begin_queue(1000);
	put_record(sem, 41, UNUSED_PROCESS, STATE_QUEUED, 0, 10, 1);
	put_record(sem, 42, UNUSED_PROCESS, STATE_HELD, 0, 20, 2);
	OR_SEQ(word_of(10), WORD_SEVERAL);
	OR_SEQ(word_of(21), WORD_SEVERAL);
	look_once();
	assert_int_equal(wakes_of(10), 1);
	assert_int_equal(wakes_of(21), 1);
	assert_int_equal(fake.wakes, 2);
}

/* Both sleep on the same word. */
static void
a_look_wakes_no_waiter_that_is_not_enabled(void **state)
{
	(void)state;
	begin_queue(10 + ARRAY_WORDS + 10);
	put_sleeper(41, STATE_QUEUED, 10, 1);
	put_sleeper(42, STATE_QUEUED, 10 + ARRAY_WORDS, 1);
	look_once();
	assert_int_equal(wakes_of(10), 1);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(fake.woken_bits[0], word_bit(10));
	assert_int_not_equal(word_bit(10), word_bit(10 + ARRAY_WORDS));
}

static void
peer_marks_removed_and_dies_before_waking(void)
{
	STORE_SEQ(&sem->segment.header->removed, 1);
}

/* The others may sleep longer than the waiter that notices first, so that one wakes them. */
static void
a_waiter_that_notices_the_end_of_all_waits_wakes_the_others(void **state)
{
	(void)state;
	static void (*const ways[])(void) = {peer_cancels_and_dies_before_waking,
	                                     peer_marks_removed_and_dies_before_waking};
	static const int results[] = {-ECANCELED, -EIDRM};
	for (size_t i = 0; i < 2; i++) {
		tsem_hold hold;
		begin_held(PERMITS);
		put_sleeper(41, STATE_QUEUED, 1000, 1);
		fake.peer = ways[i];
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), results[i]);
		assert_int_equal(fake.sleeps, 1);
		assert_int_equal(wakes_of(1000), 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_HELD(near_the_ends_of_the_queue_waiters_wake_up_at_each_tick),
		TEST_HELD(in_the_middle_neighbours_wake_up_at_alternate_ticks),
		TEST_HELD(a_waiter_that_comes_to_the_front_wakes_up_at_each_tick),
		TEST_HELD(a_waiter_that_finds_a_dead_owner_looks_again_soon),
		TEST_HELD(a_waiter_does_not_look_when_another_process_has_looked),
		TEST_HELD(a_look_at_another_time_does_not_count),
		TEST_HELD(a_waiter_enabled_at_a_tick_at_which_another_process_looked_acquires),
		TEST_HELD(a_waiter_cancelled_at_a_tick_at_which_another_process_looked_ends),
		TEST_HELD(progress_may_give_up_at_a_tick_at_which_another_process_looked),
		TEST_HELD(a_look_wakes_the_waiters_that_a_dead_process_let_in),
		TEST_HELD(a_look_wakes_the_waiters_that_a_dead_process_was_waking),
		TEST_HELD(a_look_wakes_no_waiter_that_is_not_enabled),
		TEST_HELD(a_waiter_that_notices_the_end_of_all_waits_wakes_the_others),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

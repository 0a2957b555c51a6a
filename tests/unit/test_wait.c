/* SPDX-License-Identifier: MIT */
/* Waiting: wake-ups that come at the worst instant, for nothing, or not at all. */
#include "fixture.h"

#include <pthread.h>

TEST_HELD(a_post_between_the_announcement_and_the_sleep_is_noticed)
{
	tsem_hold hold;
	fake.peer = peer_posts;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], ticket_word(sem, 1));
	assert_int_equal(fake.woken_bits[0] & fake.slept_bits, fake.slept_bits);
}

static uint64_t timed_out_before;

static void
peer_posts_one_by_one(void)
{
	timed_out_before = fake.timed_out;
	for (int i = 0; i < 3; i++)
		peer_posts();
}

/* The peer acts within each call of the platform. No sleep after that times out. */
TEST_HELD(a_post_at_any_instant_is_noticed)
{
	enum { INSTANTS = 30 }; /* a look for dead owners, several sleeps, and what comes between */
	static const uint32_t counts[] = {1, 3};
	for (size_t i = 0; i < 2; i++) {
		for (uint64_t at = 1; at <= INSTANTS; at++) {
			begin_held(3);
			fake.at_call = at;
			fake.peer = peer_posts_one_by_one;
			tsem_hold hold;
			assert_int_equal(tsem_acquire(sem, counts[i], NULL, &hold), 0);
			assert_null(fake.peer);
			assert_int_equal(fake.timed_out, timed_out_before);
			assert_int_equal(tsem_release(&hold), 0);
		}
		assert_true(fake.timed_out >= 2);
	}
}

static void
peer_posts_the_last(void)
{
	timed_out_before = fake.timed_out;
	peer_posts();
}

static void
peer_posts_all_but_one(void)
{
	peer_posts();
	peer_posts();
	fake.peer = peer_posts_the_last;
}

TEST_HELD(a_waiter_for_three_is_woken_by_the_third_post)
{
	begin_held(3);
	fake.peer = peer_posts_all_but_one;
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 3, NULL, &hold), 0);
	assert_null(fake.peer);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(timed_out_before, 1);
	assert_int_equal(fake.timed_out, 1);
	assert_int_equal(tsem_release(&hold), 0);
}

TEST_HELD(a_waker_that_dies_costs_the_time_until_the_next_look)
{
	tsem_hold hold;
	fake.peer = peer_posts_and_dies_before_waking;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_int_equal(fake.timed_out, 1);
	assert_in_range(fake.clock - began, 1, LOOKOUT_EVERY);
}

TEST_HELD(a_waiter_woken_for_nothing_goes_on_waiting)
{
	const struct timespec deadline = clock_after(40);
	tsem_hold hold;
	fake.sleep_result = 0;
	fake.at_sleep = 1;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(fake.sleeps, 2);
	assert_int_equal(fake.clock - began, 40 * NS_PER_MS);
}

/* So the kernel need not look for another sleeper. */
TEST_HELD(a_waiter_that_wakes_up_by_itself_stays_one_sleeper)
{
	tsem_hold hold;
	fake.peer = peer_posts;
	fake.peer_from_sleep = 3;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 3);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(LOAD_SEQ(fake.woken[0]) & WORD_SLEEPER_BITS, 0); /* the waiter has retracted its announcement */
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

/* The peer has lowered the capacity, and has found that the waiter had been enabled before. */
static void
peer_admits(void)
{
	const uint32_t i = waiting_record();
	const uint64_t state = state_of(sem, i);
	STORE_SEQ(&sem->segment.records[i].state, state_next(state, STATE_HELD, state_value(state)));
	wake_all(sem);
}

TEST_HELD(a_waiter_may_be_admitted_without_being_enabled)
{
	tsem_hold hold;
	fake.peer = peer_admits;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(grants_of(sem), 1);
}

static uint32_t waited_in;

static void
peer_posts_and_clears_the_stamp(void)
{
	waited_in = waiting_record();
	STORE_SEQ(&sem->segment.records[waited_in].since, 0);
	peer_posts();
}

TEST_HELD(the_time_held_counts_from_the_admission)
{
	tsem_hold hold;
	fake.peer = peer_posts_and_clears_the_stamp;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(state_kind(state_of(sem, waited_in)), STATE_HELD);
	assert_int_not_equal(LOAD_SEQ(&sem->segment.records[waited_in].since), 0);
	assert_int_equal(tsem_release(&hold), 0);
}

/* A waiter tries it once in 64 waits. */
TEST_HELD(spinning_that_never_pays_is_rare)
{
	enum { TRIALS = 10, WAITS = 64 * TRIALS };
	if (wait_spin_ceiling() == 0)
		SKIP("one processor: no waiter spins");
	STORE_RLX(&sem->spin, 0);
	for (int i = 0; i < WAITS; i++) {
		const struct timespec deadline = clock_after(1000);
		began = fake.clock;
		set_counters(sem, 1, 0); /* it is next */
		assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	}
	assert_in_range(fake.pauses, TRIALS, TRIALS * SPIN_MAX / 4);
}

/* Each call leaves at least its own wait as the longest, whatever other threads count at the same time. */
static void *
count_ever_longer_waits(void *arg)
{
	enum { WAITS = 20000 };
	const struct statistics *statistics = &sem->segment.header->statistics;
	bool kept = true;
	for (uint64_t i = 0; i < WAITS; i++) {
		const uint64_t ns = 2 * i + (arg != NULL);
		wait_count(sem, ns);
		kept = kept && LOAD_RLX(&statistics->wait_longest) >= ns;
	}
	return kept ? NULL : sem;
}

TEST_HELD(no_longest_wait_is_lost)
{
	pthread_t thread;
	void *fault;
	assert_int_equal(pthread_create(&thread, NULL, count_ever_longer_waits, sem), 0);
	assert_null(count_ever_longer_waits(NULL));
	assert_int_equal(pthread_join(thread, &fault), 0);
	assert_null(fault);
}

/* ---- a deadline by the realtime clock ---- */

static void
set_clock_forward(void)
{
	fake.real_ahead += 3600 * NS_PER_SECOND;
}

static void
set_clock_back(void)
{
	fake.real_ahead -= 3600 * NS_PER_SECOND;
}

/* Takes with a deadline that is `seconds` away. Returns how many seconds pass. */
static uint64_t
wait_by_realtime(time_t seconds)
{
	const uint64_t start = fake.clock;
	const uint64_t real = start + fake.real_ahead;
	const struct timespec deadline = {.tv_sec = (time_t)(real / NS_PER_SECOND) + seconds,
	                                  .tv_nsec = (long)(real % NS_PER_SECOND)};
	const struct tsem_wait wait = {.size = sizeof(wait), .deadline = &deadline, .flags = TSEM_REALTIME};
	assert_int_equal(tsem_take_wait(sem, 1, &wait), -ETIMEDOUT);
	return (fake.clock - start) / NS_PER_SECOND;
}

TEST_HELD(a_deadline_by_the_realtime_clock)
{
	fake.real_ahead = 1700000000 * NS_PER_SECOND;
	assert_int_equal(wait_by_realtime(5), 5);
	assert_int_equal(wait_by_realtime(-5), 0);
}

TEST_HELD(the_realtime_clock_is_set_forward)
{
	fake.real_ahead = 1700000000 * NS_PER_SECOND;
	fake.peer = set_clock_forward;
	assert_in_range(wait_by_realtime(1800), 0, 1);
}

TEST_HELD(the_realtime_clock_is_set_back)
{
	fake.real_ahead = 1700000000 * NS_PER_SECOND;
	fake.peer = set_clock_back;
	assert_int_equal(wait_by_realtime(100), 3700);
}

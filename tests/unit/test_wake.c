/* SPDX-License-Identifier: MIT */
/* Waking: a release wakes the waiters that it enables and no others, however many wait. */
#include "fixture.h"

#include <limits.h>
#include <pthread.h>

enum { CAPACITY = 3 };

static int
set_up(void **state)
{
	(void)state;
	begin_fake(CAPACITY);
	return 0;
}

/* `n` waiters for one permit each, all asleep. The first of them has the ticket `first` and is next. */
static void
put_to_sleep(uint64_t first, uint64_t n)
{
	set_counters(sem, first + n, first - CAPACITY);
	for (uint32_t i = 0; i < ARRAY_WORDS; i++)
		STORE_SEQ(&sem->segment.array[i], 100 * WORD_STEP);
	for (uint64_t i = 0; i < n; i++)
		wait_announce(word_of(first + i), 0);
	fake.wakes = 0;
}

/* As a release does it. test_post.c tests posts. */
static void
release_permits(uint32_t count)
{
	grant_notify_moved(sem, ADD_SEQ(&sem->segment.header->grants, counter_word_make(count, 0)), count);
}

static uint32_t
words_changed(void)
{
	uint32_t changed = 0;
	for (uint32_t i = 0; i < ARRAY_WORDS; i++)
		changed += (LOAD_SEQ(&sem->segment.array[i]) & ~WORD_SLEEPER_BITS) != 100 * WORD_STEP;
	return changed;
}

TEST_WITH(set_up, one_permit_wakes_one)
{
	static const uint64_t waiters[] = {1, 10, 4095, 4096, 4097, 5000, 32000};
	static const uint64_t firsts[] = {3, 70000, COUNTER_MASK + 1 - 2};
	for (size_t i = 0; i < sizeof(waiters) / sizeof(waiters[0]); i++) {
		for (size_t j = 0; j < 3; j++) {
			const bool shared = waiters[i] > ARRAY_WORDS;
			put_to_sleep(firsts[j], waiters[i]);
			const uint32_t before = LOAD_SEQ(word_of(firsts[j]));
			release_permits(1);
			assert_int_equal(fake.wakes, 1);
			assert_ptr_equal(fake.woken[0], word_of(firsts[j]));
			assert_int_equal(words_changed(), 1);
			/* Waiters that share the word sleep on, and their bits stay. */
			assert_int_equal(fake.woken_bits[0], shared ? word_bit(firsts[j] & COUNTER_MASK) : UINT32_MAX);
			/* The kernel need not look for another sleeper where there is none. */
			assert_int_equal(fake.woken_most[0], shared ? INT_MAX : 1);
			assert_int_not_equal(LOAD_SEQ(word_of(firsts[j])) & ~WORD_SLEEPER_BITS, before & ~WORD_SLEEPER_BITS);
			assert_int_equal(LOAD_SEQ(word_of(firsts[j])) & WORD_SLEEPER_BITS, shared ? WORD_SLEEPER_BITS : 0);
		}
	}
}

/*
 * A newcomer may have the same bit, 131,072 tickets later or by acquire_any. So the wake is not limited to one sleeper.
 */
TEST_WITH(set_up, one_sleeper_on_a_shared_word_is_woken_by_its_bit)
{
	put_to_sleep(9, 5000);
	STORE_SEQ(word_of(9), 100 * WORD_STEP | WORD_SLEEPERS);
	release_permits(1);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(fake.woken_bits[0], word_bit(9));
	assert_int_equal(fake.woken_most[0], INT_MAX);
	assert_int_equal(LOAD_SEQ(word_of(9)), 101 * WORD_STEP | WORD_SLEEPERS);
}

/* SEVERAL without SLEEPERS: another waker died between its two steps. */
TEST_WITH(set_up, several_on_a_word_are_all_woken)
{
	static const uint32_t says[] = {WORD_SLEEPER_BITS, WORD_SEVERAL};
	for (size_t i = 0; i < 2; i++) {
		put_to_sleep(9, 5);
		STORE_SEQ(word_of(9), 100 * WORD_STEP | says[i]);
		release_permits(1);
		assert_int_equal(fake.wakes, 1);
		assert_int_equal(fake.woken_most[0], INT_MAX);
		assert_int_equal(LOAD_SEQ(word_of(9)) & WORD_SLEEPER_BITS, 0);
	}
}

static uint32_t before_it, announced;

static void
peer_announces_itself(void)
{
	before_it = LOAD_SEQ(word_of(9));
	announced = wait_announce(word_of(9), 0);
}

/*
 * The kernel may wake the newcomer in place of the enabled waiter, so a second wake follows. The word says SEVERAL
 * until the enabled waiter is woken, so that another process can wake it if the waker dies.
 */
TEST_WITH(set_up, a_newcomer_while_one_is_woken_is_not_forgotten)
{
	put_to_sleep(9, 5);
	fake.peer_at_wake = peer_announces_itself;
	release_permits(1);
	assert_int_equal(fake.wakes, 2);
	assert_int_equal(fake.woken_most[0], 1);
	assert_ptr_equal(fake.woken[1], word_of(9));
	assert_int_equal(fake.woken_bits[1], UINT32_MAX);
	assert_int_equal(fake.woken_most[1], INT_MAX);
	assert_int_equal(announced & WORD_SLEEPER_BITS, WORD_SLEEPER_BITS);
	assert_int_equal(LOAD_SEQ(word_of(9)), announced);
}

/* The newcomer may fall asleep after the wake. Its announcement must stay when those of the others are cleared. */
TEST_WITH(set_up, a_newcomer_while_several_are_woken_is_not_forgotten)
{
	put_to_sleep(9, 5);
	OR_SEQ(word_of(9), WORD_SEVERAL);
	fake.peer_at_wake = peer_announces_itself;
	release_permits(1);
	assert_int_equal(fake.wakes, 1);
	assert_int_not_equal(before_it & WORD_SLEEPER_BITS, 0);
	assert_int_not_equal(announced, before_it);
	assert_int_equal(announced & WORD_SLEEPER_BITS, WORD_SLEEPER_BITS);
	assert_int_equal(LOAD_SEQ(word_of(9)), announced);
}

TEST_WITH(set_up, an_announcement_says_one_or_several)
{
	enum { NUMBER = 100 * WORD_STEP };
	_Atomic uint32_t word = NUMBER;
	assert_int_equal(wait_announce(&word, 0), NUMBER | WORD_SLEEPERS);
	/* Its own announcement stands as long as no process writes the word. */
	assert_int_equal(wait_announce(&word, NUMBER | WORD_SLEEPERS), NUMBER | WORD_SLEEPERS);
	assert_int_equal(wait_announce(&word, NUMBER - WORD_STEP + WORD_SLEEPERS), NUMBER | WORD_SLEEPER_BITS);
	assert_int_equal(wait_announce(&word, NUMBER | WORD_SLEEPERS), NUMBER | WORD_SLEEPER_BITS);
	assert_int_equal(LOAD_SEQ(&word), NUMBER | WORD_SLEEPER_BITS);
	/* In a word without bits, an announcement of the same number is an old one. */
	STORE_SEQ(&word, NUMBER);
	assert_int_equal(wait_announce(&word, NUMBER), NUMBER | WORD_SLEEPERS);
	STORE_SEQ(&word, NUMBER | WORD_SEVERAL);
	assert_int_equal(wait_announce(&word, NUMBER | WORD_SLEEPERS), NUMBER | WORD_SLEEPER_BITS);
	STORE_SEQ(&word, 0);
	assert_int_equal(wait_announce(&word, 0), WORD_SLEEPERS);
}

TEST_WITH(set_up, several_permits_wake_several)
{
	put_to_sleep(7, 5000);
	release_permits(10);
	assert_int_equal(fake.wakes, 10);
	assert_int_equal(words_changed(), 10);
	for (uint64_t i = 0; i < 10; i++) {
		assert_ptr_equal(fake.woken[i], word_of(7 + i));
		assert_int_equal(fake.woken_bits[i], word_bit(7 + i));
	}

	/* More permits than waiters. */
	put_to_sleep(7, 3);
	release_permits(1000);
	assert_int_equal(fake.wakes, 3);
	assert_int_equal(words_changed(), 3);
}

TEST_WITH(set_up, any_number_of_permits_wakes_each_word_once)
{
	static const uint32_t posted[] = {4096, 4097, 100000, UINT32_MAX};
	for (size_t i = 0; i < 4; i++) {
		put_to_sleep(9, 9000);
		release_permits(posted[i]);
		assert_int_equal(fake.wakes, ARRAY_WORDS);
		assert_int_equal(words_changed(), ARRAY_WORDS);
		for (size_t j = 0; j < ARRAY_WORDS; j++)
			assert_int_equal(fake.woken_bits[j], UINT32_MAX);
	}
}

/* The words have bits, but according to the counters no process waits. */
TEST_WITH(set_up, without_waiters_no_word_is_touched)
{
	put_to_sleep(9, 5000);
	set_counters(sem, 9, 9 - CAPACITY);
	release_permits(1);
	set_counters(sem, 8, 9 - CAPACITY);
	release_permits(5000);
	assert_int_equal(fake.wakes, 0);
	assert_int_equal(words_changed(), 0);
}

TEST_WITH(set_up, waiters_that_do_not_sleep_cost_no_call)
{
	put_to_sleep(9, 0);
	set_counters(sem, 9 + 10, 9 - CAPACITY);
	release_permits(5);
	assert_int_equal(fake.wakes, 0);
}

TEST_WITH(set_up, a_waiter_for_three_is_woken_by_its_last_permit)
{
	put_to_sleep(9, 0);
	set_counters(sem, 9 + 3, 9 - CAPACITY); /* one waiter for three permits */
	OR_SEQ(word_of(11), WORD_SLEEPERS);
	release_permits(1);
	release_permits(1);
	assert_int_equal(fake.wakes, 0);
	release_permits(1);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], word_of(11));
}

TEST_WITH(set_up, a_release_wakes_the_waiters_that_it_enables)
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	set_counters(sem, 500, 0);
	for (uint32_t i = 0; i < ARRAY_WORDS; i++)
		STORE_SEQ(&sem->segment.array[i], 100 * WORD_STEP | WORD_SLEEPERS);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(fake.wakes, 2);
	assert_ptr_equal(fake.woken[0], word_of(3));
	assert_ptr_equal(fake.woken[1], word_of(4));
	assert_int_equal(words_changed(), 2);
}

/*
 * Ticket 0 is held, 1 is a waiter that was enabled, and this process holds 3. Then a setter lowers the capacity and
 * stops, and the waiter falls asleep. The release enables it, although T has not moved since the acquire.
 */
TEST_WITH(set_up, a_release_wakes_a_waiter_that_a_lowering_made_wait)
{
	tsem_hold hold;
	set_counters(sem, 2, 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	STORE_SEQ(&sem->segment.header->capacity, 0);
	OR_SEQ(word_of(1), WORD_SLEEPERS);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(grants_of(sem), 2);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], word_of(1));
}

/* ---- with threads that really sleep ---- */

enum { THREADS = 32 };

static struct platform real;
static _Atomic uint32_t asleep;
static _Atomic uint32_t woken;            /* sleeps that a wake-up ended */
static _Thread_local uint32_t wake_calls; /* a waiter that looks may wake, too */
static _Atomic uint32_t admitted;
static _Atomic uint32_t failures;

static int
counting_sleep(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	ADD_SEQ(&asleep, 1);
	const int rc = real.sleep(word, expected, bits, until);
	ADD_SEQ(&asleep, UINT32_MAX);
	if (rc == 0)
		ADD_SEQ(&woken, 1);
	return rc;
}

static int
counting_wake(_Atomic uint32_t *word, uint32_t bits, int n)
{
	wake_calls++;
	return real.wake(word, bits, n);
}

static void *
take_and_count(void *unused)
{
	if (tsem_take(sem, 1, NULL) != 0)
		ADD_SEQ(&failures, 1);
	ADD_SEQ(&admitted, 1);
	return unused;
}

TEST_WITH(set_up, every_post_ends_one_sleep)
{
	fake_end();
	real = platform;
	platform.sleep = counting_sleep;
	platform.wake = counting_wake;
	assert_int_equal(tsem_take(sem, CAPACITY, NULL), 0);
	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_count, NULL), 0);

	for (uint32_t i = 0; i < THREADS; i++) {
		EVENTUALLY(LOAD_SEQ(&asleep) == THREADS - i);
		const uint32_t wakes_before = wake_calls;
		const uint32_t woken_before = LOAD_SEQ(&woken);
		assert_int_equal(tsem_post(sem, 1, NULL), 0);
		EVENTUALLY(LOAD_SEQ(&admitted) == i + 1);
		assert_int_equal(wake_calls, wakes_before + 1);
		assert_in_range(LOAD_SEQ(&woken) - woken_before, 0, 1); /* 0: the waiter was awake at its tick */
		assert_int_equal(LOAD_SEQ(&admitted), i + 1);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	platform = real;
	fake_begin();
	assert_int_equal(LOAD_SEQ(&failures), 0);
}

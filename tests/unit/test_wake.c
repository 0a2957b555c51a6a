/* SPDX-License-Identifier: MIT */
/* Waking: a release wakes the waiters that it enables and no others, however many wait. */
#include "fake.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

#include "recover.h"
#include "wait.h"

enum { CAPACITY = 3 };

static tsem *sem;

static int
set_up(void **state)
{
	(void)state;
	sem = new_semaphore(CAPACITY, 0);
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

static _Atomic uint32_t *
word_of(uint64_t ticket)
{
	return ticket_word(sem, ticket & COUNTER_MASK);
}

/* `n` waiters for one permit each, all asleep; the first has the ticket `first`. */
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

/* As a release does it. What a post does is in test_post.c. */
static void
give_back(uint32_t count)
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

static void
one_permit_wakes_one(void **state)
{
	(void)state;
	static const uint64_t waiters[] = {1, 10, 4095, 4096, 4097, 5000, 32000};
	static const uint64_t firsts[] = {3, 70000, COUNTER_MASK + 1 - 2};
	for (size_t i = 0; i < sizeof(waiters) / sizeof(waiters[0]); i++) {
		for (size_t j = 0; j < 3; j++) {
			const bool shared = waiters[i] > ARRAY_WORDS;
			put_to_sleep(firsts[j], waiters[i]);
			const uint32_t before = LOAD_SEQ(word_of(firsts[j]));
			give_back(1);
			assert_int_equal(fake.wakes, 1);
			assert_ptr_equal(fake.woken[0], word_of(firsts[j]));
			assert_int_equal(words_changed(), 1);
			/* Those who share the word sleep on, and what it says of them stays. */
			assert_int_equal(fake.woken_bits[0], shared ? word_bit(firsts[j] & COUNTER_MASK) : UINT32_MAX);
			/* The kernel is told to look for no other where there is none. */
			assert_int_equal(fake.woken_most[0], shared ? INT_MAX : 1);
			assert_int_not_equal(LOAD_SEQ(word_of(firsts[j])) & ~WORD_SLEEPER_BITS, before & ~WORD_SLEEPER_BITS);
			assert_int_equal(LOAD_SEQ(word_of(firsts[j])) & WORD_SLEEPER_BITS, shared ? WORD_SLEEPER_BITS : 0);
		}
	}
}

/* Who comes meanwhile may have the same bit, 131,072 tickets on or by acquire_any, and nobody would look for that one. */
static void
on_a_bit_of_its_own_all_are_woken(void **state)
{
	(void)state;
	put_to_sleep(9, 5000);
	STORE_SEQ(word_of(9), 100 * WORD_STEP | WORD_SLEEPERS);
	give_back(1);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(fake.woken_bits[0], word_bit(9));
	assert_int_equal(fake.woken_most[0], INT_MAX);
	assert_int_equal(LOAD_SEQ(word_of(9)), 101 * WORD_STEP | WORD_SLEEPERS);
}

/* Also those whom somebody was waking who died on the way. */
static void
of_several_on_a_word_all_are_woken(void **state)
{
	(void)state;
	static const uint32_t says[] = {WORD_SLEEPER_BITS, WORD_SEVERAL};
	for (size_t i = 0; i < 2; i++) {
		put_to_sleep(9, 5);
		STORE_SEQ(word_of(9), 100 * WORD_STEP | says[i]);
		give_back(1);
		assert_int_equal(fake.wakes, 1);
		assert_int_equal(fake.woken_most[0], INT_MAX);
		assert_int_equal(LOAD_SEQ(word_of(9)) & WORD_SLEEPER_BITS, 0);
	}
}

static uint32_t before_it, announced;

static void
others_announce_themselves(void)
{
	before_it = LOAD_SEQ(word_of(9));
	announced = wait_announce(word_of(9), 0);
}

/*
 * The kernel may wake the newcomer in place of the one whose turn it is. And the newcomer finds that there may be another:
 * until that one is woken the word says so, also to those who look after it if the waker dies.
 */
static void
somebody_else_comes_while_one_is_woken(void **state)
{
	(void)state;
	put_to_sleep(9, 5);
	fake.others_at_wake = others_announce_themselves;
	give_back(1);
	assert_int_equal(fake.wakes, 2);
	assert_int_equal(fake.woken_most[0], 1);
	assert_ptr_equal(fake.woken[1], word_of(9));
	assert_int_equal(fake.woken_bits[1], UINT32_MAX);
	assert_int_equal(fake.woken_most[1], INT_MAX);
	assert_int_equal(announced & WORD_SLEEPER_BITS, WORD_SLEEPER_BITS);
	assert_int_equal(LOAD_SEQ(word_of(9)), announced);
}

/* It may fall asleep behind the waker's call: that it is there must not be forgotten with those who were woken. */
static void
somebody_else_comes_while_several_are_woken(void **state)
{
	(void)state;
	put_to_sleep(9, 5);
	OR_SEQ(word_of(9), WORD_SEVERAL);
	fake.others_at_wake = others_announce_themselves;
	give_back(1);
	assert_int_equal(fake.wakes, 1);
	assert_int_not_equal(before_it & WORD_SLEEPER_BITS, 0);
	assert_int_not_equal(announced, before_it);
	assert_int_equal(announced & WORD_SLEEPER_BITS, WORD_SLEEPER_BITS);
	assert_int_equal(LOAD_SEQ(word_of(9)), announced);
}

static void
what_a_word_says_of_its_sleepers(void **state)
{
	(void)state;
	enum { NUMBER = 100 * WORD_STEP };
	_Atomic uint32_t word = NUMBER;
	assert_int_equal(wait_announce(&word, 0), NUMBER | WORD_SLEEPERS);
	/* Its own announcement stands as long as nobody writes. */
	assert_int_equal(wait_announce(&word, NUMBER | WORD_SLEEPERS), NUMBER | WORD_SLEEPERS);
	assert_int_equal(wait_announce(&word, NUMBER - WORD_STEP + WORD_SLEEPERS), NUMBER | WORD_SLEEPER_BITS);
	assert_int_equal(wait_announce(&word, NUMBER | WORD_SLEEPERS), NUMBER | WORD_SLEEPER_BITS);
	assert_int_equal(LOAD_SEQ(&word), NUMBER | WORD_SLEEPER_BITS);
	/* In a word that says nothing an announcement of the same number is an old one. */
	STORE_SEQ(&word, NUMBER);
	assert_int_equal(wait_announce(&word, NUMBER), NUMBER | WORD_SLEEPERS);
	STORE_SEQ(&word, NUMBER | WORD_SEVERAL);
	assert_int_equal(wait_announce(&word, NUMBER | WORD_SLEEPERS), NUMBER | WORD_SLEEPER_BITS);
	STORE_SEQ(&word, 0);
	assert_int_equal(wait_announce(&word, 0), WORD_SLEEPERS);
}

static void
several_at_once(void **state)
{
	(void)state;
	put_to_sleep(7, 5000);
	give_back(10);
	assert_int_equal(fake.wakes, 10);
	assert_int_equal(words_changed(), 10);
	for (uint64_t i = 0; i < 10; i++) {
		assert_ptr_equal(fake.woken[i], word_of(7 + i));
		assert_int_equal(fake.woken_bits[i], word_bit(7 + i));
	}

	/* More permits than waiters. */
	put_to_sleep(7, 3);
	give_back(1000);
	assert_int_equal(fake.wakes, 3);
	assert_int_equal(words_changed(), 3);
}

static void
never_more_than_one_sweep(void **state)
{
	(void)state;
	static const uint32_t posted[] = {4096, 4097, 100000, UINT32_MAX};
	for (size_t i = 0; i < 4; i++) {
		put_to_sleep(9, 9000);
		give_back(posted[i]);
		assert_int_equal(fake.wakes, ARRAY_WORDS);
		assert_int_equal(words_changed(), ARRAY_WORDS);
		for (size_t j = 0; j < ARRAY_WORDS; j++)
			assert_int_equal(fake.woken_bits[j], UINT32_MAX);
	}
}

/* Whatever the words say: the counters say that nobody waits. */
static void
nobody_waits_nothing_is_touched(void **state)
{
	(void)state;
	put_to_sleep(9, 5000);
	set_counters(sem, 9, 9 - CAPACITY);
	give_back(1);
	set_counters(sem, 8, 9 - CAPACITY);
	give_back(5000);
	assert_int_equal(fake.wakes, 0);
	assert_int_equal(words_changed(), 0);
}

/* They have their tickets, but sleep not yet: no system call for them. */
static void
waiters_that_do_not_sleep_cost_no_call(void **state)
{
	(void)state;
	put_to_sleep(9, 0);
	set_counters(sem, 9 + 10, 9 - CAPACITY);
	give_back(5);
	assert_int_equal(fake.wakes, 0);
}

static void
a_heavy_waiter_is_woken_by_its_last_permit(void **state)
{
	(void)state;
	put_to_sleep(9, 0);
	set_counters(sem, 9 + 3, 9 - CAPACITY); /* one waiter for three */
	OR_SEQ(word_of(11), WORD_SLEEPERS);
	give_back(1);
	give_back(1);
	assert_int_equal(fake.wakes, 0);
	give_back(1);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], word_of(11));
}

static void
a_release_wakes_like_a_post(void **state)
{
	(void)state;
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
 * Ticket 0 is held, 1 waits and was enabled, and who holds 3 has taken it behind that one. Then somebody lowers the capacity, gets
 * no further than that, and the waiter falls asleep: T is what it was, and yet the release enables somebody.
 */
static void
a_release_wakes_whom_a_lowering_made_wait(void **state)
{
	(void)state;
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
static _Atomic uint32_t woken; /* sleeps that a wake-up ended */
static _Atomic uint32_t wake_calls;
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
	ADD_SEQ(&wake_calls, 1);
	return real.wake(word, bits, n);
}

static void *
take_one(void *unused)
{
	if (tsem_take(sem, 1, NULL) != 0)
		ADD_SEQ(&failures, 1);
	ADD_SEQ(&admitted, 1);
	return unused;
}

static void
every_post_ends_one_sleep(void **state)
{
	(void)state;
	fake_end();
	real = platform;
	platform.sleep = counting_sleep;
	platform.wake = counting_wake;
	assert_int_equal(tsem_take(sem, CAPACITY, NULL), 0);
	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_one, NULL), 0);

	for (uint32_t i = 0; i < THREADS; i++) {
		EVENTUALLY(LOAD_SEQ(&asleep) == THREADS - i);
		const uint32_t wakes_before = LOAD_SEQ(&wake_calls);
		const uint32_t woken_before = LOAD_SEQ(&woken);
		assert_int_equal(tsem_post(sem, 1, NULL), 0);
		EVENTUALLY(LOAD_SEQ(&admitted) == i + 1);
		assert_int_equal(LOAD_SEQ(&wake_calls), wakes_before + 1);
		assert_in_range(LOAD_SEQ(&woken) - woken_before, 0, 1); /* 0: it was just looking around by itself */
		assert_int_equal(LOAD_SEQ(&admitted), i + 1);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	platform = real;
	fake_begin();
	assert_int_equal(LOAD_SEQ(&failures), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_permit_wakes_one),
		TEST(on_a_bit_of_its_own_all_are_woken),
		TEST(of_several_on_a_word_all_are_woken),
		TEST(somebody_else_comes_while_one_is_woken),
		TEST(somebody_else_comes_while_several_are_woken),
		TEST(what_a_word_says_of_its_sleepers),
		TEST(several_at_once),
		TEST(never_more_than_one_sweep),
		TEST(nobody_waits_nothing_is_touched),
		TEST(waiters_that_do_not_sleep_cost_no_call),
		TEST(a_heavy_waiter_is_woken_by_its_last_permit),
		TEST(a_release_wakes_like_a_post),
		TEST(a_release_wakes_whom_a_lowering_made_wait),
		TEST(every_post_ends_one_sleep),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Posting: what is done before G moves, that nothing is done after it, and what G's tag says. */
#include "one_held.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>

#include "queue.h"
#include "recover.h"

static uint64_t
tag_of_G(void)
{
	return counter_tag(LOAD_SEQ(&sem->segment.header->grants));
}

static _Atomic uint32_t *
word_of(uint64_t ticket)
{
	return ticket_word(sem, ticket & COUNTER_MASK);
}

/* `n` waiters for one permit each, all asleep; the first is the next. */
static void
put_to_sleep(uint64_t first, uint64_t n)
{
	set_counters(sem, first + n, first - 1);
	for (uint32_t i = 0; i < ARRAY_WORDS; i++)
		STORE_SEQ(&sem->segment.array[i], 0);
	for (uint64_t i = 0; i < n; i++)
		wait_announce(word_of(first + i), 0);
	assert_true(watch_grants(sem));
	fake.wakes = 0;
}

static void
a_post_wakes_those_it_enables_by_their_bit(void **state)
{
	(void)state;
	static const uint64_t firsts[] = {3, 70000, COUNTER_MASK + 1 - 2};
	for (size_t i = 0; i < 3; i++) {
		put_to_sleep(firsts[i], 5000);
		assert_int_equal(tsem_post(sem, 70, NULL), 0);
		assert_int_equal(fake.wakes, 70);
		for (uint64_t j = 0; j < 70; j++) {
			const uint64_t ticket = (firsts[i] + j) & COUNTER_MASK;
			assert_ptr_equal(fake.woken[j], word_of(ticket));
			assert_int_equal(fake.woken_bits[j], word_bit(ticket));
			assert_int_equal(fake.woken_most[j], INT_MAX);
			assert_true(word_is_posted(LOAD_SEQ(word_of(ticket)), ticket));
		}
		assert_false(word_is_posted(LOAD_SEQ(word_of(firsts[i] + 70)), (firsts[i] + 70) & COUNTER_MASK));
	}
}

/* A waiter that has its ticket, but has not said that it sleeps, costs no system call. */
static void
a_post_makes_no_call_for_a_waiter_that_is_awake(void **state)
{
	(void)state;
	put_to_sleep(9, 0);
	set_counters(sem, 9 + 10, 8);
	assert_true(watch_grants(sem));
	assert_int_equal(tsem_post(sem, 5, NULL), 0);
	assert_int_equal(fake.wakes, 0);
}

static void
others_take_the_memory_away(void)
{
	assert_int_equal(mprotect(sem->segment.header, SEGMENT_BYTES_MIN, PROT_NONE), 0);
}

static void
after_the_first_wake_nothing_is_touched(void **state)
{
	(void)state;
	put_to_sleep(9, 100);
	fake.others_at_wake = others_take_the_memory_away;
	assert_int_equal(tsem_post(sem, 3, NULL), 0);
	assert_int_equal(mprotect(sem->segment.header, SEGMENT_BYTES_MIN, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(fake.wakes, 3);
}

/* The post that said so has died before it moved G, or is stopped there: looks that come more and more seldom. */
static void
a_post_that_does_not_come(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(2000);
	STORE_SEQ(word_of(1), word_posted(0, 1));
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	assert_int_equal(fake.clock - began, 2000 * NS_PER_MS);
	assert_int_equal(fake.slept_until[0], began + POSTED_PAUSE);
	assert_int_equal(fake.slept_until[1], began + 3 * POSTED_PAUSE);
	assert_in_range(fake.sleeps, 5 + 10, 5 + 16);
}

/* That is about to move G at the very moment at which a waiter falls asleep: it need not be woken. */
static void
a_post_that_comes(void **state)
{
	(void)state;
	STORE_SEQ(word_of(1), word_posted(0, 1));
	fake.others = others_post_and_die_before_waking;
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_true(fake.clock - began <= POSTED_PAUSE);
	assert_int_equal(fake.sleeps, 1);
}

/* Of the round before, which shares the word. */
static void
a_post_for_another_ticket_is_none(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(200);
	set_counters(sem, ARRAY_WORDS + 1, ARRAY_WORDS);
	STORE_SEQ(word_of(1), word_posted(0, 1));
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	assert_int_equal(fake.sleeps, 1);
}

static void
a_sleeper_watches_and_takes_back_its_announcement(void **state)
{
	(void)state;
	assert_int_equal(tag_of_G(), TAG_NONE);
	fake.others = others_post;
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(fake.wakes, 1);
	assert_true(tag_is_watched(tag_of_G()));
	assert_int_equal(LOAD_SEQ(word_of(1)) & WORD_SLEEPER_BITS, 0);
	/* No process waits: the next post makes G quiet, and the one after it has nothing to look at. */
	others_post();
	assert_int_equal(tag_of_G(), TAG_NONE);
	assert_int_equal(grants_of(sem), 2);
}

static void
each_change_of_the_capacity_and_each_wait_for_idleness_changes_G(void **state)
{
	(void)state;
	uint64_t before = tag_of_G();
	for (uint32_t permits = 0; permits < 6; permits++) {
		assert_int_equal(tsem_set(sem, permits), 0);
		assert_int_not_equal(tag_of_G(), before);
		before = tag_of_G();
	}
	const struct timespec deadline = clock_after(100);
	assert_int_equal(tsem_wait_idle(sem, 0, &deadline), -ETIMEDOUT);
	assert_int_not_equal(tag_of_G(), before);
}

/* A place that was given up would take one of two permits: the post sees to that, afterwards. */
static void
a_place_given_up_among_those_enabled_is_skipped(void **state)
{
	(void)state;
	put_record(sem, 41, owner_orphan(2), STATE_QUEUED, 0, 2, 1);
	put_record(sem, 42, NOBODY, STATE_QUEUED, 0, 3, 1);
	/* Ours is ticket 1, and then the others get in line. */
	struct queue_place place = queue_request(sem, 1, USE_TAKE, &queue_for_ever);
	assert_int_equal(queue_join(&place), 0);
	assert_int_equal(place.waiter.ticket, 1);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_retag(counter_word_make(4, 0), TAG_NONE));
	queue_mark_queued(&place);
	note_orphan(sem, 2);
	assert_int_equal(tsem_post(sem, 2, NULL), 0);
	assert_int_equal(grants_of(sem), 3);
	assert_int_equal(queue_wait(&place), 0);
	assert_true(is_enabled(sem, 3, 1));
	queue_leave(&place);
}

/* It holds nothing, and blocks nothing: the next post skips it first. */
static void
a_place_given_up_that_is_next_stays(void **state)
{
	(void)state;
	put_to_sleep(1, 1);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(3, TAG_NONE));
	put_record(sem, 41, owner_orphan(2), STATE_QUEUED, 0, 2, 1);
	note_orphan(sem, 2);
	fake.others_at_wake = others_take_the_memory_away;
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(mprotect(sem->segment.header, SEGMENT_BYTES_MIN, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(grants_of(sem), 1);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(grants_of(sem), 3);
	assert_int_equal(spare_permits(sem), 1);
}

/* Places given up are skipped when the queue reaches them, so what they were for would be free beyond the maximum. */
static void
a_maximum_with_places_given_up_in_the_queue(void **state)
{
	(void)state;
	tsem *limited = new_semaphore(0, 1);
	set_counters(limited, 3, 0);
	put_record(limited, 0, NOBODY, STATE_QUEUED, 0, 0, 1);
	put_record(limited, 1, owner_orphan(1), STATE_QUEUED, 0, 1, 1);
	put_record(limited, 2, owner_orphan(2), STATE_QUEUED, 0, 2, 1);
	note_orphan(limited, 1);
	assert_int_equal(tsem_post(limited, 3, NULL), -EOVERFLOW);
	assert_int_equal(grants_of(limited), 0);
	assert_int_equal(tsem_post(limited, 2, NULL), 0);
	assert_int_equal(stat_of(limited).available, 1);
	tsem_close(limited);
}

/* Each time the word changes, a post may be on its way that has not noticed this waiter. */
static void
another_post_that_does_not_come(void **state)
{
	(void)state;
	struct posted posted = {.word = 0};
	const struct waiter waiter = {.ticket = 1, .count = 1};
	uint32_t word = word_posted(0, 1);
	for (uint64_t pause = POSTED_PAUSE; pause < TICK; pause *= 2)
		assert_int_equal(wait_posted(&waiter, word, 1000, &posted), 1000 + pause);
	assert_int_equal(wait_posted(&waiter, word, 1000, &posted), NS_FOREVER);
	word = word_posted(word, 1);
	assert_int_equal(wait_posted(&waiter, word, 1000, &posted), 1000 + POSTED_PAUSE);
	word = word_posted(word, 1 + ARRAY_WORDS);
	assert_int_equal(wait_posted(&waiter, word, 1000, &posted), NS_FOREVER);
}

/* So many permits wake by a sweep, afterwards; and a process that waits for idleness is told afterwards. */
static void
posts_that_look_afterwards(void **state)
{
	(void)state;
	put_to_sleep(9, 9000);
	assert_int_equal(tsem_post(sem, ARRAY_WORDS, NULL), 0);
	assert_int_equal(fake.wakes, ARRAY_WORDS);

	put_to_sleep(9, 0);
	OR_SEQ(&sem->segment.header->pending, PENDING_IDLE);
	assert_int_equal(tsem_post(sem, 9, NULL), 0);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], &sem->segment.header->idle);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_post_wakes_those_it_enables_by_their_bit),
		TEST(a_post_makes_no_call_for_a_waiter_that_is_awake),
		TEST(after_the_first_wake_nothing_is_touched),
		TEST(a_post_that_does_not_come),
		TEST(a_post_that_comes),
		TEST(a_post_for_another_ticket_is_none),
		TEST(a_sleeper_watches_and_takes_back_its_announcement),
		TEST(each_change_of_the_capacity_and_each_wait_for_idleness_changes_G),
		TEST(a_place_given_up_among_those_enabled_is_skipped),
		TEST(a_place_given_up_that_is_next_stays),
		TEST(a_maximum_with_places_given_up_in_the_queue),
		TEST(another_post_that_does_not_come),
		TEST(posts_that_look_afterwards),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

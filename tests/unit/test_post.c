/* SPDX-License-Identifier: MIT */
/* Posting: what a post does before it moves G, that it touches nothing afterwards, and what G's tag says. */
#include "fixture.h"

#include <limits.h>
#include <sys/mman.h>

static uint64_t
tag_of_G(void)
{
	return counter_tag(LOAD_SEQ(&sem->segment.header->grants));
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

TEST_HELD(a_post_wakes_those_it_enables_by_their_bit)
{
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

TEST_HELD(a_post_makes_no_call_for_a_waiter_that_is_awake)
{
	put_to_sleep(9, 0);
	set_counters(sem, 9 + 10, 8);
	assert_true(watch_grants(sem));
	assert_int_equal(tsem_post(sem, 5, NULL), 0);
	assert_int_equal(fake.wakes, 0);
}

static void
memory_becomes_inaccessible(void)
{
	assert_int_equal(mprotect(sem->segment.header, SEGMENT_BYTES_MIN, PROT_NONE), 0);
}

TEST_HELD(after_the_first_wake_nothing_is_touched)
{
	put_to_sleep(9, 100);
	fake.peer_at_wake = memory_becomes_inaccessible;
	assert_int_equal(tsem_post(sem, 3, NULL), 0);
	assert_int_equal(mprotect(sem->segment.header, SEGMENT_BYTES_MIN, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(fake.wakes, 3);
}

/* The posting process has died, or is stopped, before it moves G. The pauses between the looks double. */
TEST_HELD(a_waiter_looks_again_when_a_post_does_not_come)
{
	const struct timespec deadline = clock_after(2000);
	STORE_SEQ(word_of(1), word_posted(0, 1));
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	assert_int_equal(fake.clock - began, 2000 * NS_PER_MS);
	assert_in_range(fake.slept_until[0] - began, POSTED_PAUSE, POSTED_PAUSE + SPIN_MAX);
	assert_int_equal(fake.slept_until[1] - fake.slept_until[0], 2 * POSTED_PAUSE);
	assert_in_range(fake.sleeps, 40 + 10, 40 + 16); /* 40 looks for dead owners, and the pauses */
}

/* The post moves G just as the waiter falls asleep, and does not wake it. */
TEST_HELD(a_waiter_notices_a_post_that_comes)
{
	STORE_SEQ(word_of(1), word_posted(0, 1));
	fake.peer = peer_posts_and_dies_before_waking;
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_true(fake.clock - began <= SPIN_MAX + POSTED_PAUSE);
	assert_int_equal(fake.sleeps, 1);
}

/* The other ticket has the same word, in another round of the array. */
TEST_HELD(a_post_for_another_ticket_changes_nothing)
{
	const struct timespec deadline = clock_after(40);
	set_counters(sem, ARRAY_WORDS + 1, ARRAY_WORDS);
	STORE_SEQ(word_of(1), word_posted(0, 1));
	assert_int_equal(tsem_take(sem, 1, &deadline), -ETIMEDOUT);
	assert_int_equal(fake.sleeps, 1);
}

TEST_HELD(a_sleeper_watches_G_and_retracts_its_announcement)
{
	assert_int_equal(tag_of_G(), TAG_NONE);
	fake.peer = peer_posts;
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(fake.wakes, 1);
	assert_true(tag_is_watched(tag_of_G()));
	assert_int_equal(LOAD_SEQ(word_of(1)) & WORD_SLEEPER_BITS, 0);
	/* No process waits now, so the next post sets the tag to NONE. */
	peer_posts();
	assert_int_equal(tag_of_G(), TAG_NONE);
	assert_int_equal(grants_of(sem), 2);
}

/* A release has woken this waiter and cleared its bit, and another waiter has announced itself on the same word. */
static void
peer_releases_and_another_waits(void)
{
	_Atomic uint32_t *word = word_of(1);
	assert_true(post_grants(sem, LOAD_SEQ(&sem->segment.header->grants), 1));
	STORE_SEQ(word, word_next_sequence(LOAD_SEQ(word)));
}

TEST_HELD(the_announcement_of_another_waiter_is_not_retracted)
{
	STORE_SEQ(word_of(1), word_posted(0, 1)); /* by a post that has not moved G */
	fake.peer = peer_releases_and_another_waits;
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(LOAD_SEQ(word_of(1)) & WORD_SLEEPER_BITS, WORD_SLEEPERS);
}

TEST_HELD(each_change_of_the_capacity_and_each_wait_for_idleness_changes_G)
{
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

/* The orphan would take one of the two permits, so the post skips it afterwards. */
TEST_HELD(an_orphan_among_those_enabled_is_skipped)
{
	put_record(sem, 41, owner_orphan(2), STATE_QUEUED, 0, 2, 1);
	put_record(sem, 42, UNUSED_PROCESS, STATE_QUEUED, 0, 3, 1);
	/* This process has ticket 1, and the others queue up behind it. */
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

/* It blocks no waiter meanwhile. */
TEST_HELD(an_orphan_that_is_next_stays_until_the_next_post)
{
	put_to_sleep(1, 1);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(3, TAG_NONE));
	put_record(sem, 41, owner_orphan(2), STATE_QUEUED, 0, 2, 1);
	note_orphan(sem, 2);
	fake.peer_at_wake = memory_becomes_inaccessible;
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(mprotect(sem->segment.header, SEGMENT_BYTES_MIN, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(grants_of(sem), 1);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(grants_of(sem), 3);
	assert_int_equal(available_permits(sem), 1);
}

int64_t __real_count_orphaned(struct tsem *s);
int64_t __wrap_count_orphaned(struct tsem *s);
static enum { NOTHING, A_WAITER_GIVES_UP, AN_ORPHAN_IS_SKIPPED } happens;

int64_t
__wrap_count_orphaned(struct tsem *s)
{
	if (happens == A_WAITER_GIVES_UP) {
		set_counters(s, 5, 0);
		put_record(s, 3, owner_orphan(3), STATE_QUEUED, 0, 3, 2);
	}
	if (happens == AN_ORPHAN_IS_SKIPPED) /* and a process claims its record between the reads of state and count */
		put_record(s, 1, owner_orphan(1), STATE_QUEUED, 0, 1, 4);
	const int64_t permits = __real_count_orphaned(s);
	if (happens == AN_ORPHAN_IS_SKIPPED) {
		set_counters(s, 3, 2);
		put_record(s, 0, UNUSED_PROCESS, STATE_IDLE, 0, 0, 1);
		put_record(s, 1, UNUSED_PROCESS, STATE_CLAIMED, 0, 0, 4);
	}
	happens = NOTHING;
	return permits;
}

/* The permits that an orphan waits for will be available when it is skipped. */
TEST_HELD(orphans_in_the_queue_do_not_count_against_the_maximum)
{
	tsem *limited = new_semaphore(0, 1);
	set_counters(limited, 3, 0);
	put_record(limited, 0, UNUSED_PROCESS, STATE_QUEUED, 0, 0, 1);
	put_record(limited, 1, owner_orphan(1), STATE_QUEUED, 0, 1, 1);
	put_record(limited, 2, owner_orphan(2), STATE_QUEUED, 0, 2, 1);
	note_orphan(limited, 1);
	assert_int_equal(tsem_post(limited, 3, NULL), -EOVERFLOW);
	assert_int_equal(grants_of(limited), 0);
	happens = A_WAITER_GIVES_UP; /* it arrived after the post had read T */
	assert_int_equal(tsem_post(limited, 2, NULL), 0);
	assert_int_equal(stat_of(limited).available, 1);
	tsem_close(limited);
}

TEST_HELD(an_orphan_that_is_skipped_meanwhile_does_not_count_by_the_next_use_of_its_record)
{
	tsem *limited = new_semaphore(0, 1);
	set_counters(limited, 3, 0);
	put_record(limited, 0, UNUSED_PROCESS, STATE_QUEUED, 0, 0, 1);
	put_record(limited, 1, owner_orphan(1), STATE_QUEUED, 0, 1, 1);
	put_record(limited, 2, owner_orphan(2), STATE_QUEUED, 0, 2, 1);
	note_orphan(limited, 1);
	happens = AN_ORPHAN_IS_SKIPPED;
	assert_int_equal(tsem_post(limited, 1, NULL), 0);
	assert_int_equal(stat_of(limited).available, 1);
	tsem_close(limited);
}

/* Each time the word changes, a post may be under way that has not noticed this waiter. */
TEST_HELD(each_post_starts_the_pauses_anew)
{
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

TEST_HELD(large_posts_and_waits_for_idleness_wake_after_the_move)
{
	put_to_sleep(9, 9000);
	assert_int_equal(tsem_post(sem, ARRAY_WORDS, NULL), 0);
	assert_int_equal(fake.wakes, ARRAY_WORDS);

	put_to_sleep(9, 0);
	OR_SEQ(&sem->segment.header->pending, PENDING_IDLE);
	assert_int_equal(tsem_post(sem, 9, NULL), 0);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], &sem->segment.header->idle);
}

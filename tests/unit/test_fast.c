/* SPDX-License-Identifier: MIT */
/*
 * The road of those who are alone takes a look at a few words and infers the rest: each of those words changed, by
 * somebody who is not alone with us any more, must send the next acquire or release the long way.
 */
#include "one_cached.h"

#include <errno.h>
#include <pthread.h>

static void
expect_the_books_to_balance(void)
{
	assert_int_equal(grants_of(sem), tickets_of(sem));
	assert_int_equal(records_in_use(sem), 0);
	assert_int_equal(stat_of(sem).available, stat_of(sem).capacity);
}

static void
others_took_all(void **state)
{
	(void)state;
	tsem_hold hold;
	assert_int_equal(tsem_take(sem, 2, NULL), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EAGAIN);
	assert_int_equal(tsem_post(sem, 2, NULL), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	expect_the_books_to_balance();
}

static void
the_capacity_was_lowered(void **state)
{
	(void)state;
	tsem_hold hold;
	assert_int_equal(tsem_set(sem, 0), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EAGAIN);
	assert_int_equal(tsem_set(sem, 1), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	expect_the_books_to_balance();
}

/* Who lowers it may die before anything but C has changed. */
static void
the_capacity_was_lowered_half_way(void **state)
{
	(void)state;
	tsem_hold hold;
	STORE_SEQ(&sem->segment.header->capacity, 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EAGAIN);
	STORE_SEQ(&sem->segment.header->capacity, 2);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	expect_the_books_to_balance();
}

/* The record is kept while there is no room, and nobody has come since. */
static void
there_was_no_room_then(void **state)
{
	(void)state;
	tsem_hold first, second;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &first), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &second), 0);
	STORE_SEQ(&sem->segment.header->capacity, 1);
	assert_int_equal(tsem_release(&second), 0);
	assert_int_equal(cache_entry(sem)->hold.record, hold_inside(&second)->record);
	assert_int_equal(tsem_try_acquire(sem, 1, &second), -EAGAIN);
	assert_int_equal(tsem_release(&first), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &second), 0);
	assert_int_equal(tsem_release(&second), 0);
	expect_the_books_to_balance();
}

static void
a_permit_came_back_from_the_dead(void **state)
{
	(void)state;
	tsem_hold hold;
	STORE_SEQ(&sem->segment.header->abandoned, 1);
	for (int use = 0; use < 2; use++) {
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_int_equal(tsem_hold_recovered(&hold), use == 0);
		assert_int_equal(tsem_release(&hold), 0);
	}
	expect_the_books_to_balance();
}

/* The record is the same, the number of permits is not. */
static void
another_number_of_permits(void **state)
{
	(void)state;
	tsem_hold hold;
	const uint32_t counts[] = {2, 1, 1, 2, 2, 1};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		assert_int_equal(tsem_acquire(sem, counts[i], NULL, &hold), 0);
		assert_int_equal(stat_of(sem).available, 2 - counts[i]);
		assert_int_equal(tsem_release(&hold), 0);
		expect_the_books_to_balance();
	}
}

static void
others_gave_back_meanwhile(void **state)
{
	(void)state;
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(tsem_release(&hold), 0);
	expect_the_books_to_balance();
}

static void *
acquire_both(void *unused)
{
	tsem_hold hold;
	(void)unused;
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	return NULL;
}

static void
others_have_lined_up(void **state)
{
	(void)state;
	tsem_hold hold;
	pthread_t thread;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(pthread_create(&thread, NULL, acquire_both, NULL), 0);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	expect_the_books_to_balance();
}

static _Atomic uint32_t *
word_of(uint64_t ticket)
{
	return ticket_word(sem, ticket);
}

/* Who lines up behind a hold that was alone is woken by its release, and not only by the next tick. */
static void
those_who_have_lined_up_are_woken(void **state)
{
	(void)state;
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const uint64_t ticket = tickets_of(sem);
	put_record(sem, 1, identity_owner(), STATE_QUEUED, 0, ticket, 1);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(counter_add(ticket, 1), TAG_NONE));
	OR_SEQ(word_of(ticket), WORD_SLEEPERS);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(LOAD_SEQ(word_of(ticket)) & WORD_SLEEPER_BITS, 0);
}

/* A record that somebody waits for is not kept; and what is free is IDLE. */
static void
the_record_is_wanted(void **state)
{
	(void)state;
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	OR_SEQ(&sem->segment.header->record_waiters, WORD_SLEEPERS);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(LOAD_SEQ(&sem->segment.records[0].owner), 0);
	assert_int_equal(state_kind(state_of(sem, 0)), STATE_IDLE);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->record_waiters) & WORD_SLEEPERS, 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), 0);
	assert_int_equal(hold_inside(&hold)->record, 0);
	assert_int_equal(tsem_release(&hold), 0);
}

/* Of a use that was not alone, and of one that is over already. */
static void
only_the_hold_that_it_is(void **state)
{
	(void)state;
	tsem_hold first, second, copy;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &first), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &second), 0);
	assert_int_equal(tsem_release(&first), 0);
	assert_int_equal(tsem_release(&first), -EPERM);
	assert_int_equal(tsem_release(&second), 0);
	assert_int_equal(tsem_release(&second), -EPERM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &first), 0);
	copy = first;
	assert_int_equal(tsem_release(&first), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &first), 0);
	assert_int_equal(tsem_release(&copy), -EPERM);
	assert_int_equal(tsem_release(&first), 0);
	expect_the_books_to_balance();
}

/* Claimed, it has no ticket at first; a second claim before that must be given another one. */
static void
claimed_once_at_a_time(void **state)
{
	(void)state;
	struct claim first, second;
	const struct purpose purpose = {.count = 1, .use = USE_HOLD};
	assert_int_equal(record_claim(sem, &purpose, &first), 0);
	assert_int_equal(record_claim(sem, &purpose, &second), 0);
	assert_int_equal(first.index, 0);
	assert_int_not_equal(second.index, 0);
	record_unclaim(sem, &first);
	record_unclaim(sem, &second);
	expect_the_books_to_balance();
}

/* A kept record is nobody's place, and whoever keeps one and does nothing stands in nobody's way. */
static void
what_is_kept_is_not_in_use(void **state)
{
	(void)state;
	assert_int_equal(state_kind(state_of(sem, 0)), STATE_CLAIMED);
	assert_int_equal(stat_of(sem).held, 0);
	assert_int_equal(stat_of(sem).waiting, 0);
	assert_int_equal(tsem_remove(name, 0), 0);
}

/* But CLAIMED it has a ticket, if T says so. Without capacity there is nothing to be had but that. */
static void
in_use_is_who_has_just_arrived(void **state)
{
	(void)state;
	struct header *header = sem->segment.header;
	assert_int_equal(tsem_set(sem, 0), 0);
	put_record(sem, 1, identity_owner(), STATE_CLAIMED, STATE_ARRIVAL_PHASE, 7, 1);
	const uint64_t tickets = LOAD_SEQ(&header->tickets);
	STORE_SEQ(&header->tickets, counter_word_advance(tickets, 0, tag_make(1, 1)));
	assert_int_equal(tsem_remove(name, 0), -EBUSY);
	STORE_SEQ(&header->tickets, counter_word_advance(tickets, 0, tag_make(1, 0)));
	assert_int_equal(tsem_remove(name, 0), 0);
}

/* Closing gives it back as any other: free, and IDLE. */
static void
free_after_closing(void **state)
{
	(void)state;
	tsem *other = open_semaphore(name);
	tsem_close(sem);
	sem = other;
	assert_int_equal(LOAD_SEQ(&sem->segment.records[0].owner), 0);
	assert_int_equal(state_kind(state_of(sem, 0)), STATE_IDLE);
	assert_int_equal(state_value(state_of(sem, 0)), LOAD_SEQ(&sem->segment.records[0].gen) + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(others_took_all),
		TEST(the_capacity_was_lowered),
		TEST(the_capacity_was_lowered_half_way),
		TEST(there_was_no_room_then),
		TEST(a_permit_came_back_from_the_dead),
		TEST(another_number_of_permits),
		TEST(others_gave_back_meanwhile),
		TEST(others_have_lined_up),
		TEST(those_who_have_lined_up_are_woken),
		TEST(the_record_is_wanted),
		TEST(only_the_hold_that_it_is),
		TEST(claimed_once_at_a_time),
		TEST(what_is_kept_is_not_in_use),
		TEST(in_use_is_who_has_just_arrived),
		TEST(free_after_closing),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

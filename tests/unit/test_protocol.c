/* SPDX-License-Identifier: MIT */
/* The steps of lib/protocol.h one by one, as if their owner had stopped or died between them. */
#include "inside.h"

#include <errno.h>

#include "protocol.h"

static tsem *sem;

static int
set_up(void **state)
{
	(void)state;
	sem = new_semaphore(3, 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	tsem_close(sem);
	return 0;
}

static void
set_tickets(uint64_t counter, uint64_t tag)
{
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(counter, tag));
}

static void
set_grants(uint64_t counter, uint64_t tag)
{
	STORE_SEQ(&sem->segment.header->grants, counter_word_make(counter, tag));
}

/* ---- arrivals ---- */

static void
an_unfinished_arrival_is_finished_by_the_next(void **state)
{
	(void)state;
	for (unsigned phase = 0; phase < 2; phase++) {
		for (uint64_t first = 0; first < 2; first++) {
			/* Two tickets were taken: 0 and 1, or the last before 2^48 and the first behind it. */
			const uint64_t ticket = first == 0 ? 0 : COUNTER_MASK;
			const uint64_t phases = (phase != 0 ? STATE_ARRIVAL_PHASE : 0) | STATE_RELEASE_PHASE;
			uint64_t mine = 99;
			put_record(sem, 5, NOBODY, STATE_CLAIMED, phases, 7, 2);
			set_tickets(counter_add(ticket, 2), tag_make(5, phase));
			set_grants(ticket, TAG_NONE);
			assert_int_equal(arrive(sem, TAG_NONE, 1, ARRIVE_IN_LINE, &mine), 0);
			assert_int_equal(mine, counter_add(ticket, 2));
			assert_int_equal(state_of(sem, 5), state_next(phases, STATE_QUEUED, ticket));
		}
	}
}

static void
a_try_that_fails_changes_nothing(void **state)
{
	(void)state;
	uint64_t mine = 99;
	put_record(sem, 5, NOBODY, STATE_CLAIMED, 0, 7, 2);
	set_tickets(2, tag_make(5, 0));
	assert_int_equal(arrive(sem, TAG_NONE, 2, ARRIVE_IF_ENABLED, &mine), -EAGAIN);
	assert_int_equal(mine, 99);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->tickets), counter_word_make(2, tag_make(5, 0)));
	assert_int_equal(state_kind(state_of(sem, 5)), STATE_CLAIMED);
}

static void
an_arrival_carries_its_tag(void **state)
{
	(void)state;
	uint64_t mine = 99;
	set_tickets(40, TAG_NONE);
	set_grants(40, TAG_NONE);
	assert_int_equal(arrive(sem, tag_make(9, 1), 2, ARRIVE_IF_ENABLED, &mine), 0);
	assert_int_equal(mine, 40);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->tickets), counter_word_make(42, tag_make(9, 1)));
}

/* Tags that say nothing about the record's present use. */
static void
stale_arrival_tags_are_left_alone(void **state)
{
	(void)state;
	uint64_t mine;

	/* The other phase: T was last moved by the record's use before this one. */
	put_record(sem, 5, NOBODY, STATE_CLAIMED, STATE_ARRIVAL_PHASE, 7, 2);
	const uint64_t claimed = state_of(sem, 5);
	set_tickets(2, tag_make(5, 0));
	assert_int_equal(arrive(sem, TAG_NONE, 1, ARRIVE_IN_LINE, &mine), 0);
	assert_int_equal(state_of(sem, 5), claimed);

	/* The right phase, but T has moved since the helper saw it. */
	const uint64_t seen = counter_word_make(2, tag_make(5, 1));
	set_tickets(3, TAG_NONE);
	finish_arrival(sem, seen);
	assert_int_equal(state_of(sem, 5), claimed);
	set_tickets(3, tag_make(5, 1));
	finish_arrival(sem, seen);
	assert_int_equal(state_of(sem, 5), claimed);
	/* And indeed with the present word it would be finished. */
	finish_arrival(sem, counter_word_make(3, tag_make(5, 1)));
	assert_int_equal(state_of(sem, 5), state_next(claimed, STATE_QUEUED, 1));
}

static void
only_claimed_records_arrive(void **state)
{
	(void)state;
	static const enum state_kind others[] = {STATE_IDLE, STATE_QUEUED, STATE_HELD, STATE_RELEASING};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		put_record(sem, 5, NOBODY, others[i], 0, 1, 2);
		const uint64_t before = state_of(sem, 5);
		set_tickets(12, tag_make(5, 0));
		finish_arrival(sem, counter_word_make(12, tag_make(5, 0)));
		assert_int_equal(state_of(sem, 5), before);
	}
}

/* What a peer may scribble into the counters. */
static void
tags_of_records_that_do_not_exist(void **state)
{
	(void)state;
	static const uint64_t tags[] = {(RECORDS_MAX - 1) << 1, RECORDS_MAX << 1, 1000 << 1 | 1};
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		uint64_t mine = 99;
		set_tickets(50, tags[i]);
		set_grants(50, tags[i]);
		assert_int_equal(arrive(sem, TAG_NONE, 1, ARRIVE_IN_LINE, &mine), 0);
		assert_int_equal(mine, 50);
		put_record(sem, 5, NOBODY, STATE_RELEASING, 0, 49, 1);
		struct grant grant;
		assert_true(move_grants(sem, 5, &sem->segment.records[5], state_of(sem, 5), &grant));
		assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), counter_word_make(51, tag_make(5, 0)));
	}
}

/* ---- releases ---- */

/* Record `index`, RELEASING `count` permits, by the hand of its owner. */
static bool
move(uint32_t index, uint64_t phases, uint32_t count, struct grant *grant)
{
	put_record(sem, index, NOBODY, STATE_RELEASING, phases, 1, count);
	return move_grants(sem, index, &sem->segment.records[index], state_of(sem, index), grant);
}

static void
an_unfinished_release_is_finished_by_the_next(void **state)
{
	(void)state;
	for (unsigned phase = 0; phase < 2; phase++) {
		const uint64_t phases = STATE_ARRIVAL_PHASE | (phase != 0 ? STATE_RELEASE_PHASE : 0);
		put_record(sem, 5, NOBODY, STATE_RELEASING, phases, 30, 2);
		set_tickets(33, TAG_NONE);
		set_grants(32, tag_make(5, phase)); /* has been moved for it */
		struct grant grant;
		assert_true(move(6, 0, 1, &grant));
		assert_true(grant.moved);
		assert_int_equal(grant.from, 35);
		assert_int_equal(grant.to, 36);
		assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), counter_word_make(33, tag_make(6, 0)));
		assert_int_equal(state_of(sem, 5), state_next(phases ^ STATE_PHASES, STATE_IDLE, 8));
		assert_int_equal(state_kind(state_of(sem, 6)), STATE_RELEASING); /* its second step is its owner's */
	}
}

static void
a_release_is_not_done_twice(void **state)
{
	(void)state;
	struct grant grant;
	set_grants(32, tag_make(5, 1));
	assert_true(move(5, STATE_RELEASE_PHASE, 2, &grant));
	assert_false(grant.moved);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), counter_word_make(32, tag_make(5, 1)));

	/* Somebody finished it, and G has gone on: the state is not what it was. */
	put_record(sem, 5, NOBODY, STATE_RELEASING, 0, 1, 2);
	const uint64_t releasing = state_of(sem, 5);
	STORE_SEQ(&sem->segment.records[5].state, state_next(releasing ^ STATE_PHASES, STATE_IDLE, 8));
	set_grants(34, TAG_NONE);
	assert_false(move_grants(sem, 5, &sem->segment.records[5], releasing, &grant));
	assert_false(grant.moved);
	assert_int_equal(grants_of(sem), 34);
	release_for_owner(sem, 5, &sem->segment.records[5], releasing, &grant);
	assert_false(grant.moved);
	assert_int_equal(grants_of(sem), 34);
	assert_int_equal(state_of(sem, 5), state_next(releasing ^ STATE_PHASES, STATE_IDLE, 8));
}

static void
stale_release_tags_are_left_alone(void **state)
{
	(void)state;
	struct grant grant;
	/* The other phase: a release of the record's use before this one, which has begun to release but not moved G. */
	put_record(sem, 5, NOBODY, STATE_RELEASING, STATE_RELEASE_PHASE, 30, 2);
	const uint64_t releasing = state_of(sem, 5);
	set_grants(32, tag_make(5, 0));
	assert_true(move(6, 0, 1, &grant));
	assert_int_equal(grants_of(sem), 33);
	assert_int_equal(state_of(sem, 5), releasing);

	/* So its own release still moves G. */
	assert_true(move_grants(sem, 5, &sem->segment.records[5], releasing, &grant));
	assert_true(grant.moved);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), counter_word_make(35, tag_make(5, 1)));

	/* The same phase, and a state that is not RELEASING. */
	static const enum state_kind others[] = {STATE_IDLE, STATE_CLAIMED, STATE_QUEUED, STATE_HELD};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		put_record(sem, 5, NOBODY, others[i], 0, 40, 2);
		const uint64_t before = state_of(sem, 5);
		set_grants(32, tag_make(5, 0));
		assert_true(move(6, 0, 1, &grant));
		assert_int_equal(state_of(sem, 5), before);
	}
}

/* A post gives G another tag: the release that the old one tells of has to be finished before. */
static void
a_post_finishes_the_release_before_it(void **state)
{
	(void)state;
	struct grant grant;
	put_record(sem, 5, NOBODY, STATE_RELEASING, 0, 30, 2);
	set_tickets(32, TAG_NONE);
	set_grants(32, tag_make(5, 0));
	assert_int_equal(tsem_post(sem, 4, NULL), 0);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), counter_word_make(36, TAG_NONE));
	assert_int_equal(state_kind(state_of(sem, 5)), STATE_IDLE);
	assert_true(move(6, 0, 1, &grant));
	assert_int_equal(grants_of(sem), 37);
}

static void
a_release_flips_both_phases(void **state)
{
	(void)state;
	for (uint64_t phases = 0; phases <= STATE_PHASES; phases += STATE_ARRIVAL_PHASE) {
		struct grant grant;
		put_record(sem, 5, NOBODY, STATE_RELEASING, phases, 3, 2);
		set_grants(3, TAG_NONE);
		release_for_owner(sem, 5, &sem->segment.records[5], state_of(sem, 5), &grant);
		assert_true(grant.moved);
		assert_int_equal(LOAD_SEQ(&sem->segment.header->grants),
		                 counter_word_make(5, tag_make(5, phases >= STATE_RELEASE_PHASE)));
		assert_int_equal(state_of(sem, 5), state_next(phases ^ STATE_PHASES, STATE_IDLE, 8));
	}
}

/* Among the limits in tsem(7): a waiter stopped just when it is enabled, while ever more permits go by. */
static void
how_long_a_stopped_waiter_is_enabled(void **state)
{
	(void)state;
	const uint64_t ticket = COUNTER_MASK - 5;
	const uint64_t reach = UINT64_C(1) << 47;
	const struct {
		uint64_t ahead;
		bool enabled;
	} cases[] = {{0, false}, {1, true}, {6, true}, {7, true}, {reach - 1, true}, {reach, false}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_grants((ticket + cases[i].ahead - 3) & COUNTER_MASK, TAG_NONE); /* the capacity is 3 */
		assert_int_equal(is_enabled(sem, ticket, 1), cases[i].enabled);
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_unfinished_arrival_is_finished_by_the_next),
		TEST(a_try_that_fails_changes_nothing),
		TEST(an_arrival_carries_its_tag),
		TEST(stale_arrival_tags_are_left_alone),
		TEST(only_claimed_records_arrive),
		TEST(tags_of_records_that_do_not_exist),
		TEST(an_unfinished_release_is_finished_by_the_next),
		TEST(a_release_is_not_done_twice),
		TEST(stale_release_tags_are_left_alone),
		TEST(a_post_finishes_the_release_before_it),
		TEST(a_release_flips_both_phases),
		TEST(how_long_a_stopped_waiter_is_enabled),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

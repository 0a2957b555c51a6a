/* SPDX-License-Identifier: MIT */
/* The steps of lib/protocol/protocol.h one by one, as if the owner of a record had stopped or died between them. */
#include "fixture.h"

static int
set_up(void **state)
{
	(void)state;
	begin(3);
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

TEST_WITH(set_up, an_unfinished_arrival_is_finished_by_the_next)
{
	for (unsigned phase = 0; phase < 2; phase++) {
		for (uint64_t first = 0; first < 2; first++) {
			/* Two tickets were taken: 0 and 1, or the last one before 2^48 and the first one after it. */
			const uint64_t ticket = first == 0 ? 0 : COUNTER_MASK;
			const uint64_t phases = (phase != 0 ? STATE_ARRIVAL_PHASE : 0) | STATE_RELEASE_PHASE;
			uint64_t mine = 99;
			put_record(sem, 5, UNUSED_PROCESS, STATE_CLAIMED, phases, 7, 2);
			set_tickets(counter_add(ticket, 2), tag_make(5, phase));
			set_grants(ticket, TAG_NONE);
			assert_int_equal(arrive(sem, TAG_NONE, 1, ARRIVE_IN_LINE, &mine), 0);
			assert_int_equal(mine, counter_add(ticket, 2));
			assert_int_equal(state_of(sem, 5), state_next(phases, STATE_QUEUED, ticket));
		}
	}
}

TEST_WITH(set_up, a_try_that_fails_changes_nothing)
{
	uint64_t mine = 99;
	put_record(sem, 5, UNUSED_PROCESS, STATE_CLAIMED, 0, 7, 2);
	set_tickets(2, tag_make(5, 0));
	assert_int_equal(arrive(sem, TAG_NONE, 2, ARRIVE_IF_ENABLED, &mine), -EAGAIN);
	assert_int_equal(mine, 99);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->tickets), counter_word_make(2, tag_make(5, 0)));
	assert_int_equal(state_kind(state_of(sem, 5)), STATE_CLAIMED);
}

TEST_WITH(set_up, an_arrival_carries_its_tag)
{
	uint64_t mine = 99;
	set_tickets(40, TAG_NONE);
	set_grants(40, TAG_NONE);
	assert_int_equal(arrive(sem, tag_make(9, 1), 2, ARRIVE_IF_ENABLED, &mine), 0);
	assert_int_equal(mine, 40);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->tickets), counter_word_make(42, tag_make(9, 1)));
}

TEST_WITH(set_up, stale_arrival_tags_change_no_record)
{
	uint64_t mine;

	/* The other phase: T was last moved by the record's use before this one. */
	put_record(sem, 5, UNUSED_PROCESS, STATE_CLAIMED, STATE_ARRIVAL_PHASE, 7, 2);
	const uint64_t claimed = state_of(sem, 5);
	set_tickets(2, tag_make(5, 0));
	assert_int_equal(arrive(sem, TAG_NONE, 1, ARRIVE_IN_LINE, &mine), 0);
	assert_int_equal(state_of(sem, 5), claimed);

	/* The right phase, but T has moved since the process read it. */
	const uint64_t seen = counter_word_make(2, tag_make(5, 1));
	set_tickets(3, TAG_NONE);
	finish_arrival(sem, seen);
	assert_int_equal(state_of(sem, 5), claimed);
	set_tickets(3, tag_make(5, 1));
	finish_arrival(sem, seen);
	assert_int_equal(state_of(sem, 5), claimed);
	/* With the present word the arrival is finished. */
	finish_arrival(sem, counter_word_make(3, tag_make(5, 1)));
	assert_int_equal(state_of(sem, 5), state_next(claimed, STATE_QUEUED, 1));
}

TEST_WITH(set_up, only_claimed_records_arrive)
{
	static const enum state_kind others[] = {STATE_IDLE, STATE_QUEUED, STATE_HELD, STATE_RELEASING};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		put_record(sem, 5, UNUSED_PROCESS, others[i], 0, 1, 2);
		const uint64_t before = state_of(sem, 5);
		set_tickets(12, tag_make(5, 0));
		finish_arrival(sem, counter_word_make(12, tag_make(5, 0)));
		assert_int_equal(state_of(sem, 5), before);
	}
}

/* Only a damaged segment has such tags. */
TEST_WITH(set_up, tags_of_records_that_do_not_exist_are_overwritten)
{
	static const uint64_t tags[] = {(RECORDS_MAX - 1) << 1, RECORDS_MAX << 1, 1000 << 1 | 1};
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		uint64_t mine = 99;
		set_tickets(50, tags[i]);
		set_grants(50, tags[i]);
		assert_int_equal(arrive(sem, TAG_NONE, 1, ARRIVE_IN_LINE, &mine), 0);
		assert_int_equal(mine, 50);
		put_record(sem, 5, UNUSED_PROCESS, STATE_RELEASING, 0, 49, 1);
		struct grant grant;
		assert_true(move_grants(sem, 5, &sem->segment.records[5], state_of(sem, 5), &grant));
		assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), counter_word_make(51, tag_make(5, 0)));
	}
}

/* ---- releases ---- */

/* Moves G as the owner of record `index` does, which is RELEASING `count` permits. */
static bool
move(uint32_t index, uint64_t phases, uint32_t count, struct grant *grant)
{
	put_record(sem, index, UNUSED_PROCESS, STATE_RELEASING, phases, 1, count);
	return move_grants(sem, index, &sem->segment.records[index], state_of(sem, index), grant);
}

TEST_WITH(set_up, an_unfinished_release_is_finished_by_the_next)
{
	for (unsigned phase = 0; phase < 2; phase++) {
		const uint64_t phases = STATE_ARRIVAL_PHASE | (phase != 0 ? STATE_RELEASE_PHASE : 0);
		put_record(sem, 5, UNUSED_PROCESS, STATE_RELEASING, phases, 30, 2);
		set_tickets(33, TAG_NONE);
		set_grants(32, tag_make(5, phase)); /* G has moved for record 5 */
		struct grant grant;
		assert_true(move(6, 0, 1, &grant));
		assert_true(grant.moved);
		assert_int_equal(grant.from, 35);
		assert_int_equal(grant.to, 36);
		assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), counter_word_make(33, tag_make(6, 0)));
		assert_int_equal(state_of(sem, 5), state_next(phases ^ STATE_PHASES, STATE_IDLE, 8));
		assert_int_equal(state_kind(state_of(sem, 6)), STATE_RELEASING); /* the caller writes IDLE */
	}
}

TEST_WITH(set_up, a_release_is_not_done_twice)
{
	struct grant grant;
	set_grants(32, tag_make(5, 1));
	assert_true(move(5, STATE_RELEASE_PHASE, 2, &grant));
	assert_false(grant.moved);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), counter_word_make(32, tag_make(5, 1)));

	/* Another process finished the release, and G has moved on: the state has changed. */
	put_record(sem, 5, UNUSED_PROCESS, STATE_RELEASING, 0, 1, 2);
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

TEST_WITH(set_up, stale_release_tags_change_no_record)
{
	struct grant grant;
	/* The other phase: that of the use before. The record is RELEASING, and G has not moved for this use. */
	put_record(sem, 5, UNUSED_PROCESS, STATE_RELEASING, STATE_RELEASE_PHASE, 30, 2);
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
		put_record(sem, 5, UNUSED_PROCESS, others[i], 0, 40, 2);
		const uint64_t before = state_of(sem, 5);
		set_grants(32, tag_make(5, 0));
		assert_true(move(6, 0, 1, &grant));
		assert_int_equal(state_of(sem, 5), before);
	}
}

/* A post replaces G's tag, so it must finish the release of the old tag before. */
TEST_WITH(set_up, a_post_finishes_the_release_before_it)
{
	struct grant grant;
	put_record(sem, 5, UNUSED_PROCESS, STATE_RELEASING, 0, 30, 2);
	set_tickets(32, TAG_NONE);
	set_grants(32, tag_make(5, 0));
	assert_int_equal(tsem_post(sem, 4, NULL), 0);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), counter_word_make(36, TAG_NONE));
	assert_int_equal(state_kind(state_of(sem, 5)), STATE_IDLE);
	assert_true(move(6, 0, 1, &grant));
	assert_int_equal(grants_of(sem), 37);
}

TEST_WITH(set_up, a_release_flips_both_phases)
{
	for (uint64_t phases = 0; phases <= STATE_PHASES; phases += STATE_ARRIVAL_PHASE) {
		struct grant grant;
		put_record(sem, 5, UNUSED_PROCESS, STATE_RELEASING, phases, 3, 2);
		set_grants(3, TAG_NONE);
		release_for_owner(sem, 5, &sem->segment.records[5], state_of(sem, 5), &grant);
		assert_true(grant.moved);
		assert_int_equal(LOAD_SEQ(&sem->segment.header->grants),
		                 counter_word_make(5, tag_make(5, phases >= STATE_RELEASE_PHASE)));
		assert_int_equal(state_of(sem, 5), state_next(phases ^ STATE_PHASES, STATE_IDLE, 8));
	}
}

/* A limit in tsem(7): the waiter is stopped when it is enabled, and others go on acquiring and releasing. */
TEST_WITH(set_up, a_stopped_waiter_stays_enabled_for_half_the_range)
{
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

/* SPDX-License-Identifier: MIT */
/* The count of permits that are taken anonymously, with a record in each state, and across 2^48. */
#include "fixture.h"

#include "protocol/anonymous.h"

enum { HERE = 9, PERMITS = 3 };

static int
set_up(void **state)
{
	(void)state;
	begin(20);
	return 0;
}

static int64_t
count_now(void)
{
	const struct header *header = sem->segment.header;
	int64_t anonymous = -99;
	const uint64_t grants = LOAD_SEQ(&header->grants);
	assert_true(anonymous_count(sem, grants, LOAD_SEQ(&header->tickets), &anonymous));
	return anonymous;
}

static void
set_tags(uint64_t tickets_tag, uint64_t grants_tag)
{
	struct header *header = sem->segment.header;
	STORE_SEQ(&header->tickets, counter_word_retag(LOAD_SEQ(&header->tickets), tickets_tag));
	STORE_SEQ(&header->grants, counter_word_retag(LOAD_SEQ(&header->grants), grants_tag));
}

TEST_WITH(set_up, without_records_all_that_is_out_is_anonymous)
{
	static const int64_t out[] = {0, 1, 7, -4};
	for (size_t i = 0; i < 4; i++) {
		set_counters(sem, COUNTER_MASK - 2 + (uint64_t)out[i], COUNTER_MASK - 2);
		assert_int_equal(count_now(), out[i]);
	}
}

/* The record has tickets 4 to 6 of 8, on both sides of the wrap-around. Two more were taken, and two came back. */
TEST_WITH(set_up, a_record_with_a_ticket_does_not_count)
{
	static const uint64_t bases[] = {0, COUNTER_MASK - 4};
	static const enum state_kind kinds[] = {STATE_QUEUED, STATE_HELD, STATE_RELEASING};
	for (size_t i = 0; i < 2; i++) {
		for (size_t j = 0; j < 3; j++) {
			set_counters(sem, bases[i] + 8, bases[i] + 2);
			put_record(sem, HERE, UNUSED_PROCESS, kinds[j], 0, bases[i] + 4, PERMITS);
			assert_int_equal(count_now(), 3);
			put_record(sem, HERE, owner_orphan(bases[i] + 4), kinds[j], 0, bases[i] + 4, PERMITS);
			assert_int_equal(count_now(), 3);
		}
	}
}

/* It arrived after T was read, so T does not have its permits. */
TEST_WITH(set_up, a_later_ticket_does_not_count)
{
	static const enum state_kind kinds[] = {STATE_QUEUED, STATE_HELD, STATE_RELEASING};
	for (size_t i = 0; i < 3; i++) {
		set_counters(sem, 8, 2);
		put_record(sem, HERE, UNUSED_PROCESS, kinds[i], 0, 8, PERMITS);
		assert_int_equal(count_now(), 6);
	}
}

TEST_WITH(set_up, an_unfinished_arrival_is_that_of_its_record)
{
	set_counters(sem, 8, 2);
	put_record(sem, HERE, UNUSED_PROCESS, STATE_CLAIMED, STATE_ARRIVAL_PHASE, 7, PERMITS);
	assert_int_equal(count_now(), 6);
	set_tags(tag_make(HERE, 0), TAG_NONE);
	assert_int_equal(count_now(), 6);
	set_tags(tag_make(HERE, 1), TAG_NONE);
	assert_int_equal(count_now(), 3);
}

TEST_WITH(set_up, an_unfinished_release_has_come_back)
{
	set_counters(sem, 8, 2);
	put_record(sem, HERE, UNUSED_PROCESS, STATE_RELEASING, STATE_RELEASE_PHASE, 4, PERMITS);
	set_tags(TAG_NONE, tag_make(HERE, 0));
	assert_int_equal(count_now(), 3);
	set_tags(TAG_NONE, tag_make(HERE, 1));
	assert_int_equal(count_now(), 6);
}

TEST_WITH(set_up, idle_and_cached_records_have_nothing)
{
	set_counters(sem, 8, 2);
	put_record(sem, HERE, UNUSED_PROCESS, STATE_IDLE, 0, 4, PERMITS);
	assert_int_equal(count_now(), 6);
	put_record(sem, HERE, UNUSED_PROCESS, STATE_CLAIMED, 0, 4, PERMITS);
	assert_int_equal(count_now(), 6);
}

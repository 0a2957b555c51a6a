/* SPDX-License-Identifier: MIT */
/* Recovery of one record from every state, and of orphans and handed-over holds. */
#include "one_record.h"

/* ---- from every state ---- */

static void
idle(void **state)
{
	(void)state;
	put(NOBODY, STATE_IDLE, 8);
	assert_int_equal(recover(), 0);
	expect_freed(0, 0);
}

/* With owners from several namespaces about, a record that is being claimed may still carry its last owner's. */
static void
idle_with_strangers_about(void **state)
{
	(void)state;
	STORE_SEQ(&sem->segment.header->mixed_pid_ns, 1);
	put(NOBODY, STATE_IDLE, 8);
	STORE_SEQ(&sem->segment.records[RECORD].start, owner_process(1, 1));
	assert_int_equal(recover(), 0);
	expect_untouched(NOBODY, state_next(0, STATE_IDLE, 8));
	STORE_SEQ(&sem->segment.records[RECORD].start, NOBODY);
	assert_int_equal(recover(), 0);
	expect_freed(0, 0);
}

static void
claimed_without_a_ticket(void **state)
{
	(void)state;
	put(NOBODY, STATE_CLAIMED, 7);
	assert_int_equal(recover(), 0);
	expect_freed(0, 0); /* the phases have not been used */
}

static void
claimed_with_a_stale_tag_of_its_own(void **state)
{
	(void)state;
	put(NOBODY, STATE_CLAIMED, 7);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(100 + COUNT, tag_make(RECORD, 1)));
	assert_int_equal(recover(), 0);
	expect_freed(0, 0);
}

static void
claimed_with_its_ticket(void **state)
{
	(void)state;
	put(NOBODY, STATE_CLAIMED, 7);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(100 + COUNT, tag_make(RECORD, 0)));
	assert_int_equal(recover(), COUNT); /* it was enabled at once, so it had the permits */
	expect_freed(STATE_PHASES, COUNT);
}

static void
held(void **state)
{
	(void)state;
	put(NOBODY, STATE_HELD, 100);
	assert_int_equal(recover(), COUNT);
	expect_freed(STATE_PHASES, COUNT);
	assert_int_equal(stat_of(sem).recovered, COUNT);
}

static void
queued_and_enabled(void **state)
{
	(void)state;
	put(NOBODY, STATE_QUEUED, 101);
	assert_int_equal(recover(), COUNT);
	expect_freed(STATE_PHASES, COUNT);
}

/* E is 103: the line has reached ticket 103, although two permits are not there. */
static void
queued_and_next_in_line(void **state)
{
	(void)state;
	put(NOBODY, STATE_QUEUED, 103);
	assert_int_equal(recover(), 0); /* a place skipped is no permit that came back */
	expect_freed(STATE_PHASES, COUNT);
	assert_int_equal(stat_of(sem).recovered, 0);
}

static void
queued_behind_others(void **state)
{
	(void)state;
	put(NOBODY, STATE_QUEUED, 104);
	const uint64_t before = state_of(sem, RECORD);
	assert_int_equal(recover(), 0);
	expect_untouched(NOBODY, before);
}

static void
releasing_before_the_move(void **state)
{
	(void)state;
	put(NOBODY, STATE_RELEASING, 100);
	assert_int_equal(recover(), 0);
	expect_freed(STATE_PHASES, COUNT);
}

static void
releasing_after_the_move(void **state)
{
	(void)state;
	put(NOBODY, STATE_RELEASING, 100);
	STORE_SEQ(&sem->segment.header->grants, counter_word_make(100, tag_make(RECORD, 0)));
	assert_int_equal(recover(), 0);
	expect_freed(STATE_PHASES, 0);
}

static void
a_state_that_does_not_exist(void **state)
{
	(void)state;
	put(NOBODY, (enum state_kind)7, 100);
	const uint64_t before = state_of(sem, RECORD);
	assert_int_equal(recover(), 0);
	expect_untouched(NOBODY, before);
}

static void
the_living_are_left_alone(void **state)
{
	(void)state;
	everybody_lives = true;
	for (unsigned s = STATE_IDLE; s <= STATE_RELEASING; s++) {
		put(NOBODY, (enum state_kind)s, 100);
		const uint64_t before = state_of(sem, RECORD);
		assert_int_equal(recover(), 0);
		expect_untouched(NOBODY, before);
	}
}

/* ---- orphans and handed-over holds ---- */

static void
an_orphan_is_dead_without_asking(void **state)
{
	(void)state;
	everybody_lives = true;
	put(owner_orphan(103), STATE_QUEUED, 103);
	assert_int_equal(recover(), 0);
	expect_freed(STATE_PHASES, COUNT);
}

static void
an_orphan_waits_for_the_line(void **state)
{
	(void)state;
	put(owner_orphan(104), STATE_QUEUED, 104);
	note_orphan(sem, 104);
	const uint64_t before = state_of(sem, RECORD);
	assert_int_equal(recover(), 0);
	expect_untouched(owner_orphan(104), before);

	/* The next post skips it first, if the waiter in front of it has not: so its two permits come on top of those posted. */
	set_counters(sem, 106, 100);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(owner_now(), 0);
	assert_int_equal(grants_of(sem), 102 + COUNT);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) & PENDING_ORPHANS, 0);
}

static void
an_orphan_behind_a_live_waiter_stays(void **state)
{
	(void)state;
	everybody_lives = true;
	set_counters(sem, 106, 100);
	put_record(sem, 6, NOBODY, STATE_QUEUED, 0, 103, 1);
	put(owner_orphan(104), STATE_QUEUED, 104);
	note_orphan(sem, 104);
	uint32_t permits = 0;
	recover_all(sem, &permits);
	assert_int_equal(permits, 0);
	assert_int_equal(grants_of(sem), 100);
	assert_int_equal(owner_now(), owner_orphan(104));
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) >> 16, 104);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) & PENDING_ORPHANS, 1);
}

/* Of all that are CLAIMED, which may be kept ones, whoever looks at everybody looks at the one with a ticket. */
static void
the_last_to_arrive_is_looked_at(void **state)
{
	(void)state;
	uint32_t permits = 0;
	put_record(sem, RECORD + 1, NOBODY, STATE_CLAIMED, 0, 7, 1);
	put(NOBODY, STATE_CLAIMED, 7);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(100 + COUNT, tag_make(RECORD, 0)));
	recover_all(sem, &permits);
	assert_int_equal(permits, COUNT);
	expect_freed(STATE_PHASES, COUNT);
	assert_int_equal(LOAD_SEQ(&sem->segment.records[RECORD + 1].owner), NOBODY); /* it has nothing to give back */
	assert_int_equal(recover_spare_records(sem), 1);
	assert_int_equal(LOAD_SEQ(&sem->segment.records[RECORD + 1].owner), 0);
}

/* More in a row than are collected in one scan, in an order that is not that of their records. */
static void
a_run_of_orphans_is_passed_over_at_once(void **state)
{
	(void)state;
	enum { ORPHANS = 150 };
	assert_int_equal(segment_reserve(&sem->segment, ORPHANS), 0);
	STORE_SEQ(&sem->segment.header->reserved, ORPHANS);
	set_counters(sem, 103 + ORPHANS, 100);
	for (uint32_t i = 0; i < ORPHANS; i++) {
		const uint64_t ticket = 103 + i * 37 % ORPHANS;
		put_record(sem, i, owner_orphan(ticket), STATE_QUEUED, 0, ticket, 1);
		note_orphan(sem, ticket);
	}
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) >> 16, 103);
	skip_orphans(sem);
	assert_int_equal(grants_of(sem), 100 + ORPHANS);
	assert_int_equal(records_in_use(sem), 0);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) & PENDING_ORPHANS, 0);
}

static void
a_handed_over_hold_of_a_dead_process(void **state)
{
	(void)state;
	put(owner_handed(NOBODY_PID, 100), STATE_HELD, 100);
	assert_int_equal(recover(), COUNT);
	expect_freed(STATE_PHASES, COUNT);
}

/* Its release was begun by somebody who may have died in it: it goes on, although the owner lives. */
static void
a_handed_over_hold_of_a_live_process(void **state)
{
	(void)state;
	everybody_lives = true;
	put(owner_handed(NOBODY_PID, 100), STATE_HELD, 100);
	const uint64_t before = state_of(sem, RECORD);
	assert_int_equal(recover(), 0);
	expect_untouched(owner_handed(NOBODY_PID, 100), before);

	put(owner_handed(NOBODY_PID, 100), STATE_RELEASING, 100);
	assert_int_equal(recover(), 0);
	expect_freed(STATE_PHASES, COUNT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(idle),
		TEST(idle_with_strangers_about),
		TEST(claimed_without_a_ticket),
		TEST(claimed_with_a_stale_tag_of_its_own),
		TEST(claimed_with_its_ticket),
		TEST(held),
		TEST(queued_and_enabled),
		TEST(queued_and_next_in_line),
		TEST(queued_behind_others),
		TEST(releasing_before_the_move),
		TEST(releasing_after_the_move),
		TEST(a_state_that_does_not_exist),
		TEST(the_living_are_left_alone),
		TEST(an_orphan_is_dead_without_asking),
		TEST(an_orphan_waits_for_the_line),
		TEST(an_orphan_behind_a_live_waiter_stays),
		TEST(the_last_to_arrive_is_looked_at),
		TEST(a_run_of_orphans_is_passed_over_at_once),
		TEST(a_handed_over_hold_of_a_dead_process),
		TEST(a_handed_over_hold_of_a_live_process),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

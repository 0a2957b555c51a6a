/* SPDX-License-Identifier: MIT */
/* Recovery of a dead process's record in each state, of orphans and of handed-over holds. */
#include "fixture.h"

/* ---- each state ---- */

TEST_RECOVERY(an_idle_record_is_freed)
{
	put_the_record(UNUSED_PROCESS, STATE_IDLE, 8);
	assert_int_equal(recover_the_record(), 0);
	expect_freed(0, 0);
}

/*
 * With owners from several namespaces, a record that is just being claimed may still have the signature of its last
 * owner.
 */
TEST_RECOVERY(an_idle_record_with_another_signature_stays)
{
	STORE_SEQ(&sem->segment.header->mixed_pid_ns, 1);
	put_the_record(UNUSED_PROCESS, STATE_IDLE, 8);
	STORE_SEQ(&sem->segment.records[RECORD].start, owner_process(1, 1));
	assert_int_equal(recover_the_record(), 0);
	expect_untouched(UNUSED_PROCESS, state_next(0, STATE_IDLE, 8));
	STORE_SEQ(&sem->segment.records[RECORD].start, UNUSED_PROCESS);
	assert_int_equal(recover_the_record(), 0);
	expect_freed(0, 0);
}

TEST_RECOVERY(a_claimed_record_without_a_ticket_is_freed)
{
	put_the_record(UNUSED_PROCESS, STATE_CLAIMED, 7);
	assert_int_equal(recover_the_record(), 0);
	expect_freed(0, 0); /* its phases have not been used */
}

TEST_RECOVERY(a_claimed_record_with_a_stale_tag_is_freed)
{
	put_the_record(UNUSED_PROCESS, STATE_CLAIMED, 7);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(100 + COUNT, tag_make(RECORD, 1)));
	assert_int_equal(recover_the_record(), 0);
	expect_freed(0, 0);
}

TEST_RECOVERY(a_claimed_record_with_a_ticket_is_recovered)
{
	put_the_record(UNUSED_PROCESS, STATE_CLAIMED, 7);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(100 + COUNT, tag_make(RECORD, 0)));
	assert_int_equal(recover_the_record(), COUNT); /* it was enabled at once, so it had the permits */
	expect_freed(STATE_PHASES, COUNT);
}

TEST_RECOVERY(a_held_record_is_recovered)
{
	put_the_record(UNUSED_PROCESS, STATE_HELD, 100);
	assert_int_equal(recover_the_record(), COUNT);
	expect_freed(STATE_PHASES, COUNT);
	assert_int_equal(stat_of(sem).recovered, COUNT);
}

TEST_RECOVERY(a_queued_and_enabled_record_is_recovered)
{
	put_the_record(UNUSED_PROCESS, STATE_QUEUED, 101);
	assert_int_equal(recover_the_record(), COUNT);
	expect_freed(STATE_PHASES, COUNT);
}

/* E is 103, so ticket 103 is next, but two permits are missing. */
TEST_RECOVERY(a_queued_record_that_is_next_is_skipped)
{
	put_the_record(UNUSED_PROCESS, STATE_QUEUED, 103);
	assert_int_equal(recover_the_record(), 0); /* its permits were not acquired */
	expect_freed(STATE_PHASES, COUNT);
	assert_int_equal(stat_of(sem).recovered, 0);
}

TEST_RECOVERY(a_queued_record_behind_others_stays)
{
	put_the_record(UNUSED_PROCESS, STATE_QUEUED, 104);
	const uint64_t before = state_of(sem, RECORD);
	assert_int_equal(recover_the_record(), 0);
	expect_untouched(UNUSED_PROCESS, before);
}

TEST_RECOVERY(a_release_is_completed_before_the_move)
{
	put_the_record(UNUSED_PROCESS, STATE_RELEASING, 100);
	assert_int_equal(recover_the_record(), 0);
	expect_freed(STATE_PHASES, COUNT);
}

TEST_RECOVERY(a_release_is_completed_after_the_move)
{
	put_the_record(UNUSED_PROCESS, STATE_RELEASING, 100);
	STORE_SEQ(&sem->segment.header->grants, counter_word_make(100, tag_make(RECORD, 0)));
	assert_int_equal(recover_the_record(), 0);
	expect_freed(STATE_PHASES, 0);
}

TEST_RECOVERY(an_unknown_state_stays)
{
	put_the_record(UNUSED_PROCESS, (enum state_kind)7, 100);
	const uint64_t before = state_of(sem, RECORD);
	assert_int_equal(recover_the_record(), 0);
	expect_untouched(UNUSED_PROCESS, before);
}

TEST_RECOVERY(records_of_a_live_process_stay)
{
	unused_process_is_alive = true;
	for (unsigned s = STATE_IDLE; s <= STATE_HELD; s++) {
		put_the_record(UNUSED_PROCESS, (enum state_kind)s, 100);
		const uint64_t before = state_of(sem, RECORD);
		assert_int_equal(recover_the_record(), 0);
		expect_untouched(UNUSED_PROCESS, before);
	}
	put_the_record(UNUSED_PROCESS, STATE_RELEASING, 100); /* the process that began the release may be dead */
	assert_int_equal(recover_the_record(), 0);
	assert_int_equal(grants_of(sem), 100 + COUNT);
	assert_int_equal(owner_of_the_record(), UNUSED_PROCESS);
}

/* ---- orphans and handed-over holds ---- */

TEST_RECOVERY(an_orphan_is_dead_without_a_judgement)
{
	unused_process_is_alive = true;
	put_the_record(owner_orphan(103), STATE_QUEUED, 103);
	assert_int_equal(recover_the_record(), 0);
	expect_freed(STATE_PHASES, COUNT);
}

TEST_RECOVERY(an_orphan_is_skipped_when_it_is_next)
{
	put_the_record(owner_orphan(104), STATE_QUEUED, 104);
	note_orphan(sem, 104);
	const uint64_t before = state_of(sem, RECORD);
	assert_int_equal(recover_the_record(), 0);
	expect_untouched(owner_orphan(104), before);

	/* The waiter in front has not skipped it, so the next post does: its two permits come on top of the two posted. */
	set_counters(sem, 106, 100);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(owner_of_the_record(), 0);
	assert_int_equal(grants_of(sem), 102 + COUNT);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) & PENDING_ORPHANS, 0);
}

TEST_RECOVERY(an_orphan_behind_a_live_waiter_stays)
{
	unused_process_is_alive = true;
	set_counters(sem, 106, 100);
	put_record(sem, 6, UNUSED_PROCESS, STATE_QUEUED, 0, 103, 1);
	put_the_record(owner_orphan(104), STATE_QUEUED, 104);
	note_orphan(sem, 104);
	uint32_t permits = 0;
	recover_all(sem, &permits);
	assert_int_equal(permits, 0);
	assert_int_equal(grants_of(sem), 100);
	assert_int_equal(owner_of_the_record(), owner_orphan(104));
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) >> 16, 104);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) & PENDING_ORPHANS, 1);
}

/* Recovery of all records skips those that are CLAIMED, which mostly are cached, unless T carries their tag. */
TEST_RECOVERY(the_claimed_record_that_arrived_last_is_recovered)
{
	uint32_t permits = 0;
	put_record(sem, RECORD + 1, UNUSED_PROCESS, STATE_CLAIMED, 0, 7, 1);
	put_the_record(UNUSED_PROCESS, STATE_CLAIMED, 7);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(100 + COUNT, tag_make(RECORD, 0)));
	recover_all(sem, &permits);
	assert_int_equal(permits, COUNT);
	expect_freed(STATE_PHASES, COUNT);
	assert_int_equal(LOAD_SEQ(&sem->segment.records[RECORD + 1].owner), UNUSED_PROCESS); /* it has no permits */
	assert_int_equal(recover_unused_records(sem), 1);
	assert_int_equal(LOAD_SEQ(&sem->segment.records[RECORD + 1].owner), 0);
}

/* A search for a free record frees what the dead have left, also right after a look for the dead. */
TEST_RECOVERY(the_dead_make_room_in_a_full_table)
{
	tsem_hold hold;
	use_up_all_records(identity_owner());
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EUSERS);
	put_record(sem, RECORDS_MAX - 1, UNUSED_PROCESS, STATE_HELD, 0, 100, 1);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(grants_of(sem), 101);
	assert_int_equal(hold_inside(&hold)->record, RECORDS_MAX - 1);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EUSERS);
	put_record(sem, 1, UNUSED_PROCESS, STATE_CLAIMED, 0, 7, 1);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(hold_inside(&hold)->record, 1);
}

/* More than one scan collects, in another order than that of their records. */
TEST_RECOVERY(many_orphans_are_skipped_at_once)
{
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

/* The process that declared the owner dead has died with the skip begun. The owner lives. */
TEST_RECOVERY(the_skip_of_a_declared_waiter_is_completed)
{
	unused_process_is_alive = true;
	put_the_record(UNUSED_PROCESS, STATE_RELEASING, 100);
	note_orphan(sem, 100);
	skip_orphans(sem);
	assert_int_equal(grants_of(sem), 100 + COUNT);
	assert_int_equal(state_kind(state_of(sem, RECORD)), STATE_IDLE);
	assert_int_equal(owner_of_the_record(), UNUSED_PROCESS);
}

TEST_RECOVERY(a_handed_over_hold_of_a_dead_process_is_recovered)
{
	put_the_record(owner_handed(UNUSED_PID, 100), STATE_HELD, 100);
	assert_int_equal(recover_the_record(), COUNT);
	expect_freed(STATE_PHASES, COUNT);
}

/* The process that began the release may have died. So recovery completes it, although the owner lives. */
TEST_RECOVERY(a_begun_release_of_a_handed_over_hold_is_completed)
{
	unused_process_is_alive = true;
	put_the_record(owner_handed(UNUSED_PID, 100), STATE_HELD, 100);
	const uint64_t before = state_of(sem, RECORD);
	assert_int_equal(recover_the_record(), 0);
	expect_untouched(owner_handed(UNUSED_PID, 100), before);

	put_the_record(owner_handed(UNUSED_PID, 100), STATE_RELEASING, 100);
	assert_int_equal(recover_the_record(), 0);
	expect_freed(STATE_PHASES, COUNT);
}

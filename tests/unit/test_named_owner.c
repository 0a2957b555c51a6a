/* SPDX-License-Identifier: MIT */
/* Declaring an owner dead that no process can judge, and cancelling the waits of one process. */
#include "fixture.h"

#include <unistd.h>

#include "calls/named_owner.h"

static struct record *
record_of(uint32_t index)
{
	return &sem->segment.records[index];
}

/* Another process declares this one dead for the hold. Returns the permits that came back. */
static uint32_t
declare(const tsem_hold *hold)
{
	const struct hold *inside = hold_inside_const(hold);
	uint32_t permits = 0;
	declare_dead(sem, inside->record, LOAD_SEQ(&record_of(inside->record)->owner), hold_ticket(inside), &permits);
	return permits;
}

/* This process had compared its state before it was declared dead, and goes on from there. */
static void
had_compared(const tsem_hold *hold)
{
	const struct hold *inside = hold_inside_const(hold);
	STORE_SEQ(&record_of(inside->record)->state, inside->state);
}

static void
expect_all_available(void)
{
	assert_int_equal(grants_of(sem), tickets_of(sem));
	assert_int_equal(records_in_use(sem), 0);
	assert_int_equal(stat_of(sem).available, stat_of(sem).capacity);
	assert_int_equal(stat_of(sem).held, 0);
}

/* Each hold is used a few times afterwards, on the fast path where that is possible. */
static void
goes_on(void)
{
	for (int i = 0; i < 3; i++) {
		use_one_permit();
		expect_all_available();
	}
}

TEST_CACHED(the_permits_come_back_and_the_next_holder_is_told)
{
	tsem_hold hold, next;
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	assert_int_equal(declare(&hold), 2);
	expect_all_available();
	assert_int_equal(declare(&hold), 0);
	expect_all_available();
	assert_int_equal(tsem_acquire(sem, 1, NULL, &next), 0);
	assert_true(tsem_hold_recovered(&next));
	assert_int_equal(tsem_release(&next), 0);
	assert_int_equal(stat_of(sem).recovered, 2);
}

/* Only its certain death frees the record. */
TEST_CACHED(the_record_stays_with_an_owner_that_lives)
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	const uint32_t index = hold_inside(&hold)->record;
	declare(&hold);
	recover_record(sem, index, NULL);
	recover_unused_records(sem);
	assert_int_equal(tsem_hand_over(&hold, getpid()), -EPERM);
	assert_int_equal(tsem_release(&hold), -EPERM);
	assert_int_equal(tsem_release(&hold), -EPERM);
	goes_on();
	assert_true(identity_is(LOAD_SEQ(&record_of(index)->owner)));
	STORE_SEQ(&record_of(index)->owner, UNUSED_PROCESS);
	STORE_SEQ(&record_of(index)->start, UNUSED_PROCESS);
	recover_unused_records(sem);
	assert_int_equal(LOAD_SEQ(&record_of(index)->owner), 0);
}

/* Its late release may return the permits a second time, and `set --exact` corrects that. Nothing else is wrong then. */
TEST_CACHED(a_late_release_costs_only_the_count)
{
	for (unsigned i = 0; i < 4; i++) {
		const bool fast = (i & 1) != 0;
		const bool others_release = (i & 2) != 0;
		tsem_hold hold, other;
		begin(3);
		if (fast)
			use_one_permit();
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		declare(&hold);
		if (others_release) {
			assert_int_equal(tsem_acquire(sem, 1, NULL, &other), 0);
			assert_int_equal(tsem_release(&other), 0);
		}
		had_compared(&hold);
		assert_int_equal(tsem_release(&hold), 0);
		assert_int_equal(stat_of(sem).available, others_release ? 4 : 3);
		int64_t corrected = 0;
		assert_int_equal(tsem_set_exact(sem, &corrected), 0);
		assert_int_equal(corrected, others_release ? -1 : 0);
		assert_int_equal(stat_of(sem).available, 3);
		assert_int_equal(records_in_use(sem), 0);
		for (int uses = 0; uses < 3; uses++)
			use_one_permit();
		assert_int_equal(stat_of(sem).available, 3);
		assert_int_equal(tsem_release(&hold), -EPERM);
	}
}

enum move __real_move_grants(struct tsem *s, uint32_t index, const struct record *record, uint64_t state,
                             struct grant *grant);
enum move __wrap_move_grants(struct tsem *s, uint32_t index, const struct record *record, uint64_t state,
                             struct grant *grant);
static bool owner_is_stuck;

enum move
__wrap_move_grants(struct tsem *s, uint32_t index, const struct record *record, uint64_t state, struct grant *grant)
{
	const enum move move = __real_move_grants(s, index, record, state, grant);
	if (!owner_is_stuck)
		return move;
	/* Another process could map what this one cannot. It has released, and another release has replaced G's tag. */
	CAS_SEQ(&record_of(index)->state, state, state_released(record, state));
	grant->moved = false;
	return MOVE_STUCK;
}

TEST_CACHED(an_owner_that_is_stuck_does_not_undo_the_release_of_another_process)
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0); /* not by the cached record, which is for one permit */
	owner_is_stuck = true;
	assert_int_equal(tsem_release(&hold), 0);
	owner_is_stuck = false;
	assert_int_equal(tsem_release(&hold), -EPERM);
	expect_all_available();
}

/* The process that declared it dead has died, and no process can tell whether the owner lives. */
TEST_RECOVERY(a_release_that_was_begun_is_finished)
{
	put_the_record(UNUSED_PROCESS, STATE_RELEASING, 100);
	unused_process_is_alive = true; /* or it is not known */
	recover_all(sem, NULL);
	assert_int_equal(grants_of(sem), 100 + COUNT);
	assert_int_equal(state_of(sem, RECORD), state_next(STATE_PHASES, STATE_IDLE, 8));
	assert_int_equal(owner_of_the_record(), UNUSED_PROCESS);
	unused_process_is_alive = false;
	recover_record(sem, RECORD, NULL);
	assert_int_equal(owner_of_the_record(), 0);
}

TEST_CACHED(a_declaration_that_comes_too_late_changes_nothing)
{
	tsem_hold hold, next;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	const tsem_hold old = hold;
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &next), 0);
	assert_int_equal(declare(&old), 0);
	assert_int_equal(stat_of(sem).held, 1);
	assert_int_equal(tsem_release(&next), 0);
	goes_on();
}

/* ---- waiters ---- */

static void (*of_this_process)(uint32_t index, uint64_t ticket);

/* Another process acts on the wait of this one. */
static void
peer_acts_on_the_wait(void)
{
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		const uint64_t state = LOAD_SEQ(&record->state);
		if (identity_is(LOAD_SEQ(&record->owner)) && state_kind(state) == STATE_QUEUED)
			of_this_process(i, state_value(state));
	}
}

static void
declare_waiter(uint32_t index, uint64_t ticket)
{
	declare_dead(sem, index, LOAD_SEQ(&record_of(index)->owner), ticket, NULL);
}

static void
declare_waiter_and_post(uint32_t index, uint64_t ticket)
{
	declare_waiter(index, ticket);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
}

/* The ticket has been skipped, and then E falls below it. */
static void
declare_waiter_post_and_drain(uint32_t index, uint64_t ticket)
{
	declare_waiter_and_post(index, ticket);
	assert_int_equal(tsem_set(sem, 0), 0);
}

/* A setter admits the waiter, which does not wake up before it is declared dead. */
static void
post_drain_and_declare_waiter(uint32_t index, uint64_t ticket)
{
	ADD_SEQ(&sem->segment.header->grants, counter_word_make(1, 0));
	assert_int_equal(tsem_set(sem, 0), 0);
	assert_int_equal(state_kind(state_of(sem, index)), STATE_HELD);
	declare_waiter(index, ticket);
}

static void
cancel_one_waiter(uint32_t index, uint64_t ticket)
{
	assert_true(cancel_waiter(sem, index, ticket));
}

/* The process that cancels dies before it wakes the waiter. */
static void
cancel_waiter_and_die(uint32_t index, uint64_t ticket)
{
	(void)ticket;
	OR_SEQ(&record_of(index)->state, STATE_CANCELLED);
}

static void
expect_given_up(int rc, bool take)
{
	assert_int_equal(rc, -ECANCELED);
	assert_int_equal(records_in_use(sem), 1); /* that of the other process */
	assert_int_equal(stat_of(sem).waiting, 0);
	if (!take)
		assert_int_equal(fake.timed_out, 0);
}

TEST_HELD(a_waiter_gives_up)
{
	static void (*const actions[])(uint32_t, uint64_t) = {declare_waiter, cancel_one_waiter};
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		tsem_hold hold;
		begin_held(1);
		of_this_process = actions[i];
		fake.peer = peer_acts_on_the_wait;
		expect_given_up(tsem_acquire(sem, 1, NULL, &hold), false);
		fake.peer = peer_acts_on_the_wait;
		expect_given_up(tsem_take(sem, 1, NULL), false);
	}
}

TEST_HELD(a_waiter_of_several_gives_up)
{
	tsem_hold hold;
	size_t which;
	of_this_process = cancel_one_waiter;
	fake.peer = peer_acts_on_the_wait;
	expect_given_up(tsem_acquire_any(&sem, 1, NULL, &hold, &which), false);
}

TEST_HELD(a_cancelled_waiter_wakes_up_at_a_tick)
{
	tsem_hold hold;
	of_this_process = cancel_waiter_and_die;
	fake.peer = peer_acts_on_the_wait;
	expect_given_up(tsem_acquire(sem, 1, NULL, &hold), true);
	assert_true(fake.clock - began <= TICK);
}

TEST_HELD(a_cancelled_waiter_is_woken_by_the_next_look)
{
	set_counters(sem, 2, 0);
	put_record(sem, 41, UNUSED_PROCESS, STATE_QUEUED, 0, 1, 1);
	wait_announce(ticket_word(sem, 1), 0);
	wake_overlooked(sem);
	assert_int_equal(fake.wakes, 0);
	cancel_waiter_and_die(41, 1);
	wake_overlooked(sem);
	assert_int_equal(fake.wakes, 1);
}

TEST_HELD(a_waiter_gives_up_after_its_ticket_was_skipped)
{
	static void (*const actions[])(uint32_t, uint64_t) = {declare_waiter_post_and_drain, post_drain_and_declare_waiter};
	for (size_t i = 0; i < 4; i++) {
		tsem_hold hold;
		begin_held(1);
		of_this_process = actions[i / 2];
		fake.peer = peer_acts_on_the_wait;
		expect_given_up(i % 2 == 0 ? tsem_acquire(sem, 1, NULL, &hold) : tsem_take(sem, 1, NULL), false);
	}
}

/* E comes to the ticket before the waiter has noticed, and another process skips it. */
TEST_HELD(a_declared_waiter_takes_nothing)
{
	for (int take = 0; take < 2; take++) {
		tsem_hold hold;
		begin_held(1);
		of_this_process = declare_waiter_and_post;
		fake.peer = peer_acts_on_the_wait;
		expect_given_up(take ? tsem_take(sem, 1, NULL) : tsem_acquire(sem, 1, NULL, &hold), false);
		assert_int_equal(stat_of(sem).available, 1);
	}
}

enum { HERE = 1000, THERE = 2000 };

static int verdict_there;

static int
judge_by_namespace(const struct process_id *owner)
{
	return owner->pid_ns == HERE ? LIVENESS_ALIVE : verdict_there;
}

static void
put_owner(uint32_t index, uint64_t start, uint32_t pid_ns, enum state_kind kind, uint64_t ticket)
{
	put_record(sem, index, owner_process(7, start), kind, 0, ticket, 1);
	STORE_SEQ(&record_of(index)->pid_ns, pid_ns);
}

static int
set_up_namespaces(void **state)
{
	(void)state;
	begin(4);
	STORE_SEQ(&sem->segment.header->mixed_pid_ns, 1);
	verdict_there = LIVENESS_UNKNOWN;
	platform.judge = judge_by_namespace;
	return 0;
}

TEST_WITH(set_up_namespaces, a_declared_waiter_is_skipped_at_once)
{
	set_counters(sem, 4 + 2, 0);
	put_record(sem, 40, UNUSED_PROCESS, STATE_HELD, 0, 0, 4);
	put_record(sem, 42, UNUSED_PROCESS, STATE_QUEUED, 0, 4, 1);
	put_record(sem, 41, UNUSED_PROCESS, STATE_QUEUED, 0, 5, 1);
	assert_int_equal(stat_of(sem).waiting, 2);
	declare_dead(sem, 41, UNUSED_PROCESS, 5, NULL);
	assert_int_equal(stat_of(sem).waiting, 1);
	assert_int_equal(grants_of(sem), 0);
	assert_int_equal(tsem_post(sem, 5, NULL), 0); /* which looks for orphans, and not for the dead */
	assert_int_equal(state_kind(state_of(sem, 41)), STATE_IDLE);
	assert_int_equal(tsem_try_take(sem, 4), 0);
	assert_int_equal(LOAD_SEQ(&record_of(41)->owner), UNUSED_PROCESS);
}

/* The hint at the lowest orphan goes on to the next one, which a later post skips. */
TEST_WITH(set_up_namespaces, declared_waiters_are_skipped_one_after_the_other)
{
	set_counters(sem, 4 + 5, 0);
	put_record(sem, 40, UNUSED_PROCESS, STATE_HELD, 0, 0, 4);
	for (uint32_t ticket = 4; ticket < 9; ticket++)
		put_record(sem, 40 + ticket, UNUSED_PROCESS, STATE_QUEUED, 0, ticket, 1);
	for (uint32_t ticket = 5; ticket < 9; ticket += 3)
		declare_dead(sem, 40 + ticket, UNUSED_PROCESS, ticket, NULL);
	for (uint32_t ticket = 5; ticket < 9; ticket += 3) {
		assert_int_equal(state_kind(state_of(sem, 40 + ticket)), STATE_QUEUED);
		assert_int_equal(tsem_post(sem, 2, NULL), 0);
		assert_int_equal(state_kind(state_of(sem, 40 + ticket)), STATE_IDLE);
	}
}

TEST_WITH(set_up_namespaces, a_setter_admits_no_declared_waiter)
{
	set_counters(sem, 1, 0);
	put_record(sem, 41, UNUSED_PROCESS, STATE_QUEUED, 0, 0, 1);
	OR_SEQ(&record_of(41)->state, STATE_DECLARED);
	assert_int_equal(tsem_set(sem, 2), 0);
	assert_int_not_equal(state_kind(state_of(sem, 41)), STATE_HELD);
}

/* ---- by number ---- */

TEST_WITH(set_up_namespaces, an_owner_is_declared_dead_by_its_number)
{
	uint32_t permits = 99;
	set_counters(sem, 3, 0);
	assert_int_equal(tsem_recover_owner(sem, 7, 0, TSEM_FORCE, &permits), -ENOENT);
	put_owner(1, 1, THERE, STATE_HELD, 0);
	put_owner(2, 1, THERE, STATE_HELD, 1);
	put_owner(3, 1, THERE, STATE_QUEUED, 2); /* enabled, and it has not noticed */
	assert_int_equal(tsem_recover_owner(sem, 7, 0, 0, &permits), -EXDEV);
	assert_int_equal(tsem_recover_owner(sem, 7, HERE, TSEM_FORCE, &permits), -ENOENT);
	assert_int_equal(tsem_recover_owner(sem, 8, 0, TSEM_FORCE, &permits), -ENOENT);
	assert_int_equal(tsem_recover_owner(sem, 7, 0, 2, &permits), -EINVAL);
	assert_int_equal(tsem_recover_owner(sem, 0, 0, TSEM_FORCE, &permits), -EINVAL);
	assert_int_equal(permits, 99);
	assert_int_equal(stat_of(sem).held, 3);
	assert_int_equal(tsem_recover_owner(sem, 7, 0, TSEM_FORCE, &permits), 0);
	assert_int_equal(permits, 3);
	expect_all_available();
	assert_int_equal(tsem_recover_owner(sem, 7, 0, TSEM_FORCE, &permits), -ENOENT);
}

TEST_WITH(set_up_namespaces, an_owner_that_lives_is_refused)
{
	set_counters(sem, 1, 0);
	put_owner(1, 1, HERE, STATE_HELD, 0);
	assert_int_equal(tsem_recover_owner(sem, 7, 0, TSEM_FORCE, NULL), -EBUSY);
	assert_int_equal(tsem_recover_owner(sem, 7, 0, 0, NULL), -EBUSY);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_recover_owner(sem, getpid(), 0, TSEM_FORCE, NULL), -EBUSY);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).held, 1);
}

TEST_WITH(set_up_namespaces, an_owner_that_is_dead_needs_no_force)
{
	uint32_t permits;
	set_counters(sem, 3, 0);
	verdict_there = LIVENESS_DEAD;
	put_owner(1, 1, THERE, STATE_HELD, 0);
	put_owner(2, 2, HERE, STATE_HELD, 1); /* the number in another namespace is no obstacle to naming this one */
	put_record(sem, 3, owner_process(8, 1), STATE_HELD, 0, 2, 1);
	STORE_SEQ(&record_of(3)->pid_ns, THERE);
	assert_int_equal(tsem_recover_owner(sem, 7, THERE, 0, &permits), 0);
	assert_int_equal(permits, 1);
	assert_int_equal(LOAD_SEQ(&record_of(1)->owner), 0);
	assert_int_equal(stat_of(sem).held, 2);
}

TEST_WITH(set_up_namespaces, a_number_in_two_namespaces_is_refused)
{
	uint32_t permits;
	set_counters(sem, 3, 0);
	put_owner(1, 1, THERE, STATE_HELD, 0);
	put_owner(2, 1, THERE + 1, STATE_HELD, 1);
	put_owner(3, 1, HERE, STATE_HELD, 2);
	assert_int_equal(tsem_recover_owner(sem, 7, 0, TSEM_FORCE, &permits), -ENOTUNIQ);
	assert_int_equal(stat_of(sem).held, 3);
	assert_int_equal(tsem_recover_owner(sem, 7, THERE, TSEM_FORCE, &permits), 0);
	assert_int_equal(permits, 1);
	assert_int_equal(tsem_recover_owner(sem, 7, HERE, TSEM_FORCE, &permits), -EBUSY);
	assert_int_equal(stat_of(sem).held, 2);
}

/* The record was just claimed, and has the namespace of its last owner. Its owner signs it and takes a ticket meanwhile. */
static int
judge_while_the_owner_takes_a_ticket(const struct process_id *owner)
{
	const int verdict = judge_by_namespace(owner);
	if (state_kind(state_of(sem, 1)) == STATE_CLAIMED) {
		set_counters(sem, 1, 0);
		put_owner(1, 1, HERE, STATE_HELD, 0);
	}
	return verdict;
}

TEST_WITH(set_up_namespaces, a_process_that_is_about_to_take_a_ticket_is_not_declared_dead)
{
	put_owner(1, 1, THERE, STATE_CLAIMED, 7);
	platform.judge = judge_while_the_owner_takes_a_ticket;
	assert_int_equal(tsem_recover_owner(sem, 7, 0, TSEM_FORCE, NULL), -ENOENT);
	judge_while_the_owner_takes_a_ticket(&(struct process_id){.pid = 7, .pid_ns = THERE});
	assert_int_equal(tsem_recover_owner(sem, 7, 0, TSEM_FORCE, NULL), -EBUSY);
	assert_int_equal(stat_of(sem).held, 1);
}

/* It is an orphan then. */
TEST_WITH(set_up_namespaces, a_declared_waiter_is_found_once)
{
	set_counters(sem, 4 + 1, 0);
	put_record(sem, 40, UNUSED_PROCESS, STATE_HELD, 0, 0, 4);
	put_owner(1, 1, THERE, STATE_QUEUED, 4);
	assert_int_equal(tsem_recover_owner(sem, 7, 0, TSEM_FORCE, NULL), 0);
	assert_int_equal(tsem_recover_owner(sem, 7, 0, TSEM_FORCE, NULL), -ENOENT);
}

TEST_WITH(set_up_namespaces, a_hold_that_was_handed_over_is_declared_and_freed)
{
	uint32_t permits;
	set_counters(sem, 1, 0);
	put_record(sem, 1, owner_handed(7, 0), STATE_HELD, 0, 0, 1);
	STORE_SEQ(&record_of(1)->pid_ns, THERE);
	assert_int_equal(tsem_recover_owner(sem, 7, 0, TSEM_FORCE, &permits), 0);
	assert_int_equal(permits, 1);
	assert_int_equal(LOAD_SEQ(&record_of(1)->owner), 0);
	expect_all_available();
}

TEST_WITH(set_up_namespaces, one_process_is_cancelled)
{
	set_counters(sem, 7, 0);
	put_owner(1, 1, THERE, STATE_HELD, 0);
	STORE_SEQ(&record_of(1)->count, 4);
	assert_int_equal(tsem_cancel_owner(sem, 7, 0), -ENOENT);
	put_owner(2, 1, THERE, STATE_QUEUED, 4);
	put_owner(3, 1, HERE, STATE_QUEUED, 5);
	put_record(sem, 4, owner_process(8, 1), STATE_QUEUED, 0, 6, 1);
	assert_int_equal(tsem_cancel_owner(sem, 7, 0), -ENOTUNIQ);
	assert_int_equal(tsem_cancel_owner(sem, 7, THERE), 0);
	assert_true(state_is_cancelled(state_of(sem, 2)));
	assert_false(state_is_cancelled(state_of(sem, 3)));
	assert_false(state_is_cancelled(state_of(sem, 4)));
	assert_int_equal(stat_of(sem).waiting, 3); /* until it notices */
	assert_int_equal(tsem_cancel_owner(sem, -1, 0), -EINVAL);
}

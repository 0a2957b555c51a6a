/* SPDX-License-Identifier: MIT */
/* A setter that stops between its two steps, and what other processes do meanwhile. */
#include "fixture.h"

#include "calls/set.h"

static const struct tsem_wait for_ever = {.size = sizeof(for_ever)};

static int
set_up(void **state)
{
	(void)state;
	begin_fake(2);
	return 0;
}

/* A waiter that has its ticket and has not looked yet whether it is enabled. */
static struct queue_place
join_queue(void)
{
	struct queue_place place = queue_request(sem, 1, USE_HOLD, &for_ever);
	assert_int_equal(queue_join(&place), 0);
	queue_mark_queued(&place);
	assert_int_equal(state_kind(state_of(sem, place.claim.index)), STATE_QUEUED);
	return place;
}

TEST_WITH(set_up, a_waiter_that_the_old_capacity_enabled_is_admitted)
{
	struct change change;
	const struct queue_place first = join_queue();
	assert_int_equal(set_store(sem, 0, &change), 0);
	const struct queue_place second = join_queue();
	const struct queue_place third = join_queue();
	assert_int_equal(set_take_effect(sem, &change), 0);
	assert_int_equal(state_kind(state_of(sem, first.claim.index)), STATE_HELD);
	/* Its ticket was drawn while the lowering was under way. */
	assert_int_equal(state_kind(state_of(sem, second.claim.index)), STATE_HELD);
	assert_int_equal(state_kind(state_of(sem, third.claim.index)), STATE_QUEUED);
}

TEST_WITH(set_up, an_overtaken_setter_admits_no_waiter)
{
	struct change change;
	assert_int_equal(set_store(sem, 1, &change), 0);
	assert_int_equal(tsem_set(sem, 0), 0);
	const struct queue_place place = join_queue();
	assert_int_equal(set_take_effect(sem, &change), 0);
	assert_int_equal(state_kind(state_of(sem, place.claim.index)), STATE_QUEUED);
	assert_int_equal(stat_of(sem).held, 0);
}

TEST_WITH(set_up, an_overtaken_setter_admits_no_waiter_though_the_capacity_is_its_own_again)
{
	struct change change;
	assert_int_equal(set_store(sem, 1, &change), 0);
	assert_int_equal(tsem_set(sem, 0), 0);
	assert_int_equal(tsem_set(sem, 1), 0);
	const struct queue_place first = join_queue();
	const struct queue_place second = join_queue();
	assert_int_equal(set_take_effect(sem, &change), 0);
	assert_int_equal(state_kind(state_of(sem, first.claim.index)),
	                 STATE_QUEUED); /* enabled, which it finds out by itself */
	assert_int_equal(state_kind(state_of(sem, second.claim.index)), STATE_QUEUED);
}

/* The queue is so long that the setter gets no ticket. */
TEST_WITH(set_up, a_capacity_that_cannot_be_lowered_stays)
{
	set_counters(sem, COUNTER_DRIFT, 0);
	assert_int_equal(tsem_set(sem, 0), -EOVERFLOW);
	assert_int_equal(stat_of(sem).capacity, 2);
	assert_int_equal(tsem_set(sem, 1), 0);
	assert_int_equal(stat_of(sem).capacity, 1);
	assert_int_equal(tsem_set(sem, 0), -EOVERFLOW);
	assert_int_equal(tsem_set(sem, 1), 0); /* no change, so no ticket is needed */
	assert_int_equal(tsem_set(sem, 9), 0);
}

/* ---- what a peer does between the setter's look at the capacity and its compare-and-swap ---- */

/*
 * A setter that lowers claims a record. Here another process owns all records, so the setter asks the judge before it
 * adds more. The peer acts within that call.
 */
static void
peer_acts_at_the_claim(void (*action)(void))
{
	for (uint32_t i = 0; i < RECORDS_PER_PAGE; i++)
		put_record(sem, i, UNUSED_PROCESS, STATE_IDLE, 0, 7, 1);
	fake.peer = action;
	fake.at_call = fake.calls + 1;
}

static struct queue_place waiting;
static _Atomic uint32_t *sleeps_on;

static void
peers_drain_and_wait(void)
{
	assert_int_equal(tsem_set(sem, 0), 0);
	waiting = join_queue();
	sleeps_on = ticket_word(sem, last_ticket(waiting.waiter.ticket, waiting.waiter.count));
	wait_announce(sleeps_on, 0);
	assert_false(is_enabled(sem, waiting.waiter.ticket, 1));
}

TEST_WITH(set_up, a_setter_that_meant_to_lower_may_raise)
{
	peer_acts_at_the_claim(peers_drain_and_wait);
	assert_int_equal(tsem_set(sem, 1), 0);
	assert_null(fake.peer);
	assert_int_equal(stat_of(sem).capacity, 1);
	assert_true(is_enabled(sem, waiting.waiter.ticket, 1));
	assert_int_equal(LOAD_SEQ(sleeps_on) & WORD_SLEEPER_BITS, 0);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], sleeps_on);
	assert_int_equal(records_in_use(sem), 1); /* the waiter's: the setter has freed its own */
	assert_int_equal(state_kind(state_of(sem, waiting.claim.index)), STATE_QUEUED);
}

static void
peers_drain_and_post(void)
{
	STORE_SEQ(&sem->segment.header->capacity, 0);
	set_counters(sem, 0, COUNTER_DRIFT);
}

TEST_WITH(set_up, a_setter_that_meant_to_lower_may_fail_to_raise)
{
	peer_acts_at_the_claim(peers_drain_and_post);
	assert_int_equal(tsem_set(sem, 1), -EOVERFLOW);
	assert_null(fake.peer);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->capacity), 0);
	assert_int_equal(records_in_use(sem), 0);
}

static void
peer_removes(void)
{
	removal_mark(sem);
}

TEST_WITH(set_up, a_semaphore_removed_meanwhile_has_no_capacity)
{
	peer_acts_at_the_claim(peer_removes);
	assert_int_equal(tsem_set(sem, 1), -EIDRM);
	assert_null(fake.peer);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->capacity), 0);
	assert_int_equal(records_in_use(sem), 0);
}

/*
 * A setter has stored a capacity in a removed semaphore, and died before it took it back. All operations fail as soon
 * as one of them has noticed the removal.
 */
TEST_WITH(set_up, a_removal_is_noticed_though_C_was_stored_afterwards)
{
	tsem_hold hold;
	removal_mark(sem);
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	STORE_SEQ(&sem->segment.header->capacity, 3);
	assert_int_equal(tsem_try_take(sem, 3), 0); /* the removal is not noticed yet */
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	assert_int_equal(stat_of(sem).capacity, 0);
	STORE_SEQ(&sem->segment.header->capacity, 9);
	assert_int_equal(tsem_cancel(sem), -EIDRM);
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
	assert_int_equal(tsem_set(sem, 1), -EIDRM);
}

/* A post that has read G before the lowering must fail to move it, although the lowering changes G's tag twice. */
TEST_WITH(set_up, a_lowering_leaves_another_tag_in_G)
{
	tsem_hold hold;
	begin(1);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	for (int i = 0; i < 3; i++) {
		assert_true(watch_grants(sem));
		const uint64_t before = LOAD_SEQ(&sem->segment.header->grants);
		assert_int_equal(tsem_set(sem, 0), 0);
		assert_int_not_equal(LOAD_SEQ(&sem->segment.header->grants), before);
		assert_int_equal(tsem_set(sem, 1), 0);
	}
}

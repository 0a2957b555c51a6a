/* SPDX-License-Identifier: MIT */
/* A setter that stops between its two halves, and what others do meanwhile. */
#include "fake.h"

#include <errno.h>

#include "set.h"
#include "wait.h"

static tsem *sem;
static const struct tsem_wait for_ever = {.size = sizeof(for_ever)};

static int
set_up(void **state)
{
	(void)state;
	sem = new_semaphore(2, 0);
	fake_begin();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	fake_end();
	tsem_close(sem);
	return 0;
}

/* One in line who has not looked yet whether it is enabled. */
static struct queue_place
somebody_in_line(void)
{
	struct queue_place place = queue_request(sem, 1, USE_HOLD, &for_ever);
	assert_int_equal(queue_join(&place), 0);
	queue_mark_queued(&place);
	assert_int_equal(state_kind(state_of(sem, place.claim.index)), STATE_QUEUED);
	return place;
}

static void
whom_the_old_capacity_enabled_gets_in(void **state)
{
	(void)state;
	struct change change;
	const struct queue_place first = somebody_in_line();
	assert_int_equal(set_store(sem, 0, &change), 0);
	const struct queue_place second = somebody_in_line();
	const struct queue_place third = somebody_in_line();
	assert_int_equal(set_take_effect(sem, &change), 0);
	assert_int_equal(state_kind(state_of(sem, first.claim.index)), STATE_HELD);
	/* It came while the lowering was under way. */
	assert_int_equal(state_kind(state_of(sem, second.claim.index)), STATE_HELD);
	assert_int_equal(state_kind(state_of(sem, third.claim.index)), STATE_QUEUED);
}

static void
an_overtaken_setter_admits_nobody(void **state)
{
	(void)state;
	struct change change;
	assert_int_equal(set_store(sem, 1, &change), 0);
	assert_int_equal(tsem_set(sem, 0), 0);
	const struct queue_place place = somebody_in_line();
	assert_int_equal(set_take_effect(sem, &change), 0);
	assert_int_equal(state_kind(state_of(sem, place.claim.index)), STATE_QUEUED);
	assert_int_equal(stat_of(sem).held, 0);
}

static void
an_overtaken_setter_admits_nobody_though_the_capacity_is_its_own_again(void **state)
{
	(void)state;
	struct change change;
	assert_int_equal(set_store(sem, 1, &change), 0);
	assert_int_equal(tsem_set(sem, 0), 0);
	assert_int_equal(tsem_set(sem, 1), 0);
	const struct queue_place first = somebody_in_line();
	const struct queue_place second = somebody_in_line();
	assert_int_equal(set_take_effect(sem, &change), 0);
	assert_int_equal(state_kind(state_of(sem, first.claim.index)), STATE_QUEUED); /* enabled, and to find that out */
	assert_int_equal(state_kind(state_of(sem, second.claim.index)), STATE_QUEUED);
}

/* A line so long that the setter has no place in it any more. */
static void
what_cannot_be_lowered_stays_as_it_is(void **state)
{
	(void)state;
	set_counters(sem, COUNTER_DRIFT, 0);
	assert_int_equal(tsem_set(sem, 0), -EOVERFLOW);
	assert_int_equal(stat_of(sem).capacity, 2);
	assert_int_equal(tsem_set(sem, 1), 0);
	assert_int_equal(stat_of(sem).capacity, 1);
	assert_int_equal(tsem_set(sem, 0), -EOVERFLOW);
	assert_int_equal(tsem_set(sem, 1), 0); /* no change, and no place needed */
	assert_int_equal(tsem_set(sem, 9), 0);
}

/* ---- what others do between the setter's look at the capacity and its swap ---- */

/*
 * To lower takes a record, and all that there are have been claimed by somebody else: whether he lives is asked before
 * there are more of them, and within that others act.
 */
static void
others_act_at_the_claim(void (*others)(void))
{
	for (uint32_t i = 0; i < RECORDS_PER_PAGE; i++)
		put_record(sem, i, NOBODY, STATE_IDLE, 0, 7, 1);
	fake.others = others;
	fake.at_call = fake.calls + 1;
}

static struct queue_place waiting;
static _Atomic uint32_t *sleeps_on;

static void
others_drain_and_wait(void)
{
	assert_int_equal(tsem_set(sem, 0), 0);
	waiting = somebody_in_line();
	sleeps_on = wait_word(sem, &waiting.waiter);
	wait_announce(sleeps_on, 0);
	assert_false(is_enabled(sem, waiting.waiter.ticket, 1));
}

static void
who_meant_to_lower_and_raises(void **state)
{
	(void)state;
	others_act_at_the_claim(others_drain_and_wait);
	assert_int_equal(tsem_set(sem, 1), 0);
	assert_null(fake.others);
	assert_int_equal(stat_of(sem).capacity, 1);
	assert_true(is_enabled(sem, waiting.waiter.ticket, 1));
	assert_int_equal(LOAD_SEQ(sleeps_on) & WORD_SLEEPER_BITS, 0);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.woken[0], sleeps_on);
	assert_int_equal(records_in_use(sem), 1); /* the waiter's: what was claimed for lowering is given back */
	assert_int_equal(state_kind(state_of(sem, waiting.claim.index)), STATE_QUEUED);
}

static void
others_drain_and_post(void)
{
	STORE_SEQ(&sem->segment.header->capacity, 0);
	set_counters(sem, 0, COUNTER_DRIFT);
}

static void
who_meant_to_lower_and_cannot_raise(void **state)
{
	(void)state;
	others_act_at_the_claim(others_drain_and_post);
	assert_int_equal(tsem_set(sem, 1), -EOVERFLOW);
	assert_null(fake.others);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->capacity), 0);
	assert_int_equal(records_in_use(sem), 0);
}

static void
others_remove_it(void)
{
	removal_mark(sem);
}

/* Without a capacity nobody gets past the notice. */
static void
one_that_is_removed_meanwhile_has_no_capacity(void **state)
{
	(void)state;
	others_act_at_the_claim(others_remove_it);
	assert_int_equal(tsem_set(sem, 1), -EIDRM);
	assert_null(fake.others);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->capacity), 0);
	assert_int_equal(records_in_use(sem), 0);
}

/*
 * A setter that found no capacity because of a remover has stored one, and died before it took it away again: everybody is
 * told of the removal all the same, as soon as one has looked.
 */
static void
a_capacity_in_a_removed_semaphore(void **state)
{
	(void)state;
	tsem_hold hold;
	removal_mark(sem);
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	STORE_SEQ(&sem->segment.header->capacity, 3);
	assert_int_equal(tsem_try_take(sem, 3), 0); /* nobody has looked */
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	assert_int_equal(stat_of(sem).capacity, 0);
	STORE_SEQ(&sem->segment.header->capacity, 9);
	assert_int_equal(tsem_cancel(sem), -EIDRM);
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
	assert_int_equal(tsem_set(sem, 1), -EIDRM);
}

int
main(void)
{
	support_start(60);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whom_the_old_capacity_enabled_gets_in, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_overtaken_setter_admits_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_overtaken_setter_admits_nobody_though_the_capacity_is_its_own_again, set_up,
	                                    tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_lowered_stays_as_it_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_meant_to_lower_and_raises, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_meant_to_lower_and_cannot_raise, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_is_removed_meanwhile_has_no_capacity, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_capacity_in_a_removed_semaphore, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

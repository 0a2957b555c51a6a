/* SPDX-License-Identifier: MIT */
/* A setter that stops between its two halves, and what others do meanwhile. */
#include "inside.h"

#include <errno.h>

#include "set.h"

static tsem *sem;
static const struct tsem_wait for_ever = {.size = sizeof(for_ever)};

static int
set_up(void **state)
{
	(void)state;
	sem = new_semaphore(2, 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	tsem_close(sem);
	return 0;
}

/* One in line who has not looked yet whether it is enabled. */
static struct place_in_line
somebody_in_line(void)
{
	struct place_in_line place;
	assert_int_equal(queue_join(sem, 1, USE_HOLD, &for_ever, &place), 0);
	queue_line_up(&place);
	assert_int_equal(what_state(what_of(sem, place.claim.index)), STATE_QUEUED);
	return place;
}

static void
whom_the_old_capacity_enabled_gets_in(void **state)
{
	(void)state;
	struct change change;
	const struct place_in_line first = somebody_in_line();
	assert_int_equal(set_store(sem, 0, &change), 0);
	const struct place_in_line second = somebody_in_line();
	const struct place_in_line third = somebody_in_line();
	assert_int_equal(set_take_effect(sem, &change), 0);
	assert_int_equal(what_state(what_of(sem, first.claim.index)), STATE_HELD);
	/* It came while the lowering was under way. */
	assert_int_equal(what_state(what_of(sem, second.claim.index)), STATE_HELD);
	assert_int_equal(what_state(what_of(sem, third.claim.index)), STATE_QUEUED);
}

static void
an_overtaken_setter_admits_nobody(void **state)
{
	(void)state;
	struct change change;
	assert_int_equal(set_store(sem, 1, &change), 0);
	assert_int_equal(tsem_set(sem, 0), 0);
	const struct place_in_line place = somebody_in_line();
	assert_int_equal(set_take_effect(sem, &change), 0);
	assert_int_equal(what_state(what_of(sem, place.claim.index)), STATE_QUEUED);
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
	const struct place_in_line first = somebody_in_line();
	const struct place_in_line second = somebody_in_line();
	assert_int_equal(set_take_effect(sem, &change), 0);
	assert_int_equal(what_state(what_of(sem, first.claim.index)), STATE_QUEUED); /* enabled, and to find that out */
	assert_int_equal(what_state(what_of(sem, second.claim.index)), STATE_QUEUED);
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
	assert_int_equal(tsem_set(sem, 9), 0);
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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

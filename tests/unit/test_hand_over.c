/* SPDX-License-Identifier: MIT */
/* What a hold that changes its owner has left behind at the moment at which it does. */
#include "inside.h"

#include <unistd.h>

#include "interrupt.h"

static tsem *sem;
static uint32_t abandoned;

static void
look_at_the_flag(void)
{
	abandoned = LOAD_SEQ(&sem->segment.header->abandoned);
}

/* The old owner was told that somebody had died, and the new one is not. Should the old one die here, somebody must be. */
static void
what_was_told_is_noted_before_the_owner_changes(void **state)
{
	(void)state;
	tsem_hold hold;
	SKIP_IF_UNINTERRUPTED();
	sem = new_semaphore(1, 0);
	STORE_SEQ(&sem->segment.header->abandoned, 1);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_true(tsem_hold_recovered(&hold));
	look_at_the_flag();
	assert_int_equal(abandoned, 0);
	interrupt_at(sem->segment.records, PROT_READ, look_at_the_flag);
	assert_int_equal(tsem_hand_over(&hold, getppid()), 0);
	assert_null(interruption.action);
	assert_int_equal(abandoned, 1);
	tsem_close(sem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_told_is_noted_before_the_owner_changes),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

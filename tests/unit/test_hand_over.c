/* SPDX-License-Identifier: MIT */
/* What a hand-over has written before it changes the owner. */
#include "fixture.h"

#include <unistd.h>

#include "stop.h"

static uint32_t abandoned;

static void
read_abandoned(void)
{
	abandoned = LOAD_SEQ(&sem->segment.header->abandoned);
}

/* The old owner consumed the notice of an abandoned permit. If it dies here, another process must get the notice. */
TEST_BETWEEN(NULL, tear_down, a_hand_over_restores_the_notice_before_the_owner_changes)
{
	tsem_hold hold;
	SKIP_WITHOUT_PAGE_FAULTS();
	begin(1);
	STORE_SEQ(&sem->segment.header->abandoned, 1);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_true(tsem_hold_recovered(&hold));
	read_abandoned();
	assert_int_equal(abandoned, 0);
	interrupt_at(sem->segment.records, PROT_READ, read_abandoned);
	assert_int_equal(tsem_hand_over(&hold, getppid()), 0);
	assert_true(was_interrupted());
	assert_int_equal(abandoned, 1);
}

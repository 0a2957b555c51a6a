/* SPDX-License-Identifier: MIT */
/* For the tests of kept records: a semaphore of two permits, which this thread has used for one, and so keeps a record. */
#ifndef TSEM_TESTS_ONE_CACHED_H
#define TSEM_TESTS_ONE_CACHED_H

#include "inside.h"

#include "hold.h"
#include "identity.h"
#include "record.h"

static tsem *sem;
static const char *name;

/* Which record it was. */
static inline uint32_t
acquire_and_release(void)
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	const uint32_t record = hold_inside(&hold)->record;
	assert_int_equal(tsem_release(&hold), 0);
	return record;
}

/* Used twice: the long way, and alone. */
static inline int
set_up(void **state)
{
	(void)state;
	name = fresh_name();
	sem = new_semaphore_named(name, 2, 0);
	for (int i = 0; i < 2; i++)
		acquire_and_release();
	if (sem->cache[0] == cache_disabled)
		skip(); /* a kernel, or an emulator, that clears no memory in a forked child */
	assert_int_equal(cache_entry(sem)->tickets, LOAD_SEQ(&sem->segment.header->tickets));
	return 0;
}

static inline int
tear_down(void **state)
{
	(void)state;
	tsem_close(sem);
	return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

#endif

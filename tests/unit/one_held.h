/* SPDX-License-Identifier: MIT */
/* For the tests of waiting: one permit, held by a process that lives, and a fake platform. */
#ifndef TSEM_TESTS_ONE_HELD_H
#define TSEM_TESTS_ONE_HELD_H

#include "fake.h"
#include "record.h"
#include "wait.h"

#define TICK_MAX (400 * NS_PER_MS)

static tsem *sem;
static const char *name;
static uint64_t began;

/* One permit, held by a process that lives. */
static inline int
set_up(void **state)
{
	(void)state;
	name = fresh_name();
	sem = new_semaphore_named(name, 1, 0);
	set_counters(sem, 1, 0);
	put_record(sem, 40, NOBODY, STATE_HELD, 0, 0, 1);
	fake_begin();
	began = fake.clock;
	return 0;
}

static inline int
tear_down(void **state)
{
	(void)state;
	fake_end();
	tsem_close(sem);
	return 0;
}

static inline struct timespec
clock_after(uint64_t ms)
{
	const uint64_t ns = began + ms * NS_PER_MS;
	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_SECOND), .tv_nsec = (long)(ns % NS_PER_SECOND)};
}

static inline void
others_post(void)
{
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
}

static inline void
others_post_and_die_before_waking(void)
{
	ADD_SEQ(&sem->segment.header->grants, counter_word_make(1, 0));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

#endif

/* SPDX-License-Identifier: MIT */
/*
 * For the tests of recovery: one record, and an injected judge of life and death. It is called between reading `owner` and
 * everything else, so what it does is what another process does while a slow recoverer thinks.
 */
#ifndef TSEM_TESTS_ONE_RECORD_H
#define TSEM_TESTS_ONE_RECORD_H

#include "inside.h"
#include "liveness.h"
#include "platform.h"
#include "record.h"
#include "recover.h"

enum { RECORD = 5, COUNT = 2 };

static tsem *sem;
static struct platform real;
static void (*meanwhile)(void); /* called once, by the next judgement */
static _Atomic bool everybody_lives;

static inline int
judge(const struct process_id *owner)
{
	void (*action)(void) = meanwhile;
	if (action != NULL) {
		meanwhile = NULL; /* not written to while threads race */
		action();
	}
	if (everybody_lives || owner->pid != NOBODY_PID)
		return LIVENESS_ALIVE;
	return LIVENESS_DEAD;
}

static inline int
set_up(void **state)
{
	(void)state;
	sem = new_semaphore(3, 0);
	set_counters(sem, 100 + COUNT, 100);
	real = platform;
	platform.judge = judge;
	everybody_lives = false;
	return 0;
}

static inline int
tear_down(void **state)
{
	(void)state;
	platform = real;
	meanwhile = NULL;
	tsem_close(sem);
	return 0;
}

static inline void
put(uint64_t owner, enum state_kind state, uint64_t value)
{
	put_record(sem, RECORD, owner, state, 0, value, COUNT);
}

static inline uint32_t
recover(void)
{
	uint32_t permits = 0;
	recover_record(sem, RECORD, &permits);
	return permits;
}

static inline uint64_t
owner_now(void)
{
	return LOAD_SEQ(&sem->segment.records[RECORD].owner);
}

/* Free, used `uses` more times, and G moved by `moved`. */
static inline void
expect_freed(uint64_t phases, uint64_t moved)
{
	assert_int_equal(owner_now(), 0);
	assert_int_equal(state_of(sem, RECORD), state_next(phases, STATE_IDLE, 8));
	assert_int_equal(grants_of(sem), 100 + moved);
	assert_int_equal(tickets_of(sem), 100 + COUNT);
}

static inline void
expect_untouched(uint64_t owner, uint64_t state)
{
	assert_int_equal(owner_now(), owner);
	assert_int_equal(state_of(sem, RECORD), state);
	assert_int_equal(grants_of(sem), 100);
	assert_int_equal(tickets_of(sem), 100 + COUNT);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

#endif

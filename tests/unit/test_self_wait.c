/* SPDX-License-Identifier: MIT */
/* Whether a process that is in the queues already waits for permits of its own. */
#include "fixture.h"

#include <string.h>

#include "self_wait.h"

static unsigned complaints;
static const char *named;

/* In place of the one in cli/message.c. */
void __wrap_complain(const char *name, const char *format, ...);

void
__wrap_complain(const char *name, const char *format, ...)
{
	static char last[64];
	(void)format;
	strncpy(last, name, sizeof(last) - 1);
	named = last;
	complaints++;
}

static tsem *one;
static tsem *other;

/* With its first operation the process becomes known in the semaphore. */
static tsem *
new_semaphore_that_was_used(void)
{
	tsem_hold hold;
	tsem *s = new_semaphore(1, 0);
	assert_int_equal(tsem_acquire(s, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	return s;
}

static int
set_up_two(void **state)
{
	(void)state;
	fake_begin();
	one = new_semaphore_that_was_used();
	other = new_semaphore_that_was_used();
	complaints = 0;
	return 0;
}

static int
tear_down_two(void **state)
{
	(void)state;
	fake_end();
	tsem_close(one);
	tsem_close(other);
	return 0;
}

static void
put(tsem *s, uint32_t index, uint64_t owner, enum state_kind state, uint64_t value)
{
	put_record(s, index, owner, state, 0, value, 1);
	STORE_SEQ(&s->segment.records[index].pid_ns, LOAD_SEQ(&s->segment.header->pid_ns));
}

/* Both are of this PID namespace. `waiter`: 0 if there is none. */
static void
hold_and_wait(tsem *s, uint64_t holder, uint64_t waiter)
{
	set_counters(s, waiter != 0 ? 2 : 1, 0);
	put(s, 40, holder, STATE_HELD, 0);
	if (waiter != 0)
		put(s, 41, waiter, STATE_QUEUED, 1);
}

static bool
report(bool any)
{
	const struct options o = {.name = "one,other", .count = 1, .any = any};
	return self_wait_report((tsem *[]){one, other}, 2, &o, true);
}

#define TEST_TWO(name) TEST_BETWEEN(set_up_two, tear_down_two, name)

TEST_TWO(an_own_permit_that_is_waited_for_is_reported)
{
	hold_and_wait(other, identity_owner(), identity_owner());
	assert_true(report(false));
	assert_int_equal(complaints, 1);
	assert_string_equal(named, "other");
}

/* This process has acquired the permit of one semaphore, and waits for another process's permit of the other. */
TEST_TWO(permits_that_this_wait_has_acquired_are_not)
{
	hold_and_wait(one, identity_owner(), 0);
	hold_and_wait(other, UNUSED_PROCESS, identity_owner());
	assert_true(report(false));
	assert_int_equal(complaints, 0);
}

TEST_TWO(any_of_several_is_reported_if_all_are_own)
{
	hold_and_wait(one, identity_owner(), identity_owner());
	hold_and_wait(other, UNUSED_PROCESS, identity_owner());
	assert_true(report(true));
	assert_int_equal(complaints, 0);
	hold_and_wait(other, identity_owner(), identity_owner());
	assert_true(report(true));
	assert_int_equal(complaints, 1);
}

TEST_TWO(a_process_in_no_queue_is_not_known_to_wait)
{
	hold_and_wait(one, identity_owner(), UNUSED_PROCESS);
	assert_false(report(false));
	assert_int_equal(complaints, 0);
}

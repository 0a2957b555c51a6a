/* SPDX-License-Identifier: MIT */
/* tsem_acquire_any. */
#include "support.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

static const struct timespec past;
static const struct tsem_wait at_once = {.size = sizeof(at_once), .deadline = &past};

TEST(the_first_with_a_permit)
{
	tsem *const sems[] = {new_semaphore(1, 0), new_semaphore(1, 0)};
	tsem_hold hold, other;
	size_t which = 99;
	assert_int_equal(tsem_acquire_any(sems, 2, NULL, &hold, &which), 0);
	assert_int_equal(which, 0);
	assert_int_equal(tsem_acquire_any(sems, 2, NULL, &other, &which), 0);
	assert_int_equal(which, 1);
	assert_int_equal(tsem_acquire_any(sems, 2, &at_once, &other, &which), -ETIMEDOUT);
	assert_int_equal(stat_of(sems[0]).waiting + stat_of(sems[1]).waiting, 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_release(&other), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(stat_of(sems[i]).available, 1);
		tsem_close(sems[i]);
	}
}

enum { LINES = 40 };

struct lines {
	tsem *sems[LINES];
	_Atomic size_t granted;
};

static int
acquire_any_and_wait(void *arg)
{
	struct lines *lines = arg;
	tsem_hold hold;
	size_t which;
	CHECK(tsem_acquire_any(lines->sems, LINES, NULL, &hold, &which) == 0);
	lines->granted = which + 1;
	return stay_until_killed(NULL);
}

TEST(any_of_them_is_granted)
{
	struct lines *lines = shared_memory(sizeof(*lines));
	for (int i = 0; i < LINES; i++) {
		lines->sems[i] = new_semaphore(1, 0);
		assert_int_equal(tsem_take(lines->sems[i], 1, NULL), 0);
	}
	for (size_t round = 0; round < LINES; round += 13) {
		lines->granted = 0;
		const pid_t child = start_child(acquire_any_and_wait, lines);
		for (int i = 0; i < LINES; i++)
			EVENTUALLY(stat_of(lines->sems[i]).waiting == 1);
		assert_int_equal(tsem_post(lines->sems[round], 1, NULL), 0);
		EVENTUALLY(lines->granted == round + 1);
		for (int i = 0; i < LINES; i++) {
			EVENTUALLY(stat_of(lines->sems[i]).waiting == 0);
			assert_int_equal(stat_of(lines->sems[i]).held, 1); /* the other semaphores lost no permit */
		}
		kill_child(child);
		assert_int_equal(tsem_take(lines->sems[round], 1, NULL), 0);
	}
	for (int i = 0; i < LINES; i++)
		tsem_close(lines->sems[i]);
	munmap(lines, sizeof(*lines));
}

/*
 * Several semaphores get permits at the same time. Each permit goes to a waiter; a waiter that has one loses none of
 * the others.
 */
static int
acquire_any_often(void *arg)
{
	struct lines *lines = arg;
	for (int i = 0; i < 300; i++) {
		tsem_hold hold;
		size_t which;
		CHECK(tsem_acquire_any(lines->sems, 3, NULL, &hold, &which) == 0);
		CHECK(tsem_release(&hold) == 0);
	}
	return 0;
}

TEST(any_loses_nothing)
{
	enum { MEMBERS = 8 };
	struct lines *lines = shared_memory(sizeof(*lines));
	pid_t members[MEMBERS];
	for (int i = 0; i < 3; i++)
		lines->sems[i] = new_semaphore(1, 0);
	for (int i = 0; i < MEMBERS; i++)
		members[i] = start_child(acquire_any_often, lines);
	for (int i = 0; i < MEMBERS; i++)
		assert_int_equal(end_of_child(members[i]), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(stat_of(lines->sems[i]).available, 1);
		assert_int_equal(stat_of(lines->sems[i]).held, 0);
		tsem_close(lines->sems[i]);
	}
	munmap(lines, sizeof(*lines));
}

/* The removal of one semaphore ends the wait for all. */
TEST(any_is_cancelled)
{
	struct lines *lines = shared_memory(sizeof(*lines));
	for (int i = 0; i < LINES; i++) {
		lines->sems[i] = new_semaphore(1, 0);
		assert_int_equal(tsem_take(lines->sems[i], 1, NULL), 0);
	}
	const pid_t child = start_child(acquire_any_and_wait, lines);
	EVENTUALLY(stat_of(lines->sems[LINES - 1]).waiting == 1);
	assert_int_equal(tsem_cancel(lines->sems[7]), 0);
	assert_int_not_equal(end_of_child(child), 0);
	for (int i = 0; i < LINES; i++) {
		assert_int_equal(stat_of(lines->sems[i]).waiting, 0);
		tsem_close(lines->sems[i]);
	}
	munmap(lines, sizeof(*lines));
}

static int
give_up_at_once(void *arg, uint32_t position)
{
	uint32_t *seen = arg;
	*seen = position;
	return 1;
}

/* By its clock, and with ticks. */
TEST(any_gives_up)
{
	tsem *const sems[] = {new_semaphore(1, 0), new_semaphore(1, 0)};
	const struct timespec deadline = deadline_in(10000);
	tsem_hold hold;
	size_t which;
	for (int i = 0; i < 2; i++)
		assert_int_equal(tsem_take(sems[i], 1, NULL), 0);
	for (uint32_t every_ms = 0; every_ms < 10; every_ms += 5) {
		uint32_t seen = 99;
		const struct tsem_wait wait = {.size = sizeof(wait),
		                               .deadline = &deadline,
		                               .progress = give_up_at_once,
		                               .arg = &seen,
		                               .every_ms = every_ms};
		assert_int_equal(tsem_acquire_any(sems, 2, &wait, &hold, &which), -ECANCELED);
		assert_int_equal(seen, every_ms != 0);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(stat_of(sems[i]).waiting, 0);
		assert_int_equal(stat_of(sems[i]).timeouts, 2);
		assert_int_equal(stat_of(sems[i]).contended, 2);
		tsem_close(sems[i]);
	}
}

static uint64_t
nanoseconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int
note_elapsed(const struct tsem_owner *owner, void *arg)
{
	*(uint64_t *)arg = owner->elapsed_ns;
	return 1;
}

/* Not from the time of its ticket. */
TEST(any_holds_since_it_was_granted)
{
	enum { CLOCK_TICK = 20000000, WAITED = 5 * CLOCK_TICK };
	struct lines *lines = shared_memory(sizeof(*lines));
	for (int i = 0; i < LINES; i++) {
		lines->sems[i] = new_semaphore(1, 0);
		assert_int_equal(tsem_take(lines->sems[i], 1, NULL), 0);
	}
	const pid_t child = start_child(acquire_any_and_wait, lines);
	EVENTUALLY(stat_of(lines->sems[LINES - 1]).waiting == 1);
	const uint64_t in_line = nanoseconds_now();
	EVENTUALLY(nanoseconds_now() - in_line > WAITED);
	const uint64_t granted = nanoseconds_now();
	assert_int_equal(tsem_post(lines->sems[0], 1, NULL), 0);
	EVENTUALLY(lines->granted == 1);
	uint64_t elapsed = 0;
	assert_int_equal(tsem_owners(lines->sems[0], note_elapsed, &elapsed), 1);
	assert_in_range(elapsed, 0, nanoseconds_now() - granted + CLOCK_TICK);
	kill_child(child);
	for (int i = 0; i < LINES; i++)
		tsem_close(lines->sems[i]);
	munmap(lines, sizeof(*lines));
}

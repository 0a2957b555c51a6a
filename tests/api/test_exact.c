/* SPDX-License-Identifier: MIT */
/* tsem_set_exact: the count is corrected in one step; and counts up to what is available. */
#include "rounds.h"
#include "support.h"

#include <errno.h>

static void
expect_correction(tsem *sem, int64_t expected)
{
	int64_t correction = -99;
	assert_int_equal(tsem_set_exact(sem, &correction), 0);
	assert_int_equal(correction, expected);
	assert_int_equal(stat_of(sem).excess, 0);
	assert_int_equal(tsem_set_exact(sem, &correction), 0);
	assert_int_equal(correction, 0);
}

TEST(excess_is_withdrawn)
{
	tsem *sem = new_semaphore(2, 0);
	expect_correction(sem, 0);
	assert_int_equal(tsem_post(sem, 5, NULL), 0);
	expect_correction(sem, -5);
	expect_at_rest(sem, 2);
	assert_int_equal(tsem_post(sem, UINT32_MAX, NULL), 0);
	assert_int_equal(tsem_post(sem, UINT32_MAX, NULL), 0);
	expect_correction(sem, -2 * (int64_t)UINT32_MAX);
	expect_at_rest(sem, 2);
	tsem_close(sem);
}

TEST(what_was_lost_comes_back)
{
	tsem *sem = new_semaphore(3, 4);
	tsem_hold hold;
	assert_int_equal(tsem_take(sem, 2, NULL), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	expect_correction(sem, 2);
	assert_int_equal(stat_of(sem).available, 2);
	assert_int_equal(stat_of(sem).held, 1);
	assert_int_equal(tsem_release(&hold), 0);
	expect_at_rest(sem, 3);
	tsem_close(sem);
}

/* Three hold, and there should be one. */
TEST(excess_that_is_held_is_withdrawn_as_it_comes_back)
{
	tsem *sem = new_semaphore(1, 0);
	tsem_hold holds[3];
	assert_int_equal(tsem_post(sem, 2, NULL), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(tsem_acquire(sem, 1, NULL, &holds[i]), 0);
	expect_correction(sem, -2);
	assert_int_equal(stat_of(sem).held, 3);
	assert_int_equal(stat_of(sem).waiting, 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
		assert_int_equal(tsem_release(&holds[i]), 0);
	}
	expect_at_rest(sem, 1);
	assert_int_equal(tsem_try_take(sem, 1), 0);
	tsem_close(sem);
}

static int
take_and_post(void *sem)
{
	CHECK(tsem_take(sem, 1, NULL) == 0);
	return -tsem_post(sem, 1, NULL);
}

/* What a waiter waits for is not taken yet. */
TEST(a_waiter_gets_what_comes_back)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = 1, .flags = TSEM_BOUNDED};
	tsem *sem;
	assert_int_equal(tsem_create(fresh_name(), &config, &sem), 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const pid_t child = start_child(take_and_post, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	int64_t correction = 0;
	assert_int_equal(tsem_set_exact(sem, &correction), 0);
	assert_int_equal(correction, 1);
	assert_int_equal(end_of_child(child), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), -EOVERFLOW);
	expect_at_rest(sem, 1);
	tsem_close(sem);
}

TEST(another_capacity)
{
	tsem *sem = new_semaphore(3, 0);
	assert_int_equal(tsem_take(sem, 3, NULL), 0);
	assert_int_equal(tsem_set(sem, 1), 0);
	expect_correction(sem, 3);
	expect_at_rest(sem, 1);
	assert_int_equal(tsem_post(sem, 4, NULL), 0);
	assert_int_equal(tsem_set(sem, 0), 0);
	expect_correction(sem, -4);
	expect_at_rest(sem, 0);
	tsem_close(sem);
}

TEST(errors)
{
	const char *name = fresh_name();
	int64_t correction = -99;
	tsem *reader;
	tsem *sem = new_semaphore_named(name, 1, 0);
	assert_int_equal(tsem_open(name, TSEM_READ_ONLY, &reader), 0);
	assert_int_equal(tsem_set_exact(reader, &correction), -EPERM);
	tsem_close(reader);
	assert_int_equal(tsem_remove(name, 0), 0);
	assert_int_equal(tsem_set_exact(sem, &correction), -EIDRM);
	assert_int_equal(correction, -99);
	tsem_close(sem);
}

/* ---- at the same time ---- */

static int
correct(tsem *sem, int64_t *correction)
{
	CHECK(tsem_set_exact(sem, correction) == 0);
	return 0;
}

/* Six processes correct the same count, beside a process that acquires and releases. */
TEST(corrections_at_once)
{
	enum { PROCESSES = 6, ROUNDS = 300 };
	tsem *sem = new_semaphore(4, 0);
	struct rounds *rounds = rounds_start(sem, PROCESSES, ROUNDS, correct);
	for (unsigned round = 1; round <= ROUNDS; round++) {
		rounds_get_ready(rounds, round);
		if (round % 2 == 0)
			assert_int_equal(tsem_take(sem, 3, NULL), 0);
		else
			assert_int_equal(tsem_post(sem, 3, NULL), 0);
		assert_int_equal(rounds_do(rounds, round), round % 2 == 0 ? 3 : -3);
	}
	rounds_end(rounds);
	expect_at_rest(sem, 4);
	tsem_close(sem);
}

/* ---- counts above the capacity ---- */

TEST(as_many_as_are_available)
{
	const struct timespec past = {0};
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold;
	assert_int_equal(tsem_take(sem, 2, &past), -EINVAL);
	assert_int_equal(tsem_post(sem, 4, NULL), 0);
	assert_int_equal(tsem_take(sem, 6, &past), -EINVAL);
	assert_int_equal(tsem_take(sem, 3, &past), 0);
	assert_int_equal(tsem_take(sem, 3, &past), -EINVAL);
	assert_int_equal(tsem_try_take(sem, 3), -EINVAL);
	assert_int_equal(tsem_try_acquire(sem, 2, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), -EINVAL);
	assert_int_equal(stat_of(sem).waiting, 0);
	tsem_close(sem);
}

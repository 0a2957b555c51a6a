/* SPDX-License-Identifier: MIT */
/* TSEM_BOUNDED: a post gives back what was taken anonymously, and no post raises the limit. */
#include "rounds.h"
#include "support.h"

#include <errno.h>

static tsem *
new_bounded(uint32_t permits)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = permits, .flags = TSEM_BOUNDED};
	tsem *sem;
	assert_int_equal(tsem_create(fresh_name(), &config, &sem), 0);
	return sem;
}

/* The post fails, and nothing has changed. */
static void
expect_refused(tsem *sem, uint32_t count)
{
	uint32_t previous = 99;
	const struct tsem_stat before = stat_of(sem);
	assert_int_equal(tsem_post(sem, count, NULL), -EOVERFLOW);
	assert_int_equal(tsem_post(sem, count, &previous), -EOVERFLOW);
	assert_int_equal(previous, 99);
	const struct tsem_stat after = stat_of(sem);
	assert_int_equal(after.grant, before.grant);
	assert_int_equal(after.available, before.available);
	assert_int_equal(after.held, before.held);
}

TEST(a_stray_post_is_refused)
{
	tsem *sem = new_bounded(2);
	expect_refused(sem, 1);
	expect_refused(sem, UINT32_MAX);
	assert_int_equal(stat_of(sem).available, 2);
	tsem_close(sem);
}

/* This is the stray post that breaks a limit: one that a maximum of one does not refuse. */
TEST(a_post_does_not_give_back_what_is_held)
{
	tsem *sem = new_bounded(1);
	tsem_hold hold;
	for (int i = 0; i < 3; i++) { /* the first hold comes by the slow path, the others by the fast one */
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		expect_refused(sem, 1);
		assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
		assert_int_equal(tsem_release(&hold), 0);
	}
	expect_at_rest(sem, 1);
	tsem_close(sem);
}

TEST(what_was_taken_is_posted_back)
{
	tsem *sem = new_bounded(5);
	tsem_hold hold;
	uint32_t previous = 99;
	assert_int_equal(tsem_take(sem, 3, NULL), 0);
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	expect_refused(sem, 4);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(tsem_post(sem, 2, &previous), 0);
	assert_int_equal(previous, 1);
	expect_refused(sem, 1);
	assert_int_equal(tsem_release(&hold), 0);
	expect_at_rest(sem, 5);
	tsem_close(sem);
}

static int
acquire_and_release_one(void *sem)
{
	tsem_hold hold;
	CHECK(tsem_acquire(sem, 1, NULL, &hold) == 0);
	return -tsem_release(&hold);
}

/* The post gives back the caller's permit, and not the one that a waiter waits for. */
TEST(a_post_admits_a_waiter_once)
{
	int (*const waits[])(void *) = {take_one, acquire_and_release_one};
	for (size_t i = 0; i < 2; i++) {
		tsem *sem = new_bounded(1);
		assert_int_equal(tsem_take(sem, 1, NULL), 0);
		const pid_t child = start_child(waits[i], sem);
		EVENTUALLY(stat_of(sem).waiting == 1);
		expect_refused(sem, 2);
		assert_int_equal(tsem_post(sem, 1, NULL), 0);
		assert_int_equal(end_of_child(child), 0);
		if (waits[i] == take_one)
			assert_int_equal(tsem_post(sem, 1, NULL), 0);
		expect_refused(sem, 1);
		expect_at_rest(sem, 1);
		tsem_close(sem);
	}
}

TEST(the_limit_follows_the_capacity)
{
	tsem *sem = new_bounded(1);
	assert_int_equal(tsem_set(sem, 3), 0);
	expect_refused(sem, 1);
	assert_int_equal(tsem_take(sem, 3, NULL), 0);
	assert_int_equal(tsem_set(sem, 1), 0);
	expect_refused(sem, 4);
	assert_int_equal(tsem_post(sem, 3, NULL), 0);
	expect_refused(sem, 1);
	expect_at_rest(sem, 1);
	assert_int_equal(tsem_set(sem, 0), 0);
	expect_refused(sem, 1);
	tsem_close(sem);
}

TEST(a_waiter_that_gave_up_leaves_nothing_to_post)
{
	tsem *sem = new_bounded(1);
	const struct timespec past = {0};
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_take(sem, 1, &past), -ETIMEDOUT);
	expect_refused(sem, 1);
	assert_int_equal(tsem_release(&hold), 0);
	expect_refused(sem, 1);
	expect_at_rest(sem, 1);
	tsem_close(sem);
}

TEST(a_dead_holder_leaves_nothing_to_post)
{
	tsem *sem = new_bounded(1);
	const pid_t child = start_child(hold_until_killed, sem);
	EVENTUALLY(stat_of(sem).held == 1);
	kill_child(child);
	expect_refused(sem, 1);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	expect_refused(sem, 1);
	expect_at_rest(sem, 1);
	tsem_close(sem);
}

TEST(post_and_take)
{
	tsem *sem = new_bounded(1);
	assert_int_equal(tsem_post_and_take(sem, sem), -EOVERFLOW);
	assert_int_equal(stat_of(sem).available, 1);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(tsem_post_and_take(sem, sem), 0);
	assert_int_equal(stat_of(sem).available, 0);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	expect_at_rest(sem, 1);
	tsem_close(sem);
}

TEST(without_the_flag_posts_raise_the_limit)
{
	const char *name = fresh_name();
	const struct tsem_config config = {.size = sizeof(config), .permits = 1, .flags = TSEM_BOUNDED | TSEM_EXIST_OK};
	tsem_close(new_semaphore_named(name, 1, 0));
	tsem *sem;
	assert_int_equal(tsem_create(name, &config, &sem), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(stat_of(sem).available, 2);
	tsem_close(sem);
}

TEST(in_the_memory_of_the_program)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = 1, .flags = TSEM_BOUNDED};
	const size_t size = tsem_size_at(4);
	void *memory = shared_memory(size);
	tsem *sem;
	tsem *other;
	assert_int_equal(tsem_init_at(memory, size, &config, &sem), 0);
	assert_int_equal(tsem_open_at(memory, size, &other), 0);
	expect_refused(sem, 1);
	assert_int_equal(tsem_post(other, 1, NULL), -EOVERFLOW);
	tsem_close(sem);
	tsem_close(other);
}

/* ---- posts at the same time ---- */

static int
post_one(tsem *sem, int64_t *posted)
{
	const int rc = tsem_post(sem, 1, NULL);
	CHECK(rc == 0 || rc == -EOVERFLOW);
	*posted = rc == 0;
	return 0;
}

/* Of ten posts at once, as many succeed as permits were taken, beside a process that acquires and releases. */
TEST(ten_posts_at_once)
{
	enum { POSTERS = 10, ROUNDS = 500 };
	tsem *sem = new_bounded(4);
	struct rounds *rounds = rounds_start(sem, POSTERS, ROUNDS, post_one);
	for (unsigned round = 1; round <= ROUNDS; round++) {
		const unsigned taken = round % 4;
		rounds_get_ready(rounds, round);
		if (taken > 0)
			assert_int_equal(tsem_take(sem, taken, NULL), 0);
		assert_int_equal(rounds_do(rounds, round), taken);
	}
	rounds_end(rounds);
	expect_at_rest(sem, 4);
	tsem_close(sem);
}

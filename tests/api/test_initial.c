/* SPDX-License-Identifier: MIT */
/* TSEM_INITIAL: other permits are available at first than all of them. */
#include "support.h"

#include <errno.h>

static int
create_with(struct tsem_config config, tsem **sem)
{
	config.size = sizeof(config);
	config.flags |= TSEM_INITIAL;
	return tsem_create(fresh_name(), &config, sem);
}

TEST(fewer_are_available)
{
	tsem *sem;
	uint64_t available = 99;
	assert_int_equal(create_with((struct tsem_config){.permits = 5, .available = 2}, &sem), 0);
	assert_int_equal(tsem_available(sem, &available), 0);
	assert_int_equal(available, 2);
	assert_int_equal(stat_of(sem).capacity, 5);
	assert_int_equal(stat_of(sem).permits, 5);
	assert_int_equal(stat_of(sem).held, 3);
	assert_int_equal(tsem_try_take(sem, 3), -EAGAIN);
	assert_int_equal(tsem_post(sem, 3, NULL), 0);
	expect_at_rest(sem, 5);
	assert_int_equal(tsem_try_take(sem, 5), 0);
	tsem_close(sem);
}

/* A semaphore that begins closed, which a post opens to a process that waits. */
TEST(none_is_available)
{
	tsem *sem;
	assert_int_equal(create_with((struct tsem_config){.permits = 1, .available = 0}, &sem), 0);
	const pid_t waiter = start_child(take_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(end_of_child(waiter), 0);
	tsem_close(sem);
}

TEST(more_are_available)
{
	tsem *sem;
	assert_int_equal(create_with((struct tsem_config){.permits = 1, .max = 7, .available = 4}, &sem), 0);
	assert_int_equal(stat_of(sem).available, 4);
	assert_int_equal(stat_of(sem).capacity, 1);
	assert_int_equal(stat_of(sem).held, 0);
	assert_int_equal(tsem_post(sem, 4, NULL), -EOVERFLOW);
	for (int i = 0; i < 4; i++)
		assert_int_equal(tsem_try_take(sem, 1), 0);
	assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
	tsem_close(sem);
	assert_int_equal(create_with((struct tsem_config){.permits = 0, .available = UINT32_MAX}, &sem), 0);
	assert_int_equal(stat_of(sem).available, UINT32_MAX);
	tsem_close(sem);
}

TEST(what_a_bounded_one_lacks_is_posted_once)
{
	tsem *sem;
	const struct tsem_config config = {.permits = 3, .flags = TSEM_BOUNDED, .available = 1};
	assert_int_equal(create_with(config, &sem), 0);
	assert_int_equal(tsem_post(sem, 3, NULL), -EOVERFLOW);
	assert_int_equal(tsem_post(sem, 2, NULL), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), -EOVERFLOW);
	expect_at_rest(sem, 3);
	tsem_close(sem);
}

TEST(numbers_that_no_post_could_reach_are_refused)
{
	static const struct tsem_config refused[] = {
		{.permits = 1, .max = 4, .available = 5},
		{.permits = 3, .flags = TSEM_BOUNDED, .available = 4},
		{.permits = 1, .available = (uint64_t)UINT32_MAX + 1},
		{.permits = 1, .available = UINT64_MAX},
	};
	tsem *sem;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(create_with(refused[i], &sem), -EINVAL);
	/* Without the flag, the number would be ignored. */
	const struct tsem_config forgotten = {.size = sizeof(forgotten), .permits = 2, .available = 1};
	assert_int_equal(tsem_create(fresh_name(), &forgotten, &sem), -EINVAL);
}

TEST(one_that_exists_stays_as_it_is)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 2, 0);
	tsem *same;
	const struct tsem_config config = {
		.size = sizeof(config), .permits = 2, .flags = TSEM_EXIST_OK | TSEM_INITIAL, .available = 0};
	assert_int_equal(tsem_create(name, &config, &same), 0);
	expect_at_rest(sem, 2);
	tsem_close(same);
	tsem_close(sem);
}

TEST(in_memory_of_the_program)
{
	static _Alignas(64) unsigned char memory[65536];
	const struct tsem_config config = {.size = sizeof(config), .permits = 2, .flags = TSEM_INITIAL, .available = 1};
	tsem *sem;
	assert_true(tsem_size_at(2) <= sizeof(memory));
	assert_int_equal(tsem_init_at(memory, sizeof(memory), &config, &sem), 0);
	assert_int_equal(tsem_try_take(sem, 1), 0);
	assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
	tsem_close(sem);
}

static int
take_and_post_until_killed(void *sem)
{
	while (tsem_try_take(sem, 1) == 0)
		CHECK(tsem_post(sem, 1, NULL) == 0);
	return 1;
}

/* The two counters are read one after the other, and what moves in between must not be added up. */
TEST(available_beside_takes_and_posts)
{
	tsem *sem = new_semaphore(1, 0);
	const uint64_t before = stat_of(sem).ticket;
	const pid_t child = start_child(take_and_post_until_killed, sem);
	EVENTUALLY(stat_of(sem).ticket != before);
	for (int i = 0; i < 1000000; i++) {
		uint64_t available = 99;
		assert_int_equal(tsem_available(sem, &available), 0);
		assert_in_range(available, 0, 1);
	}
	kill_child(child);
	tsem_close(sem);
}

/* A program that was compiled before the number existed. */
TEST(an_earlier_structure_has_no_number)
{
	const struct tsem_config config = {
		.size = offsetof(struct tsem_config, available), .permits = 2, .flags = TSEM_INITIAL, .available = 1};
	tsem *sem;
	assert_int_equal(tsem_create(fresh_name(), &config, &sem), -EINVAL);
}

TEST(available_in_a_read_only_handle_and_with_a_queue)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 3, 0);
	tsem *reader;
	uint64_t available = 99;
	assert_int_equal(tsem_open(name, TSEM_READ_ONLY, &reader), 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(tsem_available(reader, &available), 0);
	assert_int_equal(available, 2);
	assert_int_equal(tsem_take(sem, 2, NULL), 0);
	const pid_t waiter = start_child(take_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(tsem_available(reader, &available), 0);
	assert_int_equal(available, 0);
	available = 99;
	assert_int_equal(tsem_available(sem, &available), 0);
	assert_int_equal(available, 0);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(end_of_child(waiter), 0);
	tsem_close(reader);
	tsem_close(sem);
}

/* SPDX-License-Identifier: MIT */
/* TSEM_POSIX_HOLDS: permits that come back when the process that has waited for them ends. */
#include "posix_support.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t *
new_with_holds(const char *name, unsigned value)
{
	setenv("TSEM_POSIX_HOLDS", "/no/such:/*", 1);
	return new_posix(name, value);
}

static int
wait_and_stay(void *sem)
{
	CHECK(sem_wait(sem) == 0);
	return stay_until_killed(NULL);
}

static uint32_t
owned_of(const char *name)
{
	tsem *look = look_at(name);
	const uint32_t owned = owned_permits(look);
	tsem_close(look);
	return owned;
}

TEST(a_process_is_killed_with_its_permit)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_with_holds(name, 1);
	const pid_t holder = start_bounded(wait_and_stay, sem);
	EVENTUALLY(owned_of(name) == 1);
	EXPECT_ERROR(EAGAIN, sem_trywait(sem));
	struct waiter *waiter = new_waiter(sem, sem_wait);
	EVENTUALLY(waiting_for(name) == 1);
	kill_child(holder);
	expect_success(waiter);
	kill_waiter(waiter);
	EVENTUALLY(value_of(sem) == 1);
	assert_int_equal(sem_close(sem), 0);
}

TEST(only_names_that_match)
{
	static const struct {
		const char *patterns;
		bool matches;
	} cases[] = {
		{"/*", true}, {"/no:/other:/*", true}, {"*", true}, {"t*", true}, {"/no", false}, {"", false},
		{":", false}, {"no:/t[!a-z]*", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *name = fresh_posix_name();
		setenv("TSEM_POSIX_HOLDS", cases[i].patterns, 1);
		sem_t *sem = new_posix(name + i % 2, 1); /* the '/' may be missing */
		assert_int_equal(sem_wait(sem), 0);
		assert_int_equal(owned_of(name), cases[i].matches);
		assert_int_equal(sem_post(sem), 0);
		assert_int_equal(value_of(sem), 1);
		assert_int_equal(sem_close(sem), 0);
	}
}

/* A post for each wait, and one more. */
TEST(a_post_without_a_hold_adds_a_permit)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_with_holds(name, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sem_wait(sem), 0);
	assert_int_equal(owned_of(name), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(sem_post(sem), 0);
		assert_int_equal(owned_of(name), 2 - i);
	}
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(value_of(sem), 4);
	assert_int_equal(sem_close(sem), 0);
}

static int
post_in_child(void *sem)
{
	CHECK(sem_post(sem) == 0); /* which adds one: the hold is its parent's */
	CHECK(sem_wait(sem) == 0);
	return 0;
}

TEST(a_child_has_no_hold_of_its_parent)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_with_holds(name, 1);
	assert_int_equal(sem_wait(sem), 0);
	assert_int_equal(run_bounded(post_in_child, sem),
	                 0); /* the permit that it has waited for comes back with its end */
	EVENTUALLY(value_of(sem) == 1);
	assert_int_equal(owned_of(name), 1);
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(value_of(sem), 2);
	assert_int_equal(sem_close(sem), 0);
}

TEST(a_hold_outlives_sem_close)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_with_holds(name, 2);
	assert_int_equal(sem_wait(sem), 0);
	assert_int_equal(sem_close(sem), 0);
	EXPECT_ERROR(EINVAL, sem_post(sem));
	assert_int_equal(owned_of(name), 1);
	sem_t *again = open_posix(name);
	assert_int_equal(sem_post(again), 0);
	assert_int_equal(owned_of(name), 0);
	assert_int_equal(value_of(again), 2);
	assert_int_equal(sem_close(again), 0);
}

/* More than one block of places. */
TEST(many_holds)
{
	enum { HOLDS = 3000 };
	const char *name = fresh_posix_name();
	sem_t *sem = new_with_holds(name, HOLDS);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < HOLDS; i++)
			assert_int_equal(sem_wait(sem), 0);
		EXPECT_ERROR(EAGAIN, sem_trywait(sem));
		for (int i = 0; i < HOLDS; i++)
			assert_int_equal(sem_post(sem), 0);
		assert_int_equal(value_of(sem), HOLDS);
		assert_int_equal(owned_of(name), 0);
	}
	assert_int_equal(sem_close(sem), 0);
}

/* SPDX-License-Identifier: MIT */
/* TSEM_POSIX_HOLDS: permits that come back when the process that has waited for them ends. */
#include "posix_support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static bool
executes(pid_t pid, const char *program)
{
	char path[64], comm[32] = "";
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *file = fopen(path, "re");
	const bool same = file != NULL && fgets(comm, sizeof(comm), file) != NULL && strcspn(comm, "\n") == strlen(program)
	                  && strncmp(comm, program, strlen(program)) == 0;
	if (file != NULL)
		fclose(file);
	return same;
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

/* POSIX lets any process post. */
TEST(a_post_by_another_process_leaves_the_hold)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_with_holds(name, 1);
	const pid_t holder = start_bounded(wait_and_stay, sem);
	EVENTUALLY(owned_of(name) == 1);
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(value_of(sem), 1);
	assert_int_equal(owned_of(name), 1);
	kill_child(holder);
	EVENTUALLY(value_of(sem) == 2);
	assert_int_equal(sem_close(sem), 0);
}

static int
wait_and_execute(void *sem)
{
	CHECK(sem_wait(sem) == 0);
	execlp("sleep", "sleep", "60", (char *)NULL);
	return 1;
}

TEST(a_program_that_is_executed_keeps_the_hold)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_with_holds(name, 1);
	const pid_t pid = start_bounded(wait_and_execute, sem);
	EVENTUALLY(executes(pid, "sleep"));
	EXPECT_ERROR(EAGAIN, sem_trywait(sem));
	assert_int_equal(owned_of(name), 1);
	kill_child(pid);
	EVENTUALLY(value_of(sem) == 1);
	assert_int_equal(sem_close(sem), 0);
}

/* The tickets of all holds; newer ones are higher. */
struct tickets {
	uint64_t tickets[4];
	uint32_t count;
};

static int
note_ticket(const struct tsem_owner *owner, void *arg)
{
	struct tickets *all = arg;
	if (all->count < 4)
		all->tickets[all->count++] = owner->ticket;
	return 0;
}

static struct tickets
tickets_of(const char *name)
{
	struct tickets all = {.count = 0};
	tsem *look = look_at(name);
	assert_int_equal(tsem_owners(look, note_ticket, &all), 0);
	tsem_close(look);
	return all;
}

static void *
wait_here(void *sem)
{
	assert_int_equal(sem_wait(sem), 0);
	return NULL;
}

static void *
post_here(void *sem)
{
	assert_int_equal(sem_post(sem), 0);
	return NULL;
}

static void
in_another_thread(void *(*body)(void *sem), sem_t *sem)
{
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, body, sem), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST(a_post_gives_the_newest_hold_back_of_any_thread)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_with_holds(name, 3);
	assert_int_equal(sem_wait(sem), 0);
	in_another_thread(wait_here, sem);
	assert_int_equal(sem_wait(sem), 0);
	const struct tickets before = tickets_of(name);
	assert_int_equal(before.count, 3);
	in_another_thread(post_here, sem);
	assert_int_equal(sem_post(sem), 0);
	const struct tickets after = tickets_of(name);
	assert_int_equal(after.count, 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(after.tickets[0] <= before.tickets[i]);
	in_another_thread(post_here, sem);
	assert_int_equal(owned_of(name), 0);
	assert_int_equal(value_of(sem), 3);
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

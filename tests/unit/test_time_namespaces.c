/* SPDX-License-Identifier: MIT */
/* A start time is the same in each time namespace, and a process that is not sure of its own calls no process dead. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layout.h"
#include "system/identity.h"
#include "system/liveness.h"
#include "system/platform.h"
#include "system/proc.h"

enum { REFUSED = 77 };

/* ---- numbers ---- */

/* The start time that the kernel shows where the clock is ahead by `offset`. It calculates in 64 unsigned bits. */
static uint64_t
shown(uint64_t start, int64_t offset, uint64_t tick)
{
	return (start + (uint64_t)offset) / tick;
}

TEST(a_start_time_does_not_depend_on_the_offset)
{
	const uint64_t tick = NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
	const int64_t second = (int64_t)NS_PER_SECOND;
	const int64_t offsets[] = {second, -second, 100000 * second, -100000 * second, 7000001, -7000001, second + 9999999,
	                           1,      -1};
	const uint64_t starts[] = {tick, 2 * tick - 1, 3 * tick, 5 * NS_PER_SECOND + 1234567, 86400 * NS_PER_SECOND - 1};
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		const uint64_t exact = starts[i] / tick;
		assert_int_equal(start_since_boot(shown(starts[i], 0, tick), 0), exact);
		assert_int_equal(start_since_boot(exact, BOOT_OFFSET_UNKNOWN), 0);
		for (size_t j = 0; j < sizeof(offsets) / sizeof(offsets[0]); j++) {
			const uint64_t start = start_since_boot(shown(starts[i], offsets[j], tick), offsets[j]);
			assert_true(start == exact || start + 1 == exact);
			/* The result is exact if the clock is ahead by whole ticks. */
			if (offsets[j] > 0 && (uint64_t)offsets[j] % tick == 0)
				assert_int_equal(start, exact);
		}
	}
}

TEST(starts_one_tick_apart_are_the_same)
{
	assert_true(is_same_start(5, 5) && is_same_start(5, 4) && is_same_start(4, 5));
	assert_false(is_same_start(5, 3) || is_same_start(3, 5));
	assert_true(is_same_start(START_MASK, 1) && is_same_start(1, START_MASK) && is_same_start(START_MASK + 1, 1));
	assert_false(is_same_start(START_MASK - 1, 1) || is_same_start(1, START_MASK - 1));
	assert_int_equal(start_since_boot(START_MASK + 1, 0), 1);
	assert_false(is_same_start(0, 0) || is_same_start(0, 1) || is_same_start(1, 0));
}

/* ---- real namespaces ---- */

/* The children of the caller begin in a new namespace, whose clock is ahead by this. */
static bool
unshare_time(long seconds, long nanoseconds)
{
	if (unshare(CLONE_NEWTIME) != 0)
		return false;
	FILE *file = fopen("/proc/self/timens_offsets", "w");
	if (file == NULL)
		return false;
	fprintf(file, "boottime %ld %ld\n", seconds, nanoseconds);
	return fclose(file) == 0;
}

static struct process_id
owner_of(pid_t pid, uint64_t start)
{
	struct identity self;
	return identity_get(&self) == 0 ? (struct process_id){.pid = (uint32_t)pid, .start = start, .pid_ns = self.pid_ns}
	                                : (struct process_id){0};
}

/* The process is alive. Another one with its pid and another start time is dead. */
static int
expect_verdicts(pid_t pid, uint64_t start)
{
	struct process_id owner = owner_of(pid, start);
	CHECK(start != 0);
	CHECK(liveness_judge(&owner) == LIVENESS_ALIVE);
	owner.start = start + 12345;
	CHECK(liveness_judge(&owner) == LIVENESS_DEAD);
	owner.start = start - 3;
	CHECK(liveness_judge(&owner) == LIVENESS_DEAD);
	return 0;
}

struct ahead {
	long seconds;
	long nanoseconds;
	pid_t parent;
	uint64_t parent_start;
};

static int
judge_the_parent(const struct ahead *ahead, int go_on, int tell)
{
	const uint64_t start = owner_start(identity_owner());
	char byte;
	CHECK(boot_offset_read() == ahead->seconds * (int64_t)NS_PER_SECOND + ahead->nanoseconds);
	CHECK(expect_verdicts(ahead->parent, ahead->parent_start) == 0);
	CHECK(write(tell, &start, sizeof(start)) == (ssize_t)sizeof(start));
	CHECK(read(go_on, &byte, 1) == 0);
	return 0;
}

static int
parent_and_child_in_two_times(void *arg)
{
	struct ahead *ahead = arg;
	int go_on[2], tell[2];
	uint64_t start;
	CHECK(pipe(go_on) == 0 && pipe(tell) == 0);
	ahead->parent = getpid();
	ahead->parent_start = owner_start(identity_owner());
	if (!unshare_time(ahead->seconds, ahead->nanoseconds))
		return REFUSED;
	const pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		close(go_on[1]);
		_exit(judge_the_parent(ahead, go_on[0], tell[1]));
	}
	close(tell[1]);
	if (read(tell[0], &start, sizeof(start)) == (ssize_t)sizeof(start))
		CHECK(expect_verdicts(child, start) == 0);
	close(go_on[1]);
	return end_of_child(child);
}

TEST(parent_and_child_in_two_namespaces_see_each_other_alive)
{
	struct timespec up;
	assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &up), 0);
	struct ahead cases[] = {
		{.seconds = 100000},
		{.seconds = 100000, .nanoseconds = 7000001},
		{.seconds = 0, .nanoseconds = 5000000},
		{.seconds = -1, .nanoseconds = 3},
		/* The clock there is at zero now, so the parent started before its zero. */
		{.seconds = -(long)up.tv_sec, .nanoseconds = 1000000},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int status = end_of_child(start_child(parent_and_child_in_two_times, &cases[i]));
		if (status == REFUSED)
			SKIP("no new time namespace allowed here");
		assert_int_equal(status, 0);
	}
}

/* The offset that it has cached is out of date then. */
static int
go_to_another_time(void *arg)
{
	const struct ahead *ahead = arg;
	const uint64_t start = owner_start(identity_owner());
	CHECK(expect_verdicts(ahead->parent, ahead->parent_start) == 0);
	if (!unshare_time(ahead->seconds, ahead->nanoseconds))
		return REFUSED;
	const int other = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
	if (other < 0 || setns(other, CLONE_NEWTIME) != 0)
		return REFUSED;
	CHECK(boot_offset_read() != 0);
	CHECK(owner_start(identity_owner()) == start);
	CHECK(own_start_read(boot_offset_read()) == start);
	return expect_verdicts(ahead->parent, ahead->parent_start);
}

TEST(a_judge_that_enters_another_namespace_stays_right)
{
	struct ahead ahead = {.seconds = 100000, .parent = getpid(), .parent_start = owner_start(identity_owner())};
	const int status = end_of_child(start_child(go_to_another_time, &ahead));
	if (status == REFUSED)
		SKIP("no new time namespace may be entered here");
	assert_int_equal(status, 0);
}

/* /proc shows the namespace of its children, and it is in another one. */
static int
in_doubt(const struct ahead *ahead)
{
	struct process_id owner = owner_of(ahead->parent, ahead->parent_start);
	if (!unshare_time(5, 0))
		return REFUSED;
	CHECK(boot_offset_read() == BOOT_OFFSET_UNKNOWN);
	CHECK(liveness_judge(&owner) == LIVENESS_ALIVE); /* by the offset known before */
	owner.start += 1000;
	CHECK(liveness_judge(&owner) == LIVENESS_UNKNOWN);
	const pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0)
		_exit(expect_verdicts(ahead->parent, ahead->parent_start)); /* in the namespace that /proc shows */
	return end_of_child(child);
}

static int
unshare_twice(void *arg)
{
	if (!unshare_time(100000, 0))
		return REFUSED;
	CHECK(boot_offset_read() == 0);
	const pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0)
		_exit(in_doubt(arg));
	return end_of_child(child);
}

TEST(a_judge_in_doubt_calls_no_process_dead)
{
	if (boot_offset_read() != 0)
		SKIP("this runs in a time namespace");
	struct ahead ahead = {.parent = getpid(), .parent_start = owner_start(identity_owner())};
	const int status = end_of_child(start_child(unshare_twice, &ahead));
	if (status == REFUSED)
		SKIP("no new time namespace allowed here");
	assert_int_equal(status, 0);
}

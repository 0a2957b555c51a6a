/* SPDX-License-Identifier: MIT */
/* What the command prints during a wait of minutes where no terminal shows it. The time passes in the fake platform. */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd.h"
#include "waiting.h"

/* The command's clock. */
uint64_t __wrap_monotonic_ns(void);

uint64_t
__wrap_monotonic_ns(void)
{
	return fake.clock;
}

/* ---- standard error ---- */

static char printed[4096];

/* Calls wait(o) and stores what it prints on standard error, which is a file. */
static int
print(int (*wait)(const struct options *o), const struct options *o)
{
	const int old = dup(STDERR_FILENO);
	const int file = memfd_create("stderr", MFD_CLOEXEC);
	assert_true(old >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
	const int rc = wait(o);
	assert_true(dup2(old, STDERR_FILENO) >= 0);
	const ssize_t n = pread(file, printed, sizeof(printed) - 1, 0);
	assert_true(n >= 0);
	printed[n] = '\0';
	close(file);
	close(old);
	return rc;
}

static size_t
lines(void)
{
	size_t n = 0;
	for (const char *at = printed; (at = strchr(at, '\n')) != NULL; at++)
		n++;
	return n;
}

/* The first line ends so. */
static void
expect_printed(const char *text)
{
	const size_t length = strcspn(printed, "\n");
	const size_t n = strlen(text);
	if (length < n || strncmp(printed + length - n, text, n) != 0)
		fail_msg("printed '%s' instead of '...%s'", printed, text);
}

/* ---- the waits ---- */

static int
take(const struct options *o)
{
	struct request request = {.n = 1, .sems = &sem};
	return wait_for_permits(o, &request);
}

static int
acquire(const struct options *o)
{
	tsem_hold hold;
	struct request request = {.n = 1, .sems = &sem, .holds = &hold};
	const int rc = wait_for_permits(o, &request);
	if (rc == 0)
		assert_int_equal(tsem_release(&hold), 0);
	return rc;
}

static struct options
options_until(uint64_t ms)
{
	return (struct options){.name = sem_name, .count = 1, .has_timeout = true, .deadline = clock_after(ms)};
}

/* The wait ends in vain, after this many lines, and one for the end. */
static void
expect_lines(int (*wait)(const struct options *o), struct options o, size_t n)
{
	assert_int_equal(print(wait, &o), -ETIMEDOUT);
	if (lines() != n + !o.quiet)
		fail_msg("printed '%s' instead of %zu lines and the end", printed, n);
	assert_int_equal(fake.clock / NS_PER_SECOND, o.deadline.tv_sec);
}

/* ---- the line ---- */

TEST_HELD(a_waiter_prints_nothing_within_a_minute)
{
	expect_lines(acquire, options_until(59900), 0);
	set_up_held(state);
	expect_lines(take, options_until(59900), 0);
}

TEST_HELD(a_waiter_prints_one_line_after_a_minute)
{
	static int (*const waits[])(const struct options *o) = {acquire, take};
	for (size_t i = 0; i < 2; i++) {
		set_up_held(state);
		expect_lines(waits[i], options_until(61000), 1);
		expect_printed(", place 1, waiting for 60 s");
		set_up_held(state);
		expect_lines(waits[i], options_until(3600 * 1000), 1);
		expect_printed(", place 1, waiting for 60 s");
	}
}

TEST_HELD(the_line_has_the_place_in_the_queue)
{
	set_counters(sem, 2, 0);
	put_record(sem, 41, UNUSED_PROCESS, STATE_QUEUED, 0, 1, 1);
	expect_lines(acquire, options_until(61000), 1);
	expect_printed(", place 2, waiting for 60 s");
}

static void
peer_looks_at_each_tick(void)
{
	peer_has_looked(identity_pid_ns(), next_multiple(fake.clock, LOOKOUT_EVERY));
	fake.peer = peer_looks_at_each_tick;
}

TEST_HELD(the_line_comes_also_if_another_process_looks_for_dead_owners)
{
	fake.peer = peer_looks_at_each_tick;
	expect_lines(acquire, options_until(61000), 1);
	expect_printed(", waiting for 60 s");
	fake.peer = NULL;
}

TEST_HELD(a_waiter_that_is_admitted_later_has_printed_one_line)
{
	const struct options o = {.name = sem_name, .count = 1};
	fake.peer = peer_posts;
	fake.peer_from_sleep = 700;
	assert_int_equal(print(acquire, &o), 0);
	assert_true(fake.clock - began > 60 * NS_PER_SECOND);
	assert_int_equal(lines(), 1);
}

TEST_HELD(the_line_comes_once_although_the_place_changes)
{
	set_counters(sem, 2, 0);
	put_record(sem, 41, UNUSED_PROCESS, STATE_QUEUED, 0, 1, 1);
	fake.peer = peer_posts;
	fake.peer_from_sleep = 700;
	expect_lines(acquire, options_until(3600 * 1000), 1);
	expect_printed(", place 2, waiting for 60 s");
	assert_null(fake.peer);
}

TEST_HELD(a_quiet_waiter_prints_nothing)
{
	struct options o = options_until(3600 * 1000);
	o.quiet = true;
	expect_lines(acquire, o, 0);
}

TEST_HELD(a_verbose_waiter_prints_the_line_when_its_place_changes)
{
	struct options o = options_until(600 * 1000);
	o.verbose = true;
	expect_lines(acquire, o, 1);
	expect_printed(", place 1, waiting");
}

/* ---- tsem wait ---- */

static int
wait_idle(const struct options *o)
{
	return cmd_wait(o) == (int)o->conflict_status ? -ETIMEDOUT : 0;
}

TEST_HELD(wait_prints_one_line_after_a_minute)
{
	for (int quiet = 0; quiet < 2; quiet++) {
		set_up_held(state);
		struct options o = options_until(59900);
		o.conflict_status = EXIT_NOT_ACQUIRED;
		o.quiet = quiet != 0;
		expect_lines(wait_idle, o, 0);
		o.deadline = clock_after(3600 * 1000);
		expect_lines(wait_idle, o, quiet != 0 ? 0 : 1);
	}
	set_up_held(state);
	struct options o = options_until(61000);
	o.conflict_status = EXIT_NOT_ACQUIRED;
	expect_lines(wait_idle, o, 1);
	expect_printed(", waiting for 60 s");
}

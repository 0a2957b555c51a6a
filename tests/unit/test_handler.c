/* SPDX-License-Identifier: MIT */
/* A signal handler that releases a hold, at any instruction of its thread's acquire or release of another one. */
#include "fixture.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PERMITS = 4 };

static tsem_hold hold, spare;
static int failures;

static void
release_spare(int number)
{
	(void)number;
	failures += tsem_release(&spare) != 0;
}

static void
acquire(uint32_t count)
{
	failures += tsem_acquire(sem, count, NULL, &hold) != 0;
}

static void
release(void)
{
	failures += tsem_release(&hold) != 0;
}

/* The fast path needs a record that is cached for the same count. */
enum operation { FAST_ACQUIRE, FAST_RELEASE, SLOW_ACQUIRE, SLOW_RELEASE };

/* Is stopped before and after the operation. Ends with the number of what went wrong. */
static _Noreturn void
work(enum operation operation)
{
	const bool is_release = operation == FAST_RELEASE || operation == SLOW_RELEASE;
	const uint32_t count = operation == SLOW_ACQUIRE || operation == SLOW_RELEASE ? 2 : 1;
	failures += tsem_acquire(sem, 1, NULL, &spare) != 0;
	for (int i = 0; i < 2; i++) {
		acquire(1);
		release();
	}
	if (is_release)
		acquire(count);
	signal(SIGUSR1, release_spare);
	ptrace(PTRACE_TRACEME);
	kill(getpid(), SIGSTOP);
	if (is_release)
		release();
	else
		acquire(count);
	kill(getpid(), SIGSTOP);
	if (!is_release)
		release();
	acquire(1);
	release();
	tsem_close(sem);
	_exit(failures);
}

/* Runs the handler after that many steps. False: the operation ended before. */
static bool
handles_after(enum operation operation, long steps)
{
	const pid_t child = fork();
	int status;
	bool ended = false;
	if (child == 0)
		work(operation);
	assert_int_equal(waitpid(child, &status, 0), child);
	for (long i = 0; i < steps && !ended; i++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSTOPPED(status));
		ended = WSTOPSIG(status) == SIGSTOP;
	}
	if (!ended) {
		assert_int_equal(ptrace(PTRACE_CONT, child, NULL, SIGUSR1), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSTOPPED(status));
	}
	assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, ended ? SIGUSR1 : 0), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status != 0)
		fail_msg("operation %d, handler after %ld steps: status %x", (int)operation, steps, (unsigned)status);
	assert_int_equal(grants_of(sem), tickets_of(sem));
	assert_int_equal(records_owned(sem), 0);
	return !ended;
}

static void
handle_after_each(enum operation operation, long stride)
{
	if (UNDER_SANITIZER)
		SKIP("a sanitizer adds too many instructions");
	begin(PERMITS);
	for (long steps = 1; handles_after(operation, steps); steps += stride)
		continue;
	end();
}

TEST(a_handler_releases_in_a_fast_acquire)
{
	handle_after_each(FAST_ACQUIRE, 1);
}

TEST(a_handler_releases_in_a_fast_release)
{
	handle_after_each(FAST_RELEASE, 1);
}

/* Some hundred steps, so the tests of libtsem-posix and its storm have to find the others. */
TEST(a_handler_releases_in_the_slow_path)
{
	enum { STRIDE = 29 };
	handle_after_each(SLOW_ACQUIRE, STRIDE);
	handle_after_each(SLOW_RELEASE, STRIDE);
}

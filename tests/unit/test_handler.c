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
	raise(SIGSTOP);
	if (is_release)
		release();
	else
		acquire(count);
	raise(SIGSTOP);
	if (!is_release)
		release();
	acquire(1);
	release();
	failures += grants_of(sem) != tickets_of(sem);
	failures += records_owned(sem) > 1; /* the cached one */
	_exit(failures);
}

/* Runs the handler after that many steps. False: the operation ended before. */
static bool
handles_after(enum operation operation, long steps)
{
	begin(PERMITS);
	const pid_t child = fork();
	int status;
	if (child == 0)
		work(operation);
	assert_int_equal(waitpid(child, &status, 0), child);
	for (long i = 0; i < steps; i++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGSTOP) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			end();
			return false;
		}
	}
	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, SIGUSR1), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status != 0)
		fail_msg("operation %d, handler after %ld steps: status %x", (int)operation, steps, (unsigned)status);
	end();
	return true;
}

TEST(a_handler_releases_in_a_fast_acquire)
{
	for (long steps = 1; handles_after(FAST_ACQUIRE, steps);)
		steps++;
}

TEST(a_handler_releases_in_a_fast_release)
{
	for (long steps = 1; handles_after(FAST_RELEASE, steps);)
		steps++;
}

/* Some hundred steps, so the tests of libtsem-posix and its storm have to find the others. */
TEST(a_handler_releases_in_the_slow_path)
{
	enum { STRIDE = 29 };
	for (long steps = 1; handles_after(SLOW_ACQUIRE, steps);)
		steps += STRIDE;
	for (long steps = 1; handles_after(SLOW_RELEASE, steps);)
		steps += STRIDE;
}

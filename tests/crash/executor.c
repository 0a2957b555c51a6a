/* SPDX-License-Identifier: MIT */
/* The executor: the process that runs an operation while the driver traces it. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "operation.h"
#include "protocol/handle.h"
#include "system/platform.h"
#include "tracee.h"

#define SHORT_SLEEP_NS (4 * NS_PER_MS)

static uint64_t (*clock_of_library)(void);

static int (*sleep_of_library)(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until);

static int (*sleep_any_of_library)(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n,
                                   uint64_t until);

/*
 * This clock goes only while the process sleeps. Stepping through one look for dead owners takes so long that by the
 * real clock the next look would be due at its end.
 */
static uint64_t sleep_clock;

static uint64_t
clock_of_sleeps(void)
{
	return sleep_clock;
}

static uint64_t
in_real_time(uint64_t until, uint64_t now)
{
	return until == NS_FOREVER ? until : now + (until > sleep_clock ? until - sleep_clock : 0);
}

static int
sleep_by_clock(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	const uint64_t began = clock_of_library();
	const int rc = sleep_of_library(word, expected, bits, in_real_time(until, began));
	sleep_clock += clock_of_library() - began;
	return rc;
}

static int
sleep_any_by_clock(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until)
{
	const uint64_t began = clock_of_library();
	const int rc = sleep_any_of_library(words, expected, n, in_real_time(until, began));
	sleep_clock += clock_of_library() - began;
	return rc;
}

static int
sleep_any_shortly(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until)
{
	const uint64_t soon = platform.now() + SHORT_SLEEP_NS;
	return sleep_any_by_clock(words, expected, n, until < soon ? until : soon);
}

static int
sleep_any_until_woken(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until)
{
	(void)until;
	return sleep_any_by_clock(words, expected, n, NS_FOREVER);
}

static int
sleep_shortly(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	const uint64_t soon = platform.now() + SHORT_SLEEP_NS;
	return sleep_by_clock(word, expected, bits, until < soon ? until : soon);
}

static int
sleep_until_woken(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	(void)until;
	return sleep_by_clock(word, expected, bits, NS_FOREVER);
}

static uint64_t clock_ahead;

static uint64_t
jumping_clock(void)
{
	return clock_of_library() + clock_ahead;
}

static int
sleep_and_jump(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	const uint64_t soon = clock_of_library() + NS_PER_MS / 5;
	int rc = sleep_of_library(word, expected, bits, until < soon ? until : soon);
	clock_ahead += 3600 * NS_PER_SECOND;
	return rc;
}

static void
choose_sleep_mode(enum sleep_mode sleep_mode)
{
	sleep_of_library = platform.sleep;
	sleep_any_of_library = platform.sleep_any;
	clock_of_library = platform.now;
	if (sleep_mode == SLEEP_CLOCK_JUMP) {
		platform.now = jumping_clock;
		platform.sleep = sleep_and_jump;
		return;
	}
	sleep_clock = clock_of_library();
	platform.now = clock_of_sleeps;
	platform.sleep = sleep_by_clock;
	platform.sleep_any = sleep_any_by_clock;
	if (sleep_mode == SLEEP_SHORT) {
		platform.sleep = sleep_shortly;
		platform.sleep_any = sleep_any_shortly;
	} else if (sleep_mode == SLEEP_UNTIL_WOKEN) {
		platform.sleep = sleep_until_woken;
		platform.sleep_any = sleep_any_until_woken;
	}
}

/*
 * Turns off spinning, unless an operation asks for it: stepping through thousands of rounds of a loop that only reads
 * shows nothing new.
 */
static void
disable_spinning(struct tsem *sem)
{
	STORE_RLX(&sem->spin, 0);
	STORE_RLX(&sem->spin_skipped, 1);
	STORE_RLX(&sem->last_try_look, 0);
}

static void
do_operation(struct executor *executor, const struct operation *operation)
{
	atomic_store(&executor->phase, PHASE_BEGIN);
	TRACEE_MARK();
	executor->result = operation->run(executor);
	executor->notified = !executor->elsewhere && tsem_hold_recovered(&executor->hold);
	atomic_store(&executor->phase, PHASE_END);
	TRACEE_MARK();
}

static _Noreturn void
finish(struct executor *executor, const struct operation *operation)
{
	executor->finish_result = operation->finish(executor);
	atomic_store(&executor->phase, PHASE_FINISHED);
	_exit(0);
}

/*
 * Runs the operation as `tsem run` does: vfork() suspends the parent until the child ends, and both see the hold in the
 * same memory.
 */
static void
execute_in_family(struct executor *executor, const struct operation *operation)
{
	const pid_t child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): vfork() is what this tests */
	if (child == 0) {
		if ((operation->flags & IS_CHILD) != 0) {
			do_operation(executor, operation);
			atomic_store(&executor->phase, PHASE_FINISHED);
		} else {
			tsem_adopt(&executor->hold);
		}
		_exit(0);
	}
	int status;
	waitpid(child, &status, 0);
	if ((operation->flags & IS_CHILD) == 0)
		return;
	executor->finish_result = tsem_reap(&executor->hold, 0);
	_exit(0);
}

void
executor_main(struct executor *executor, const struct operation *operation)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	choose_sleep_mode(executor->sleep_mode);
	disable_spinning(executor->sem);
	for (int i = 0; i < BESIDE; i++)
		disable_spinning(executor->beside[i]);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(EXIT_FAILURE);
	if (operation->prepare(executor) != 0) {
		atomic_store(&executor->phase, PHASE_NOT_APPLICABLE);
		_exit(0);
	}
	disable_spinning(executor->sem);
	if ((operation->flags & (IS_CHILD | IS_PARENT)) != 0) {
		TRACEE_MARK(); /* the driver sets PTRACE_O_TRACEVFORK here */
		execute_in_family(executor, operation);
	}
	do_operation(executor, operation);
	finish(executor, operation);
}

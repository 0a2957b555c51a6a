/* SPDX-License-Identifier: MIT */
/* The process that does an operation under the eyes of the driver. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handle.h"
#include "operation.h"
#include "platform.h"
#include "tracee.h"

#define SHORT_NAP (4 * NS_PER_MS)

static int (*sleep_of_library)(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until);

static int (*sleep_any_of_library)(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n,
                                   uint64_t until);

static int
sleep_any_shortly(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until)
{
	const uint64_t soon = platform.now() + SHORT_NAP;
	return sleep_any_of_library(words, expected, n, until < soon ? until : soon);
}

static int
sleep_any_until_woken(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until)
{
	(void)until;
	return sleep_any_of_library(words, expected, n, NS_FOREVER);
}

static int
sleep_shortly(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	const uint64_t soon = platform.now() + SHORT_NAP;
	return sleep_of_library(word, expected, bits, until < soon ? until : soon);
}

static int
sleep_until_woken(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	(void)until;
	return sleep_of_library(word, expected, bits, NS_FOREVER);
}

static uint64_t (*clock_of_library)(void);
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
choose_naps(enum naps naps)
{
	sleep_of_library = platform.sleep;
	sleep_any_of_library = platform.sleep_any;
	if (naps == NAPS_SHORT) {
		platform.sleep = sleep_shortly;
		platform.sleep_any = sleep_any_shortly;
	} else if (naps == NAPS_LONG) {
		platform.sleep = sleep_until_woken;
		platform.sleep_any = sleep_any_until_woken;
	}
	if (naps != NAPS_JUMP)
		return;
	clock_of_library = platform.now;
	platform.now = jumping_clock;
	platform.sleep = sleep_and_jump;
}

/* Stepping through thousands of rounds of a loop that only looks proves nothing: no spinning unless asked for. */
static void
forget_pace(struct tsem *sem)
{
	STORE_RLX(&sem->spin, 0);
	STORE_RLX(&sem->spin_skipped, 1);
	STORE_RLX(&sem->tried, 0);
}

static void
do_operation(struct actor *actor, const struct operation *operation)
{
	atomic_store(&actor->phase, PHASE_BEGIN);
	TRACEE_MARK();
	actor->result = operation->run(actor);
	actor->told = !actor->elsewhere && tsem_hold_recovered(&actor->hold);
	atomic_store(&actor->phase, PHASE_END);
	TRACEE_MARK();
}

static _Noreturn void
finish(struct actor *actor, const struct operation *operation)
{
	actor->finish_result = operation->finish(actor);
	atomic_store(&actor->phase, PHASE_FINISHED);
	_exit(0);
}

/* As `tsem run` does it: the parent stands still until the child ends, and the hold lies in memory of both. */
static void
live_as_family(struct actor *actor, const struct operation *operation)
{
	const pid_t child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): that is what is tested */
	if (child == 0) {
		if ((operation->flags & IS_CHILD) != 0) {
			do_operation(actor, operation);
			atomic_store(&actor->phase, PHASE_FINISHED);
		} else {
			tsem_adopt(&actor->hold);
		}
		_exit(0);
	}
	int status;
	waitpid(child, &status, 0);
	if ((operation->flags & IS_CHILD) == 0)
		return;
	actor->finish_result = tsem_reap(&actor->hold, 0);
	_exit(0);
}

void
actor_live(struct actor *actor, const struct operation *operation)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	choose_naps(actor->naps);
	forget_pace(actor->sem);
	for (int i = 0; i < BESIDE; i++)
		forget_pace(actor->beside[i]);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(EXIT_FAILURE);
	if (operation->prepare(actor) != 0) {
		atomic_store(&actor->phase, PHASE_NOT_APPLICABLE);
		_exit(0);
	}
	forget_pace(actor->sem);
	if ((operation->flags & (IS_CHILD | IS_PARENT)) != 0) {
		TRACEE_MARK(); /* the driver asks to be told of the child */
		live_as_family(actor, operation);
	}
	do_operation(actor, operation);
	finish(actor, operation);
}

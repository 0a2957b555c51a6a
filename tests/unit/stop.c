/* SPDX-License-Identifier: MIT */
#include "stop.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* ---- a child, at a system call ---- */

static const long unlink_numbers[] = {
#ifdef SYS_unlink
	SYS_unlink,
#endif
	SYS_unlinkat,
};
const struct calls unlink_calls = {unlink_numbers, LENGTH(unlink_numbers)};

static const long sleep_numbers[] = {
#ifdef SYS_nanosleep
	SYS_nanosleep,
#endif
#ifdef SYS_futex
	SYS_futex,
#endif
#ifdef SYS_futex_time64 /* 32-bit systems */
	SYS_futex_time64,    SYS_clock_nanosleep_time64,
#endif
#ifdef SYS_clock_nanosleep
	SYS_clock_nanosleep,
#endif
};
const struct calls sleep_calls = {sleep_numbers, LENGTH(sleep_numbers)};

static bool
is_among(uint64_t number, const struct calls *calls)
{
	for (size_t i = 0; i < calls->n; i++) {
		if ((uint64_t)calls->numbers[i] == number)
			return true;
	}
	return false;
}

bool
let_parent_stop(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0;
}

pid_t
start_stopped(int (*body)(void *arg), void *arg)
{
	int status;
	const pid_t pid = start_child(body, arg);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status))
		SKIP("ptrace is refused here");
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
	return pid;
}

unsigned
run_until(pid_t pid, const struct calls *calls, unsigned where)
{
	struct __ptrace_syscall_info info = {0};
	ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info);
	bool wanted = info.op == PTRACE_SYSCALL_INFO_ENTRY && is_among(info.entry.nr, calls);
	unsigned slept = 0;
	for (;;) {
		int status;
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			fail_msg("the child has ended before that call");
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) > 0);
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
			wanted = is_among(info.entry.nr, calls);
			slept += is_among(info.entry.nr, &sleep_calls);
		}
		if (wanted && info.op == where)
			return slept;
	}
}

void
detach(pid_t pid)
{
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
}

/* ---- this process, at a page of the segment ---- */

static void *interrupted_page;
static void (*interruption)(void); /* NULL: it has happened */

static void
on_fault(int signal_number)
{
	void (*action)(void) = interruption;
	interruption = NULL;
	if (action == NULL || mprotect(interrupted_page, PAGE_BYTES, PROT_READ | PROT_WRITE) != 0)
		_exit(128 + signal_number);
	action();
}

void
interrupt_at(void *page, int protection, void (*action)(void))
{
	const struct sigaction fault = {.sa_handler = on_fault};
	sigaction(SIGSEGV, &fault, NULL);
	interrupted_page = page;
	interruption = action;
	mprotect(page, PAGE_BYTES, protection);
}

bool
was_interrupted(void)
{
	return interruption == NULL;
}

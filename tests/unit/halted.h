/* SPDX-License-Identifier: MIT */
/* Children that are halted before or behind a system call, as SIGSTOP or SIGKILL may hit a process there. */
#ifndef TSEM_TESTS_HALTED_H
#define TSEM_TESTS_HALTED_H

#include "support.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Any of several calls that do the same; a machine has one of them or all. */
struct calls {
	const long *numbers;
	size_t n;
};

static const long unlink_numbers[] = {
#ifdef SYS_unlink
	SYS_unlink,
#endif
	SYS_unlinkat,
};
static const struct calls unlinking = {unlink_numbers, sizeof(unlink_numbers) / sizeof(unlink_numbers[0])};

static const long sleep_numbers[] = {
#ifdef SYS_nanosleep
	SYS_nanosleep,
#endif
#ifdef SYS_futex
	SYS_futex,
#endif
	SYS_clock_nanosleep,
};
static const struct calls sleeping = {sleep_numbers, sizeof(sleep_numbers) / sizeof(sleep_numbers[0])};

static inline bool
is_among(uint64_t number, const struct calls *calls)
{
	for (size_t i = 0; i < calls->n; i++) {
		if ((uint64_t)calls->numbers[i] == number)
			return true;
	}
	return false;
}

/* For the first line of a child's body: its parent halts it from here on. */
static inline bool
let_parent_halt(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0;
}

/* The first line of such a test, before it has anything that would leak. */
#define SKIP_UNDER_SANITIZER()                                 \
	do {                                                       \
		if (UNDER_SANITIZER)                                   \
			SKIP("a sanitizer makes system calls of its own"); \
	} while (0)

/* Starts such a child; skips the test where nothing may be traced. */
static inline pid_t
start_halted(int (*body)(void *arg), void *arg)
{
	int status;
	const pid_t pid = start_child(body, arg);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status))
		SKIP("ptrace is refused here");
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
	return pid;
}

enum { AT_ENTRY = PTRACE_SYSCALL_INFO_ENTRY, AT_EXIT = PTRACE_SYSCALL_INFO_EXIT };

/*
 * Lets the halted child go on to its next one of these calls: AT_ENTRY it has not been made, AT_EXIT it has. Returns how
 * often the child slept on the way.
 */
static inline unsigned
go_on_to(pid_t pid, const struct calls *calls, unsigned where)
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
			slept += is_among(info.entry.nr, &sleeping);
		}
		if (wanted && info.op == where)
			return slept;
	}
}

/* Not halted any more. */
static inline void
let_go(pid_t pid)
{
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
}

#endif

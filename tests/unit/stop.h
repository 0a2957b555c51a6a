/* SPDX-License-Identifier: MIT */
/*
 * Stopping the library in the middle of a function: a child at a system call, as SIGSTOP or SIGKILL may stop a process
 * there; or this process where it first touches a page of the segment.
 */
#ifndef TSEM_TESTS_STOP_H
#define TSEM_TESTS_STOP_H

#include "support.h"

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "layout.h"

/* ---- a child, at a system call ---- */

/* System calls with the same effect; a machine has one of them or several. */
struct calls {
	const long *numbers;
	size_t n;
};

extern const struct calls unlink_calls;
extern const struct calls sleep_calls;

enum { AT_ENTRY = PTRACE_SYSCALL_INFO_ENTRY, AT_EXIT = PTRACE_SYSCALL_INFO_EXIT };

/* The first line of a test that stops children, before it allocates anything that would leak. */
#define SKIP_UNDER_SANITIZER()                                 \
	do {                                                       \
		if (UNDER_SANITIZER)                                   \
			SKIP("a sanitizer makes system calls of its own"); \
	} while (0)

/* The first line of the child's body: the parent stops the child here. */
bool let_parent_stop(void);

/* Starts such a child. Skips the test where tracing is refused. */
pid_t start_stopped(int (*body)(void *arg), void *arg);

/*
 * Lets the stopped child run until it enters one of these calls (AT_ENTRY) or returns from it (AT_EXIT). Returns how
 * often the child slept meanwhile.
 */
unsigned run_until(pid_t pid, const struct calls *calls, unsigned where);

/* Lets the child run on its own. */
void detach(pid_t pid);

/* ---- this process, at a page of the segment ---- */

#define SKIP_WITHOUT_PAGE_FAULTS()                                                                \
	do {                                                                                          \
		if (UNDER_THREAD_SANITIZER || sysconf(_SC_PAGESIZE) != PAGE_BYTES)                        \
			SKIP("no interruption here: the thread sanitizer is on, or pages have another size"); \
	} while (0)

/*
 * Protects the page. The first access to it that `protection` forbids (PROT_NONE: any, PROT_READ: a write) calls
 * `action`, once, and then goes on. cmocka restores its own SIGSEGV handler after the test.
 */
void interrupt_at(void *page, int protection, void (*action)(void));

bool was_interrupted(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Stops the library where it first touches, or writes to, a page of the segment, in the middle of whatever it does: the
 * page is made inaccessible, and what others do then, or what can be seen there, happens in the handler of the fault.
 */
#ifndef TSEM_TESTS_INTERRUPT_H
#define TSEM_TESTS_INTERRUPT_H

#include "support.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layout.h"

static struct {
	void *page;
	void (*action)(void); /* NULL: it has happened */
} interruption;

static inline void
on_fault(int signal_number)
{
	void (*action)(void) = interruption.action;
	interruption.action = NULL;
	if (action == NULL || mprotect(interruption.page, PAGE_BYTES, PROT_READ | PROT_WRITE) != 0)
		_exit(128 + signal_number);
	action();
}

/* `protection`: PROT_NONE, or PROT_READ to stop only at a write. cmocka puts its own handler back after the test. */
static inline void
interrupt_at(void *page, int protection, void (*action)(void))
{
	const struct sigaction fault = {.sa_handler = on_fault};
	sigaction(SIGSEGV, &fault, NULL);
	interruption.page = page;
	interruption.action = action;
	mprotect(page, PAGE_BYTES, protection);
}

#define SKIP_IF_UNINTERRUPTED()                                                                   \
	do {                                                                                          \
		if (UNDER_THREAD_SANITIZER || sysconf(_SC_PAGESIZE) != PAGE_BYTES)                        \
			SKIP("no interruption here: the thread sanitizer is on, or pages have another size"); \
	} while (0)

#endif

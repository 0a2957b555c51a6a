/* SPDX-License-Identifier: MIT */
/* System calls of a traced process: which call it is at, what the call returns, and how to replace its result. */
#ifndef TSEM_TESTS_CRASH_COMMAND_CALLS_H
#define TSEM_TESTS_CRASH_COMMAND_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct call {
	long number;
	uint64_t args[6];
	bool is_exit; /* after the call; if false, before it */
	long result;
};

enum { CALL_ERRORS_MAX = 4, CALL_TEXT = 400 };

/* Whether this program can make calls fail on this processor. */
bool calls_may_fail(void);

/*
 * Reads the call at which the thread has stopped. At an exit, `number` and `args` are not changed. False: the thread
 * has been killed.
 */
bool call_look(pid_t thread, struct call *call);

/*
 * call_skip(): before the call; the call does nothing and returns ENOSYS. call_fail(): after the call; it returns
 * -error.
 */
void call_skip(pid_t thread);
void call_fail(pid_t thread, int error);

/* The errors that this call may return, and a 0 after the last one. */
const int *call_errors(const struct call *call);
bool call_may_fail(const struct call *call, int error);

/* Whether the call has no effect on other processes: it asks about the process itself, or changes its own memory. */
bool call_is_private(const struct call *call);

/* Whether the call opens a file without a name. */
bool call_opens_unnamed(const struct call *call);

/* Whether the call waits for standard input, possibly among others. */
bool call_reads_input(const struct call *call);

/* A short form of what strace prints. */
void call_to_text(pid_t thread, const struct call *call, char text[CALL_TEXT]);
const char *call_name(long number);

#endif

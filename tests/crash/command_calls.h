/* SPDX-License-Identifier: MIT */
/* System calls of a traced process: which one it is at, what it returns, and another result in place of the call. */
#ifndef TSEM_TESTS_CRASH_COMMAND_CALLS_H
#define TSEM_TESTS_CRASH_COMMAND_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct call {
	long number;
	uint64_t args[6];
	bool is_exit; /* behind the call, or else before it */
	long result;
};

enum { CALL_ERRORS_MAX = 4, CALL_TEXT = 400 };

/* Whether calls can be made to fail on this processor. */
bool calls_may_fail(void);

/* What the thread has stopped at. At an exit, `number` and `args` stay what they are. False: the thread has been killed. */
bool call_look(pid_t thread, struct call *call);

/* Before the call: it does nothing, and returns ENOSYS. Behind it: it returns -error. */
void call_skip(pid_t thread);
void call_fail(pid_t thread, int error);

/* The errors that this call may meet, a 0 behind the last one. */
const int *call_errors(const struct call *call);
bool call_may_fail(const struct call *call, int error);

/* Whether it only asks about the process itself, or arranges its own memory: others see no difference. */
bool call_is_private(const struct call *call);

/* Whether it opens a file without a name. */
bool call_opens_unnamed(const struct call *call);

/* Whether it waits for standard input, perhaps among others. */
bool call_reads_input(const struct call *call);

/* As strace prints it, in short. */
void call_to_text(pid_t thread, const struct call *call, char text[CALL_TEXT]);
const char *call_name(long number);

#endif

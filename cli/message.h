/* SPDX-License-Identifier: MIT */
/* What tsem says on stderr, and the exit statuses. */
#ifndef TSEM_CLI_MESSAGE_H
#define TSEM_CLI_MESSAGE_H

#include <stddef.h>

enum {
	EXIT_DONE = 0,
	EXIT_NOT_ACQUIRED = 75,
	EXIT_TSEM_FAILED = 125,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL_BASE = 128,
};

/*
 * Prints "tsem: NAME: ..." (without a name where it is NULL) as one line: unprintable bytes of what the user gave are
 * escaped. Returns EXIT_TSEM_FAILED, for `return complain(...)`.
 */
int complain(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a negative errno means to a user: what happened (what to do). */
const char *error_text(int error);

/* Explains a negative errno of the library about the semaphore `name`. Returns EXIT_TSEM_FAILED. */
int complain_error(const char *name, int error);

/*
 * Writes it to stderr, if that can be written to. If nobody reads it any more, that is no reason to die of SIGPIPE: who has
 * just taken a permit would take it along.
 */
void say(const char *bytes, size_t length);

/* Flushes stdout; an exit status that says so if what was printed could not be written. */
int close_stdout(const char *name, int status);

/* The same for what did something and printed about it. */
int close_stdout_after(const char *name);

/* Fails if stdout is closed: before anything is done whose result could then not be printed. */
int check_stdout(const char *name);

#endif

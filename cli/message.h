/* SPDX-License-Identifier: MIT */
/* Messages on stderr, checks of stdout, and the exit statuses. */
#ifndef TSEM_CLI_MESSAGE_H
#define TSEM_CLI_MESSAGE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum {
	EXIT_DONE = 0,
	EXIT_NOT_ACQUIRED = 75,
	EXIT_TSEM_FAILED = 125,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL_BASE = 128,
};

/*
 * Prints "tsem: NAME: ..." as one line, without "NAME: " if `name` is NULL. Unprintable bytes are escaped, because
 * names and commands may contain any.
 */
void complain(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Complains and exits with EXIT_TSEM_FAILED. */
_Noreturn void die(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * From now on, what complains and exits jumps there instead, so that the names after one that fails get their turn; NULL
 * ends this. Its memory and descriptors are lost.
 */
void message_jump_to(jmp_buf *next);

/* What die() does after its message. */
_Noreturn void end_in_failure(void);

/*
 * The text for a negative errno of the library: "what happened (what to do)". For a lack of permission it names the
 * owner of the semaphore `name`, which may be NULL. Valid until the next call.
 */
const char *error_text(const char *name, int error);

/* Of the semaphore's file. Returns false if there is none, or if `name` is NULL. */
bool owner_of(const char *name, struct stat *st);

/* The same two with error_text(). */
void complain_error(const char *name, int error);
_Noreturn void die_error(const char *name, int error);

/* Whether `error` of the library, a negative errno, means that only the owner of the semaphore and root may do that. */
bool is_for_owner(const char *name, int error);

/* The semaphore belongs to another user; only that user and root can do `what`. */
_Noreturn void die_of_owner(const char *name, const char *what);

/*
 * From now on, messages go to what standard error is now, whatever it becomes; after message_use_stderr(), to standard
 * error again.
 */
void message_keep_stderr(void);
void message_use_stderr(void);

/* Writes to stderr without dying of SIGPIPE: a process that has just taken a permit would take it along. */
void write_stderr(const char *bytes, size_t length);

/* Dies if stdout is closed. Called before an operation whose result could not be printed then. */
void require_stdout(const char *name);

/* Flushes stdout and dies if that fails. */
void flush_stdout(const char *name);

/* The same after an operation that changed the semaphore: the message says that the operation is done. */
void flush_result(const char *name);

#endif

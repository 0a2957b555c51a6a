/* SPDX-License-Identifier: MIT */
/* What a waiter prints on stderr: why it waits, its place in the queue, and for how long. */
#ifndef TSEM_CLI_WAITING_LINE_H
#define TSEM_CLI_WAITING_LINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "reason.h"
#include "tsem.h"

/* The semaphore that the line tells of, at one instant. Not known: it cannot be read. */
struct sight {
	bool known;
	struct tsem_stat stat;
	struct reason reason;
	uint32_t place; /* of this process in its queue, from 1; 0: not known. look() finds it then */
};

struct waiting_line;

/* Where the line looks. Either function finds the one of several semaphores to tell of, line->at. */
struct waiting_source {
	uint32_t every_ms; /* that a look is worth its cost */
	void (*look)(struct waiting_line *line, struct sight *sight);
	void (*look_back)(struct waiting_line *line, bool lacked, struct sight *sight); /* after the wait */
};

struct waiting_line {
	const struct waiting_source *source;
	size_t n;  /* semaphores, in the order of their names */
	size_t at; /* the one whose queue the process is in; with --any, the first */
	const struct options *o;
	bool idle; /* the wait is not for permits, but until one semaphore is idle */
	uint64_t began_ns;
	bool terminal;           /* that the line is shown on */
	bool printed;            /* at least once */
	bool on_screen;          /* now */
	uint32_t position;       /* that was printed last, or what stands for it */
	enum reason_kind reason; /* that was printed last */
	sigset_t mask;           /* the previous one */
};

/* Until waiting_line_finish(), Ctrl-Z takes effect at the next waiting_line_renew(). */
void waiting_line_begin(struct waiting_line *line, const struct waiting_source *source, size_t n,
                        const struct options *o, bool idle);

/* The time between two calls of waiting_line_renew(); 0: it need not be called. */
uint32_t waiting_line_every_ms(const struct waiting_line *line);

/* `position`: that of this process in its queue; 0: the source finds it. */
void waiting_line_renew(struct waiting_line *line, uint32_t position);

/*
 * Erases the line from a terminal. `error`: how the wait ended, 0 with an admission. If that is by its deadline or by a
 * cancellation, prints why, unless -q was given.
 */
void waiting_line_finish(struct waiting_line *line, int error);

/* Prints why a request was not granted: -EAGAIN if it has not waited. */
void waiting_line_explain(struct waiting_line *line, int error);

#endif

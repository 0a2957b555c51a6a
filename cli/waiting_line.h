/* SPDX-License-Identifier: MIT */
/* The line that says how a wait is going: place in the queue, who holds, for how long. */
#ifndef TSEM_CLI_WAITING_LINE_H
#define TSEM_CLI_WAITING_LINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "tsem.h"

struct waiting_line {
	tsem *const *sems; /* those that are named, in that order */
	size_t n;
	size_t at; /* the one that is waited for; of --any, the first */
	const struct options *o;
	uint64_t began_ns;
	bool terminal;
	bool told;         /* at all */
	bool shown;        /* it is on the screen now */
	uint32_t position; /* that was said last */
	sigset_t mask;     /* from before */
};

/* Until it is finished, a stop by Ctrl-Z waits for the next call of waiting_line_renew(). */
void waiting_line_begin(struct waiting_line *line, tsem *const sems[], size_t n, const struct options *o);

/* How often it wants to be renewed; 0: not at all. */
uint32_t waiting_line_every_ms(const struct waiting_line *line);

void waiting_line_renew(struct waiting_line *line, uint32_t position);

/* The wait is over: nothing stays on a terminal. */
void waiting_line_finish(struct waiting_line *line, bool admitted);

#endif

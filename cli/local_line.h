/* SPDX-License-Identifier: MIT */
/* The waiting line for semaphores of this machine. */
#ifndef TSEM_CLI_LOCAL_LINE_H
#define TSEM_CLI_LOCAL_LINE_H

#include "tsem.h"
#include "waiting_line.h"

struct local_line {
	struct waiting_line line;
	tsem *const *sems;     /* in the order of their names */
	bool looked;           /* whether the process waits for itself */
	bool looked_for_cycle; /* whether it waits for a process that waits for it */
};

/* As the functions of waiting_line.h. */
void local_line_begin(struct local_line *local, tsem *const sems[], size_t n, const struct options *o, bool idle);
void local_line_renew(struct local_line *local, uint32_t position);

/* Prints why a request was not granted that has not waited. */
void local_line_explain(const struct options *o, tsem *const sems[], size_t n, bool idle, int error);

#endif

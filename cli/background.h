/* SPDX-License-Identifier: MIT */
/* `run --bg`: a process of its own session waits, runs the command and writes the log. */
#ifndef TSEM_CLI_BACKGROUND_H
#define TSEM_CLI_BACKGROUND_H

#include "options.h"

/*
 * Starts the process, in which this function calls `run`, and exits with its status. In the caller's process it returns
 * as soon as that process has its place in the queue: the exit status.
 */
int background_start(const struct options *o, int (*run)(const struct options *o, char **command), char **command);

/* This process has its place in the queue, so the caller's process may go on. Does nothing without --bg. */
void background_handed_in(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Two processes, each of which holds all that the other one waits for. */
#ifndef TSEM_CLI_CYCLE_H
#define TSEM_CLI_CYCLE_H

#include "options.h"
#include "tsem.h"

/*
 * Prints one line if this process, which is in the queue of `wanted`, waits for a process that itself waits for a
 * semaphore that this process or an ancestor holds. Reads all semaphores, and the first waiters of those that are held
 * so. `name`: of `wanted`.
 */
void cycle_report(tsem *wanted, const char *name, const struct options *o);

#endif

/* SPDX-License-Identifier: MIT */
/* Says that a process waits for permits that it, or an ancestor of it, holds. */
#ifndef TSEM_CLI_SELF_WAIT_H
#define TSEM_CLI_SELF_WAIT_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "tsem.h"

/* The place of this process in the queue, from 1; 0: it has none. */
uint32_t find_place(tsem *sem);

/*
 * Prints one line if the process that waits, or is about to, waits for its own permits or for those of an ancestor.
 * With `acquire --owner`, the permits of that process and of its ancestors count, too. `queued`: it is in the queue of
 * at least one of the semaphores. False: it does not seem to have to wait, so nothing is known yet.
 */
bool self_wait_report(tsem *const sems[], size_t n, const struct options *o, bool queued);

/* The same for a process that waits until no process holds. */
void self_wait_report_idle(tsem *sem, const struct options *o);

#endif

/* SPDX-License-Identifier: MIT */
/* One semaphore as a table: a summary line, then holders and waiters. For `show`, and for `top` without a terminal. */
#ifndef TSEM_CLI_SHOW_TABLE_H
#define TSEM_CLI_SHOW_TABLE_H

#include "options.h"
#include "view/snapshot.h"

void show_table(const char *name, const struct view_options *o, const struct snapshot *snapshot);

/* Prints a semaphore as JSON or as a table, as the options say, and flushes. Dies of an error. */
void show(const struct options *o, const struct snapshot *snapshot);

#endif

/* SPDX-License-Identifier: MIT */
/* One semaphore as a table: a line that sums it up, then holders and waiters. For `show`, and for `top` without a screen. */
#ifndef TSEM_CLI_SHOW_TABLE_H
#define TSEM_CLI_SHOW_TABLE_H

#include "options.h"
#include "view/snapshot.h"

void show_table(const char *name, const struct view_options *o, const struct snapshot *snapshot);

/* Explains an error of opening a semaphore to look at it. */
_Noreturn void die_of_opening(const char *name, int error);

#endif

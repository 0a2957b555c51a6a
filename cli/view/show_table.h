/* SPDX-License-Identifier: MIT */
/* One semaphore as a table: a line that sums it up, then holders and waiters. For `show`, and for `top` without a screen. */
#ifndef TSEM_CLI_SHOW_TABLE_H
#define TSEM_CLI_SHOW_TABLE_H

#include "options.h"
#include "view/snapshot.h"

/* The exit status. */
int show_table(const struct options *o, const struct snapshot *snapshot);

int complain_about_absence(const char *name);

#endif

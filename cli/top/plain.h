/* SPDX-License-Identifier: MIT */
/* `tsem top` without a terminal: one table after the other. */
#ifndef TSEM_CLI_TOP_PLAIN_H
#define TSEM_CLI_TOP_PLAIN_H

#include "options.h"

/* Returns the exit status. */
int top_plain(const struct options *o);

#endif

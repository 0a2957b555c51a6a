/* SPDX-License-Identifier: MIT */
/* The view that explains the keys. */
#ifndef TSEM_CLI_TOP_DRAW_HELP_H
#define TSEM_CLI_TOP_DRAW_HELP_H

#include "top/top.h"

/* The number of lines that can be the first one on the screen. */
size_t help_positions(void);

void draw_help(struct top *top);

#endif

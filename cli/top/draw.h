/* SPDX-License-Identifier: MIT */
#ifndef TSEM_CLI_TOP_DRAW_H
#define TSEM_CLI_TOP_DRAW_H

#include "top/top.h"

/* Draws the whole screen. */
void top_draw(struct top *top);

#endif

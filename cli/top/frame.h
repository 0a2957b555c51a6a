/* SPDX-License-Identifier: MIT */
/* What the views of all semaphores and of one have in common: the title, the room below it, the colours. */
#ifndef TSEM_CLI_TOP_FRAME_H
#define TSEM_CLI_TOP_FRAME_H

#include "top/pen.h"
#include "top/top.h"

void draw_title(const struct top *top, const char *text);

/* The number of lines from `from` to the one above the last line of the screen. */
size_t room_for_list(int from);

enum ink ink_of(const struct tsem_stat *stat);

#endif

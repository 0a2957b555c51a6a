/* SPDX-License-Identifier: MIT */
/* What the views of all semaphores and of one have in common: the title, the room below it, the colours. */
#ifndef TSEM_CLI_TOP_FRAME_H
#define TSEM_CLI_TOP_FRAME_H

#include "top/pen.h"
#include "top/top.h"

void draw_title(const struct top *top, const char *text);

/* The number of lines from `from` to the one above the last line of the screen. */
size_t room_for_list(int from);

/* Whether the first column stays when the others scroll sideways. A wide one would leave them no room. */
bool first_column_stays(int width);

/* Ends a line of the list, and measures it. */
void finish_row(struct top *top, struct pen *pen);

/* Scrolls back if the list has become narrower. True: then it has to be drawn again. */
bool pull_back(struct top *top);

enum ink ink_of(const struct tsem_stat *stat);

#endif

/* SPDX-License-Identifier: MIT */
/* The parts of the screen: a title, what is shown of all semaphores or of one, and a last line. */
#ifndef TSEM_CLI_TOP_DRAW_H
#define TSEM_CLI_TOP_DRAW_H

#include "top/pen.h"
#include "top/top.h"

void draw_title(const struct top *top, const char *text);

/* Lines between the line `from` and the last one. */
size_t room_for_list(int from);

enum ink ink_of(const struct tsem_stat *stat);

void draw_all(struct top *top);
void draw_one(struct top *top);

#endif

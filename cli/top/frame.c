/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top/frame.h"

#include <ncurses.h>
#include <stdio.h>
#include <time.h>

enum ink
ink_of(const struct tsem_stat *stat)
{
	return stat->waiting > 0 ? INK_BAD : stat->available == 0 ? INK_BUSY : INK_GOOD;
}

void
draw_title(const struct top *top, const char *text)
{
	char line[512];
	char clock[16] = "";
	const time_t now = time(NULL);
	struct tm tm;
	if (localtime_r(&now, &tm) != NULL)
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(line, sizeof(line), "tsem top %s, every %.4g s: %s", clock, (double)top->delay_ns / 1e9, text);
	pen_line(0, INK_TITLE, line);
}

bool
first_column_stays(int width)
{
	return width <= COLS / 2;
}

void
finish_row(struct top *top, struct pen *pen)
{
	const int beyond = pen->x - COLS;
	top->beyond = beyond > top->beyond ? beyond : top->beyond;
	pen_finish(pen, INK_PLAIN);
}

bool
pull_back(struct top *top)
{
	if (top->beyond >= 0)
		return false;
	top->sideways += top->beyond;
	return true;
}

size_t
room_for_list(int from)
{
	return LINES - 1 > from ? (size_t)(LINES - 1 - from) : 0;
}

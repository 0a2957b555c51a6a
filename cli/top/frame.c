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

size_t
room_for_list(int from)
{
	return LINES - 1 > from ? (size_t)(LINES - 1 - from) : 0;
}

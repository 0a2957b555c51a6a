/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top/draw_help.h"

#include <ncurses.h>
#include <stdio.h>

#include "top/act.h"
#include "top/frame.h"

static const char *const keys[] = {
	"Up Down PgUp PgDn Home End   move",
	"Enter                        show one semaphore, with its holders and its queue",
	"Esc, Backspace, Left         show all semaphores",
	"s, i                         sort by the next column; invert the order",
	"/                            list only names, users or commands with a text",
	"z                            hide idle semaphores; show them again",
	"<, >                         scroll the columns sideways",
	"+, -                         refresh more often; less often",
	"Space                        refresh now",
};

enum { KEYS = sizeof(keys) / sizeof(keys[0]), HELP_FROM = 1 };

/* The keys above, the actions, and the end. */
static size_t
help_lines(void)
{
	size_t n = 0;
	while (actions[n].key != 0)
		n++;
	return KEYS + n + 1;
}

static void
help_line(size_t i, char text[128])
{
	if (i < KEYS)
		snprintf(text, 128, "%s", keys[i]);
	else if (i + 1 < help_lines())
		snprintf(text, 128, "%c                            %s", actions[i - KEYS].key, actions[i - KEYS].help);
	else
		snprintf(text, 128, "q                            quit");
}

size_t
help_positions(void)
{
	const size_t room = room_for_list(HELP_FROM);
	return help_lines() > room ? help_lines() - room + 1 : 1;
}

void
draw_help(struct top *top)
{
	const size_t last = help_positions() - 1;
	const size_t room = room_for_list(HELP_FROM);
	top->help_first = top->help_first < last ? top->help_first : last; /* the screen may have grown */
	draw_title(top, "keys");
	for (size_t i = 0; i < room && top->help_first + i < help_lines(); i++) {
		char text[128];
		help_line(top->help_first + i, text);
		pen_line(HELP_FROM + (int)i, INK_PLAIN, text);
	}
}

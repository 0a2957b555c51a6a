/* SPDX-License-Identifier: MIT */
#define NCURSES_NOMACROS
#include "view/color.h"

#include <ncurses.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

bool
is_colorful(void)
{
	const char *no_color = getenv("NO_COLOR");
	int found;
	if (isatty(STDOUT_FILENO) != 1 || (no_color != NULL && no_color[0] != '\0'))
		return false;
	/* curses may use the terminal of its screen, which must stay the current one. */
	TERMINAL *before = cur_term;
	const bool colorful = setupterm(NULL, STDOUT_FILENO, &found) == OK && tigetnum("colors") >= 8;
	if (cur_term != before)
		del_curterm(set_curterm(before));
	return colorful;
}

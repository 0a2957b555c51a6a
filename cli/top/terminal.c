/* SPDX-License-Identifier: MIT */
/* In a file of its own: term.h makes macros of words such as `lines` and `columns`. */
#include "top/terminal.h"

#include <curses.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

static bool
has(const char *capability)
{
	const char *text = tigetstr(capability);
	return text != NULL && text != (char *)-1;
}

bool
terminal_can_be_drawn_on(void)
{
	int error;
	const char *term = getenv("TERM");
	return term != NULL && term[0] != '\0' && setupterm(NULL, STDOUT_FILENO, &error) == OK && has("cup")
	       && has("clear");
}

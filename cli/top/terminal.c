/* SPDX-License-Identifier: MIT */
/* A file of its own, because term.h defines macros such as `lines` and `columns`. */
#include "top/terminal.h"

#include <curses.h>
#include <stdlib.h>
#include <string.h>
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

static char restoring[TERMINAL_RESTORING_MAX];
static size_t length;

static int
append(int byte)
{
	if (length < sizeof(restoring))
		restoring[length++] = (char)byte;
	return byte;
}

size_t
terminal_restoring(char text[TERMINAL_RESTORING_MAX])
{
	/* Attributes off, cursor visible, normal keys, former screen. */
	static const char *const capabilities[] = {"sgr0", "cnorm", "rmkx", "rmcup"};
	length = 0;
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
		if (has(capabilities[i]))
			tputs(tigetstr(capabilities[i]), 1, append);
	}
	if (!has("rmcup")) {
		append('\r');
		append('\n');
	}
	memcpy(text, restoring, length);
	return length;
}

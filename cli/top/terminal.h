/* SPDX-License-Identifier: MIT */
#ifndef TSEM_CLI_TOP_TERMINAL_H
#define TSEM_CLI_TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the terminal of stdout can place text anywhere, according to TERM and terminfo(5). */
bool terminal_can_be_drawn_on(void);

enum { TERMINAL_RESTORING_MAX = 256 };

/* The text that restores that terminal; valid after terminal_can_be_drawn_on(). Returns its length. */
size_t terminal_restoring(char text[TERMINAL_RESTORING_MAX]);

#endif

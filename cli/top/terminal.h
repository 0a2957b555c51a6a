/* SPDX-License-Identifier: MIT */
#ifndef TSEM_CLI_TOP_TERMINAL_H
#define TSEM_CLI_TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether text can be put anywhere on the terminal of stdout, as far as TERM and terminfo(5) say. */
bool terminal_can_be_drawn_on(void);

enum { TERMINAL_RESTORING_MAX = 256 };

/* What gives that terminal back when it is written there, after terminal_can_be_drawn_on(). Returns its length. */
size_t terminal_restoring(char text[TERMINAL_RESTORING_MAX]);

#endif

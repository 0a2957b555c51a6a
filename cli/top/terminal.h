/* SPDX-License-Identifier: MIT */
#ifndef TSEM_CLI_TOP_TERMINAL_H
#define TSEM_CLI_TOP_TERMINAL_H

#include <stdbool.h>

/* Whether text can be put anywhere on the terminal of stdout, as far as TERM and terminfo(5) say. */
bool terminal_can_be_drawn_on(void);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TSEM_CLI_COLOR_H
#define TSEM_CLI_COLOR_H

#include <stdbool.h>

/* Whether stdout is a terminal with colours according to terminfo(5), and NO_COLOR is not set. */
bool is_colorful(void);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TSEM_CLI_COLOR_H
#define TSEM_CLI_COLOR_H

#include <stdbool.h>

/* Standard output is a terminal that is known to have colours, and NO_COLOR is not set. */
bool is_colorful(void);

#endif

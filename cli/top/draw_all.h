/* SPDX-License-Identifier: MIT */
/* The view of all semaphores. */
#ifndef TSEM_CLI_TOP_DRAW_ALL_H
#define TSEM_CLI_TOP_DRAW_ALL_H

#include "top/top.h"

void draw_all(struct top *top);

#endif

/* SPDX-License-Identifier: MIT */
/* The view of one semaphore, its holders and its queue. */
#ifndef TSEM_CLI_TOP_DRAW_ONE_H
#define TSEM_CLI_TOP_DRAW_ONE_H

#include "top/top.h"

void draw_one(struct top *top);

#endif

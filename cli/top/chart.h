/* SPDX-License-Identifier: MIT */
/* Sparklines and bars as text: block characters in UTF-8, ASCII in other encodings. */
#ifndef TSEM_CLI_TOP_CHART_H
#define TSEM_CLI_TOP_CHART_H

#include <stddef.h>
#include <stdint.h>

enum { HISTORY_MAX = 120 };

/* The number of waiters at the last refreshes, the newest last. */
struct history {
	uint32_t waiting[HISTORY_MAX];
	size_t n;
};

void history_push(struct history *history, uint32_t waiting);

/* The newest `width` values, scaled so that the largest of them has full height. */
void sparkline(const struct history *history, size_t width, char *text);

/* Filled in proportion to `share`, from 0 to 1. */
void bar(double share, size_t width, char *text);

#endif

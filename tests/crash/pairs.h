/* SPDX-License-Identifier: MIT */
/* Which pairs of operations the sweep tries, and in which settings. */
#ifndef TSEM_TESTS_CRASH_PAIRS_H
#define TSEM_TESTS_CRASH_PAIRS_H

#include <stddef.h>

#include "operation.h"

struct setting {
	uint32_t capacity;
	uint32_t count;
	bool full;
	bool third;
};

enum { SETTINGS = 5, PAIRS_MAX = SETTINGS * 400 };

extern const struct setting settings[SETTINGS];

struct order; /* the order in which the points of an operation are tried */

struct pair {
	const struct operation *first;
	const struct operation *second;
	const struct setting *setting;
	struct order *first_order;
	struct order *second_order;
	bool not_applicable;
};

/* Collects all pairs, or only FIRST,SECOND. Returns their number. */
size_t pairs_collect(const char *only, struct pair pairs[PAIRS_MAX]);

#endif

/* SPDX-License-Identifier: MIT */
/* Who is tried with whom, and in which settings. */
#ifndef TSEM_TESTS_CRASH_COUPLES_H
#define TSEM_TESTS_CRASH_COUPLES_H

#include <stddef.h>

#include "operation.h"

struct setting {
	uint32_t capacity;
	uint32_t count;
	bool full;
	bool line;
};

enum { SETTINGS = 5, COUPLES_MAX = SETTINGS * 400 };

extern const struct setting settings[SETTINGS];

struct order; /* in which the steps of an operation are worth trying */

struct couple {
	const struct operation *first;
	const struct operation *second;
	const struct setting *setting;
	struct order *first_order;
	struct order *second_order;
	bool senseless;
};

/* All of them, or only FIRST,SECOND; how many. */
size_t couples_collect(const char *only, struct couple couples[COUPLES_MAX]);

#endif

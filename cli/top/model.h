/* SPDX-License-Identifier: MIT */
/* All semaphores as `tsem top` shows them, refreshed at each tick. */
#ifndef TSEM_CLI_TOP_MODEL_H
#define TSEM_CLI_TOP_MODEL_H

#include "columns.h"
#include "reason.h"
#include "top/chart.h"
#include "tsem.h"

enum { NAME_SIZE = 256 };

struct top_line {
	char name[NAME_SIZE];
	struct tsem_stat stat;
	struct reason reason;
	struct history history;
	double rate; /* permits requested per second since the last tick */
	double wait; /* mean seconds of the waits that ended since then; negative: none ended */
};

struct top_model {
	struct top_line *lines; /* by name */
	size_t n;
	uint64_t unreadable;
	uint64_t at_ns;
};

/* Reads all semaphores. Skips and counts the unreadable ones. 0, or a negative errno. */
int top_sample(struct top_model *model);

/* The share of the capacity that is held. More than 1 after the capacity was lowered. */
double share_of(const struct tsem_stat *stat);

void top_forget(struct top_model *model);

/* The text of a column, an empty one if there is no value. */
void top_to_cell(const struct top_line *line, enum top_column column, char *text);

#endif

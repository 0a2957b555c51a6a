/* SPDX-License-Identifier: MIT */
/* All semaphores over time: what `tsem top` shows, read anew at each tick. */
#ifndef TSEM_CLI_TOP_MODEL_H
#define TSEM_CLI_TOP_MODEL_H

#include "columns.h"
#include "top/chart.h"
#include "tsem.h"

enum { NAME_BYTES_MAX = 256 };

struct top_line {
	char name[NAME_BYTES_MAX];
	struct tsem_stat stat;
	struct history history;
	double rate; /* permits asked for per second, since the last tick */
	double wait; /* mean seconds of the waits that ended since then; negative: none did */
};

struct top_model {
	struct top_line *lines; /* by name */
	size_t n;
	size_t *order; /* of what is shown: indexes into lines */
	uint64_t unreadable;
	uint64_t at_ns;
};

/* Reads them all. What could not be read is counted, and passed over. 0, or a negative errno. */
int top_sample(struct top_model *model);

/* Sorts the order: names from A on, numbers from the largest on, or the other way round. */
void top_sort(struct top_model *model, enum top_column column, bool inverted);

/* What is held of the capacity; above 1 when it was lowered, or more was posted. */
double share_of(const struct tsem_stat *stat);

void top_forget(struct top_model *model);

/* The text of a column, an empty one for none. */
void top_to_cell(const struct top_line *line, enum top_column column, char *text);

#endif

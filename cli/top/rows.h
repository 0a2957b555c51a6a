/* SPDX-License-Identifier: MIT */
/* Which rows a list of `tsem top` has, and in which order. */
#ifndef TSEM_CLI_TOP_ROWS_H
#define TSEM_CLI_TOP_ROWS_H

#include "top/model.h"
#include "view/snapshot.h"

struct rows {
	size_t *order; /* indexes into the semaphores or processes that are listed */
	size_t n;
};

/* How all semaphores are listed. */
struct row_rules {
	enum top_column sort;
	bool inverted;
};

/* Makes room for `n` rows. 0, or -ENOMEM. */
int rows_reserve(struct rows *rows, size_t n);

/* Names ascending, numbers descending, or inverted. */
void rows_of_semaphores(struct rows *rows, const struct top_model *model, const struct row_rules *rules);

/* In the order of the snapshot. */
void rows_of_processes(struct rows *rows, const struct snapshot *snapshot);

void rows_free(struct rows *rows);

#endif

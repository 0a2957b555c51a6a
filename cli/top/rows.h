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

enum { FILTER_SIZE = 64 };

/* How all semaphores are listed. */
struct row_rules {
	enum top_column sort;
	bool inverted;
	bool busy_only;           /* leave out those that no process uses */
	char filter[FILTER_SIZE]; /* a part of the name, in either case */
};

/* Makes room for `n` rows. 0, or -ENOMEM. */
int rows_reserve(struct rows *rows, size_t n);

/* Names ascending, numbers descending, or inverted. */
void rows_of_semaphores(struct rows *rows, const struct top_model *model, const struct row_rules *rules);

/* In the order of the snapshot. `filter`: a part of the PID, the user or the command, in either case. */
void rows_of_processes(struct rows *rows, const struct snapshot *snapshot, const char *filter);

void rows_free(struct rows *rows);

#endif

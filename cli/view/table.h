/* SPDX-License-Identifier: MIT */
/* Tables by libsmartcols: columns by name, as lsipc does it. */
#ifndef TSEM_CLI_TABLE_H
#define TSEM_CLI_TABLE_H

#include <libsmartcols.h>

#include "columns.h"
#include "options.h"

struct table {
	struct libscols_table *scols;
	struct selection selection;
	bool filled[COLUMNS_MAX]; /* somebody has a value there */
	bool sparse;              /* columns that nobody fills may go */
};

/* The columns of -o, or the default ones. */
void table_init(struct table *table, const struct view_options *o, const struct columns *columns);

/*
 * Adds a line: to_cell(arg, column, text) writes the text of a column, an empty one for none. `color` is one that
 * terminal-colors.d(5) knows, or NULL. 0 or -ENOMEM.
 */
typedef void cell_fn(const void *arg, size_t column, char *text);
int table_add(struct table *table, cell_fn *to_cell, const void *arg, const char *color);

int table_print(struct table *table);

void table_free(struct table *table);

#endif

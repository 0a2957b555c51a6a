/* SPDX-License-Identifier: MIT */
/* Tables by libsmartcols, whose columns are chosen by name, as in lsipc(1). */
#ifndef TSEM_CLI_TABLE_H
#define TSEM_CLI_TABLE_H

#include <libsmartcols.h>

#include "columns.h"
#include "options.h"

struct table {
	struct libscols_table *scols;
	struct selection selection;
	bool filled[COLUMNS_MAX]; /* some row has a value in the column */
	bool sparse;              /* empty columns may be left out */
};

void table_init(struct table *table, const struct view_options *o, const struct columns *columns);

/*
 * Adds a row. to_cell(arg, column, text) writes the text of a column, an empty one if there is no value. `color` is a
 * name from terminal-colors.d(5), or NULL. 0, or -ENOMEM.
 */
typedef void cell_fn(const void *arg, size_t column, char *text);
int table_add(struct table *table, cell_fn *to_cell, const void *arg, const char *color);

int table_print(struct table *table);

void table_free(struct table *table);

#endif

/* SPDX-License-Identifier: MIT */
/* Tables by libsmartcols: columns by name, as lsipc does it. */
#ifndef TSEM_CLI_TABLE_H
#define TSEM_CLI_TABLE_H

#include <libsmartcols.h>

#include "options.h"

struct column {
	const char *name;
	double width_hint;
	int flags; /* SCOLS_FL_... */
	const char *help;
};

enum { COLUMNS_MAX = 16 };

struct table {
	struct libscols_table *scols;
	const struct column *columns; /* all there are */
	size_t n_columns;
	size_t shown[COLUMNS_MAX]; /* indexes into columns, in the order of the output */
	size_t n_shown;
};

/* The columns of -o, or the default ones, given as indexes. Returns -1 to go on, or an exit status. */
int table_init(struct table *table, const struct options *o, const struct column *columns, size_t n_columns,
               const size_t *defaults, size_t n_defaults);

/* Adds a line; cells[i] is the text of columns[i], NULL for none. Copies them. 0 or -ENOMEM. */
int table_add(struct table *table, const char *const *cells);

int table_print(struct table *table);

void table_free(struct table *table);

#endif

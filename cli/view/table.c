/* SPDX-License-Identifier: MIT */
#include "view/table.h"

#include <errno.h>
#include <unistd.h>

#include "message.h"
#include "view/color.h"
#include "view/describe.h"

static int
add_column(struct table *table, const struct column *column)
{
	const unsigned flags = column->flags;
	const int scols_flags =
		((flags & COLUMN_RIGHT) != 0 ? SCOLS_FL_RIGHT : 0) | ((flags & COLUMN_CUT) != 0 ? SCOLS_FL_TRUNC : 0);
	const double width = (flags & COLUMN_CUT) != 0 ? 0.1 : 1; /* of the terminal, or in characters */
	return scols_table_new_column(table->scols, column->name, width, scols_flags) == NULL ? -ENOMEM : 0;
}

void
table_init(struct table *table, const struct view_options *o, const struct columns *columns)
{
	*table = (struct table){.sparse = o->columns == NULL && !o->raw && !o->noheadings};
	columns_choose(&table->selection, columns, o->columns);
	table->scols = scols_new_table();
	if (table->scols == NULL)
		die_error(NULL, -ENOMEM);
	scols_table_enable_raw(table->scols, o->raw);
	scols_table_enable_noheadings(table->scols, o->noheadings);
	scols_table_enable_colors(table->scols, is_colorful());
	if (isatty(STDOUT_FILENO) != 1)
		scols_table_enable_maxout(table->scols, 0);
	for (size_t i = 0; i < table->selection.n; i++) {
		if (add_column(table, &columns->items[table->selection.shown[i]]) != 0)
			die_error(NULL, -ENOMEM);
	}
}

int
table_add(struct table *table, cell_fn *to_cell, const void *arg, const char *color)
{
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);
	if (line == NULL || (color != NULL && scols_line_set_color(line, color) != 0))
		return -ENOMEM;
	for (size_t i = 0; i < table->selection.n; i++) {
		char text[CELL_BYTES_MAX];
		to_cell(arg, table->selection.shown[i], text);
		if (text[0] == '\0')
			continue;
		table->filled[i] = true;
		if (scols_line_set_data(line, i, text) != 0)
			return -ENOMEM;
	}
	return 0;
}

static void
hide_empty_columns(struct table *table)
{
	for (size_t i = 0; i < table->selection.n; i++) {
		const struct column *column = &table->selection.columns->items[table->selection.shown[i]];
		if ((column->flags & COLUMN_SPARSE) != 0 && !table->filled[i])
			scols_column_set_flags(scols_table_get_column(table->scols, i), SCOLS_FL_HIDDEN);
	}
}

int
table_print(struct table *table)
{
	if (table->sparse)
		hide_empty_columns(table);
	return scols_print_table(table->scols) == 0 ? 0 : -EIO;
}

void
table_free(struct table *table)
{
	scols_unref_table(table->scols);
}

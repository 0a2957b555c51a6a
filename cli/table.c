/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "message.h"

static int
find_column(const struct table *table, const char *name, size_t length)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		if (strlen(table->columns[i].name) == length && strncasecmp(table->columns[i].name, name, length) == 0)
			return (int)i;
	}
	return -1;
}

static int
complain_about_column(const struct table *table, const char *name, size_t length)
{
	char all[256] = "";
	for (size_t i = 0; i < table->n_columns; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i == 0 ? "" : ",", table->columns[i].name);
	return complain(NULL, "unknown column '%.*s' (there are %s)", (int)length, name, all);
}

static int
choose_columns(struct table *table, const char *list)
{
	while (true) {
		const size_t length = strcspn(list, ",");
		const int found = find_column(table, list, length);
		if (found < 0)
			return complain_about_column(table, list, length);
		if (table->n_shown == COLUMNS_MAX)
			return complain(NULL, "too many columns (at most %d)", COLUMNS_MAX);
		table->shown[table->n_shown++] = (size_t)found;
		if (list[length] == '\0')
			return -1;
		list += length + 1;
	}
}

int
table_init(struct table *table, const struct options *o, const struct column *columns, size_t n_columns,
           const size_t *defaults, size_t n_defaults)
{
	*table = (struct table){.columns = columns, .n_columns = n_columns};
	if (o->columns != NULL) {
		int status = choose_columns(table, o->columns);
		if (status >= 0)
			return status;
	} else {
		memcpy(table->shown, defaults, n_defaults * sizeof(*defaults));
		table->n_shown = n_defaults;
	}

	table->scols = scols_new_table();
	if (table->scols == NULL)
		return complain_error(NULL, -ENOMEM);
	scols_table_enable_raw(table->scols, o->raw);
	scols_table_enable_noheadings(table->scols, o->noheadings);
	if (isatty(STDOUT_FILENO) != 1)
		scols_table_enable_maxout(table->scols, 0);
	for (size_t i = 0; i < table->n_shown; i++) {
		const struct column *column = &columns[table->shown[i]];
		if (scols_table_new_column(table->scols, column->name, column->width_hint, column->flags) == NULL)
			return complain_error(NULL, -ENOMEM);
	}
	return -1;
}

int
table_add(struct table *table, const char *const *cells)
{
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);
	if (line == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < table->n_shown; i++) {
		const char *text = cells[table->shown[i]];
		if (text != NULL && scols_line_set_data(line, i, text) != 0)
			return -ENOMEM;
	}
	return 0;
}

int
table_print(struct table *table)
{
	return scols_print_table(table->scols) == 0 ? 0 : -EIO;
}

void
table_free(struct table *table)
{
	scols_unref_table(table->scols);
}

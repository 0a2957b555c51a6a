/* SPDX-License-Identifier: MIT */
#include "top/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/describe.h"

int
rows_reserve(struct rows *rows, size_t n)
{
	size_t *order = realloc(rows->order, (n + 1) * sizeof(*order));
	if (order == NULL)
		return -ENOMEM;
	rows->order = order;
	return 0;
}

void
rows_free(struct rows *rows)
{
	free(rows->order);
	*rows = (struct rows){.n = 0};
}

/* ---- semaphores ---- */

static double
trend_of(const struct history *history)
{
	double sum = 0;
	for (size_t i = 0; i < history->n; i++)
		sum += history->waiting[i];
	return sum;
}

static double
value_of(const struct top_line *line, enum top_column column)
{
	switch (column) {
	case TOP_USE:
		return share_of(&line->stat);
	case TOP_HELD:
		return (double)line->stat.held;
	case TOP_CAPACITY:
		return line->stat.capacity;
	case TOP_WAITING:
		return line->stat.waiting;
	case TOP_RATE:
		return line->rate;
	case TOP_WAIT:
		return line->wait;
	case TOP_TREND:
		return trend_of(&line->history);
	case TOP_REASON:
		return line->reason.kind == REASON_NONE ? 0 : REASON_KINDS - (int)line->reason.kind;
	default:
		return 0;
	}
}

static bool
is_listed(const struct top_line *line, const struct row_rules *rules)
{
	const bool busy = line->stat.held > 0 || line->stat.waiting > 0;
	return (busy || !rules->busy_only) && strcasestr(line->name, rules->filter) != NULL;
}

struct sorting {
	const struct top_line *lines;
	const struct row_rules *rules;
};

/* Lines with equal values stay in the order of their names. */
static int
by_column(const void *a, const void *b, void *arg)
{
	const struct sorting *sorting = arg;
	const struct row_rules *rules = sorting->rules;
	const size_t i = *(const size_t *)a;
	const size_t j = *(const size_t *)b;
	const double x = value_of(&sorting->lines[i], rules->sort);
	const double y = value_of(&sorting->lines[j], rules->sort);
	const int by_value = (x < y) - (x > y);
	const int by_name = (i > j) - (i < j);
	if (rules->sort == TOP_NAME)
		return rules->inverted ? -by_name : by_name;
	if (by_value == 0)
		return by_name;
	return rules->inverted ? -by_value : by_value;
}

void
rows_of_semaphores(struct rows *rows, const struct top_model *model, const struct row_rules *rules)
{
	struct sorting sorting = {model->lines, rules};
	rows->n = 0;
	for (size_t i = 0; i < model->n; i++) {
		if (is_listed(&model->lines[i], rules))
			rows->order[rows->n++] = i;
	}
	qsort_r(rows->order, rows->n, sizeof(*rows->order), by_column, &sorting);
}

/* ---- processes ---- */

static bool
matches(const struct participant *participant, const char *filter)
{
	static const enum show_column searched[] = {SHOW_PID, SHOW_USER, SHOW_COMMAND};
	char text[CELL_BYTES_MAX];
	for (size_t i = 0; i < sizeof(searched) / sizeof(searched[0]); i++) {
		participant_to_cell(participant, searched[i], text);
		if (strcasestr(text, filter) != NULL)
			return true;
	}
	return false;
}

void
rows_of_processes(struct rows *rows, const struct snapshot *snapshot, const char *filter)
{
	rows->n = 0;
	for (size_t i = 0; i < snapshot->n; i++) {
		const struct participant participant = snapshot_participant(snapshot, i);
		if (filter[0] == '\0' || matches(&participant, filter))
			rows->order[rows->n++] = i;
	}
}

/* SPDX-License-Identifier: MIT */
#include "top/plain.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "message.h"
#include "monotonic.h"
#include "top/rows.h"
#include "view/describe.h"
#include "view/show_table.h"
#include "view/snapshot.h"
#include "view/table.h"

static void
to_cell(const void *arg, size_t column, char *text)
{
	top_to_cell(arg, (enum top_column)column, text);
}

static void
print_time(void)
{
	char now[32];
	time_to_text((int64_t)time(NULL), now);
	printf("%s\n", now);
}

static void
print_all(const struct options *o, struct top_model *model, struct rows *rows)
{
	const struct row_rules rules = {.sort = o->top.sort};
	struct table table;
	int rc = top_sample(model);
	if (rc == 0)
		rc = rows_reserve(rows, model->n);
	if (rc < 0)
		die_error(NULL, rc);
	table_init(&table, &o->view, &top_columns);
	print_time();
	rows_of_semaphores(rows, model, &rules);
	for (size_t i = 0; rc == 0 && i < rows->n; i++)
		rc = table_add(&table, to_cell, &model->lines[rows->order[i]], NULL);
	if (rc == 0)
		rc = table_print(&table);
	table_free(&table);
	if (rc < 0)
		die_error(NULL, rc);
}

/* The semaphore must exist at first. Later it may vanish and come back. */
static void
print_one(const struct options *o, bool first)
{
	struct snapshot snapshot = {.n = 0};
	int rc = snapshot_of(o->name, &snapshot);
	if (rc < 0 && (rc != -ENOENT || first))
		die_error(o->name, rc);
	print_time();
	if (rc == 0)
		show_table(o->name, &o->view, &snapshot);
	else
		printf("%s: no such semaphore\n", o->name);
	snapshot_free(&snapshot);
}

int
top_plain(const struct options *o)
{
	struct top_model model = {.n = 0};
	struct rows rows = {.n = 0};
	uint64_t due = monotonic_ns();
	for (uint32_t done = 0; o->top.iterations == 0 || done < o->top.iterations; done++) {
		if (done > 0) {
			due += o->top.delay_ns;
			const struct timespec until = to_timespec(due);
			while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
				continue;
			putchar('\n');
		}
		if (o->name != NULL)
			print_one(o, done == 0);
		else
			print_all(o, &model, &rows);
		flush_stdout(o->name);
	}
	top_forget(&model);
	rows_free(&rows);
	return EXIT_DONE;
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "describe.h"
#include "json.h"
#include "process.h"
#include "snapshot.h"
#include "statistics.h"
#include "table.h"
#include "view.h"

/* ---- as a table ---- */

static void
print_summary(const char *name, const struct tsem_stat *stat)
{
	printf("%s: %" PRIu32 " permit%s, %" PRIu64 " available, %" PRIu64 " held, %" PRIu32 " waiting", name,
	       stat->capacity, stat->capacity == 1 ? "" : "s", stat->available, stat->held, stat->waiting);
	if (stat->capacity != stat->permits)
		printf(" (created with %" PRIu32 ")", stat->permits);
	if (stat->max != 0)
		printf(", at most %" PRIu32 " by posting", stat->max);
	putchar('\n');
}

static void
print_statistics(const struct tsem_stat *stat)
{
	const struct wait_times times = wait_times_of(stat);
	printf("permits: %" PRIu64 " asked for, %" PRIu64 " recovered; %" PRIu64 " holds handed over\n", stat->ticket,
	       stat->recovered, stat->handed_over);
	printf("waits: %" PRIu64 " contended, %" PRIu64 " given up", stat->contended, stat->timeouts);
	if (times.waits > 0)
		printf("; of %" PRIu64 " that slept: mean %.6f s, p50 %.6f s, p95 %.6f s, p99 %.6f s, longest %.6f s",
		       times.waits, times.mean, times.p50, times.p95, times.p99, times.longest);
	putchar('\n');
}

static void
to_cell(const void *arg, size_t column, char *text)
{
	owner_to_cell(arg, (enum show_column)column, text);
}

static const char *
color_of(const struct tsem_owner *owner)
{
	return owner->alive == TSEM_DEAD ? "red" : process_is_stopped(owner) ? "yellow" : NULL;
}

static int
show_table(const struct options *o, const struct snapshot *snapshot)
{
	const struct tsem_stat *stat = &snapshot->stat;
	struct table table;
	int rc = 0;
	int status = table_init(&table, o, &show_columns);
	if (status >= 0)
		return status;
	for (size_t i = 0; rc == 0 && i < snapshot->n; i++)
		rc = table_add(&table, to_cell, &snapshot->owners[i], color_of(&snapshot->owners[i]));
	if (rc == 0 && o->columns == NULL && !o->raw && !o->noheadings)
		print_summary(o->name, stat);
	if (rc == 0 && o->stats)
		print_statistics(stat);
	if (rc == 0 && (stat->held > 0 || stat->waiting > 0))
		rc = table_print(&table);
	table_free(&table);
	return rc < 0 ? complain_error(o->name, rc) : EXIT_DONE;
}

/* ---- as JSON ---- */

static json_t *
histogram_to_json(const struct tsem_stat *stat)
{
	json_t *array = json_array();
	for (unsigned i = 0; i < TSEM_HISTOGRAM_BINS; i++) {
		if (stat->histogram[i] == 0)
			continue;
		json_array_append_new(
			array, json_pack("{s:f, s:I}", "below_seconds", bin_limit(i), "waits", (json_int_t)stat->histogram[i]));
	}
	return array;
}

static json_t *
statistics_to_json(const struct tsem_stat *stat)
{
	const struct wait_times times = wait_times_of(stat);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "permits_asked_for",
	                 (json_int_t)stat->ticket, "contended", (json_int_t)stat->contended, "recovered",
	                 (json_int_t)stat->recovered, "given_up", (json_int_t)stat->timeouts, "handed_over",
	                 (json_int_t)stat->handed_over, "slept", (json_int_t)times.waits, "wait_seconds",
	                 (double)stat->wait_total_ns / 1e9, "mean_wait_seconds", times.mean, "p50_wait_seconds", times.p50,
	                 "p95_wait_seconds", times.p95, "p99_wait_seconds", times.p99, "longest_wait_seconds",
	                 times.longest, "histogram", histogram_to_json(stat));
}

/* Those who hold, or those who wait. */
static json_t *
owners_to_json(const struct snapshot *snapshot, bool holders, const struct selection *keys)
{
	json_t *array = json_array();
	for (size_t i = 0; i < snapshot->n; i++) {
		const struct tsem_owner *owner = &snapshot->owners[i];
		if ((owner->position == 0) == holders && json_array_append_new(array, owner_to_json(owner, keys)) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static int
show_json(const struct options *o, const struct snapshot *snapshot)
{
	struct selection chosen;
	int status = columns_choose(&chosen, &show_columns, o->columns);
	if (status >= 0)
		return status;
	const struct selection *keys = o->columns == NULL ? NULL : &chosen;
	json_t *top = stat_to_json(o->name, &snapshot->stat, NULL);
	int rc = json_object_set_new(top, "holders", owners_to_json(snapshot, true, keys));
	if (rc == 0)
		rc = json_object_set_new(top, "waiters", owners_to_json(snapshot, false, keys));
	if (rc == 0 && o->stats)
		rc = json_object_set_new(top, "statistics", statistics_to_json(&snapshot->stat));
	if (rc == 0)
		return print_json(top) < 0 ? complain_error(o->name, -ENOMEM) : EXIT_DONE;
	json_decref(top);
	return complain_error(o->name, -ENOMEM);
}

int
cmd_show(const struct options *o)
{
	struct snapshot snapshot = {.n = 0};
	tsem *sem;
	int rc = open_for_viewing(o->name, &sem);
	if (rc == 0) {
		rc = snapshot_take(sem, &snapshot);
		tsem_close(sem);
	}
	int status;
	if (rc == -ENOENT)
		status = complain(o->name, "no such semaphore (see 'tsem list')");
	else if (rc < 0)
		status = complain_error(o->name, rc);
	else
		status = close_stdout(o->name, o->json ? show_json(o, &snapshot) : show_table(o, &snapshot));
	snapshot_free(&snapshot);
	return status;
}

/* SPDX-License-Identifier: MIT */
#include "view/show_table.h"

#include <inttypes.h>
#include <stdio.h>

#include "message.h"
#include "process.h"
#include "view/describe.h"
#include "view/show_json.h"
#include "view/statistics.h"
#include "view/table.h"

static void
print_summary(const char *name, const struct tsem_stat *stat, const struct reason *reason)
{
	char held[64];
	char why[REASON_BYTES_MAX];
	held_to_text(stat, reason, held);
	printf("%s: %" PRIu32 " permit%s, %" PRIu64 " available, %s, %" PRIu32 " waiting", name, stat->capacity,
	       stat->capacity == 1 ? "" : "s", stat->available, held, stat->waiting);
	if (stat->capacity != stat->permits)
		printf(" (created with %" PRIu32 ")", stat->permits);
	if (excess_of(stat) != 0)
		printf(", %" PRIu64 " posted in excess (see 'tsem set --exact %s')", excess_of(stat), name);
	if (stat->max != 0)
		printf(", at most %" PRIu32 " by posting", stat->max);
	reason_to_text(reason, stat, name, &reason_brief, why);
	printf("%s%s\n", why[0] != '\0' ? ": " : "", why);
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
	participant_to_cell(arg, (enum show_column)column, text);
}

static const char *
color_of(const struct tsem_owner *owner)
{
	return owner->alive == TSEM_DEAD ? "red" : process_is_stopped(owner) ? "yellow" : NULL;
}

static bool
has_summary(const struct view_options *o)
{
	return o->columns == NULL && !o->raw && !o->noheadings;
}

void
show_table(const char *name, const struct view_options *o, const struct snapshot *snapshot)
{
	const struct tsem_stat *stat = &snapshot->stat;
	struct table table;
	int rc = 0;
	table_init(&table, o, &show_columns);
	for (size_t i = 0; rc == 0 && i < snapshot->n; i++) {
		const struct participant participant = snapshot_participant(snapshot, i);
		rc = table_add(&table, to_cell, &participant, color_of(participant.owner));
	}
	if (rc == 0 && has_summary(o))
		print_summary(name, stat, &snapshot->reason);
	if (rc == 0 && o->stats)
		print_statistics(stat);
	if (rc == 0 && (stat->held > 0 || stat->waiting > 0))
		rc = table_print(&table);
	table_free(&table);
	if (rc < 0)
		die_error(name, rc);
}

void
show(const struct options *o, const struct snapshot *snapshot)
{
	const bool is_further = o->names_n > 0 && o->name != o->names[0];
	if (o->view.json) {
		show_json(o->name, &o->view, snapshot);
	} else {
		if (is_further && has_summary(&o->view))
			putchar('\n');
		show_table(o->name, &o->view, snapshot);
	}
	flush_stdout(o->name);
}

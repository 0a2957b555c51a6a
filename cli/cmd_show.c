/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>

#include "describe.h"
#include "process.h"
#include "table.h"
#include "view.h"

enum { STATE, POSITION, PID, USER, COUNT, TIME, ALIVE, COMMAND, OWNED, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[STATE] = {"STATE", 1, 0, "holds or waits"},
	[POSITION] = {"POSITION", 1, SCOLS_FL_RIGHT, "place in the queue, from 1"},
	[PID] = {"PID", 1, SCOLS_FL_RIGHT, "process"},
	[USER] = {"USER", 1, 0, "user that process runs as"},
	[COUNT] = {"COUNT", 1, SCOLS_FL_RIGHT, "permits held or waited for"},
	[TIME] = {"TIME", 1, SCOLS_FL_RIGHT, "for how long"},
	[ALIVE] = {"ALIVE", 1, 0, "yes, no, or unknown"},
	[COMMAND] = {"COMMAND", 0.5, SCOLS_FL_TRUNC, "command line of that process"},
	[OWNED] = {"OWNED", 1, 0, "no: waits to take, and will not be recorded as a holder"},
};

struct showing {
	const struct options *o;
	struct table *table;
	json_t *holders;
	json_t *waiters;
};

static void
user_to_text(uid_t uid, char text[40])
{
	const struct passwd *passwd = getpwuid(uid);
	if (passwd != NULL)
		snprintf(text, 40, "%s", passwd->pw_name);
	else
		snprintf(text, 40, "%u", (unsigned)uid);
}

static int
show_owner(const struct tsem_owner *owner, void *arg)
{
	const struct showing *showing = arg;
	if (showing->o->json) {
		json_t *json = owner_to_json(owner);
		json_t *array = owner->position == 0 ? showing->holders : showing->waiters;
		return json == NULL || json_array_append_new(array, json) != 0 ? -ENOMEM : 0;
	}

	char text[N_COLUMNS][40];
	char command[4096];
	const char *cells[N_COLUMNS];
	for (size_t i = 0; i < N_COLUMNS; i++)
		cells[i] = text[i];
	cells[STATE] = owner->position == 0 ? "holds" : "waits";
	snprintf(text[POSITION], sizeof(text[0]), "%u", owner->position);
	if (owner->position == 0)
		cells[POSITION] = NULL;
	snprintf(text[PID], sizeof(text[0]), "%d", (int)owner->pid);
	user_to_text(owner->uid, text[USER]);
	snprintf(text[COUNT], sizeof(text[0]), "%u", owner->count);
	duration_to_text(owner->elapsed_ns, text[TIME]);
	cells[ALIVE] = alive_to_text(owner->alive);
	cells[OWNED] = owner->owned ? "yes" : "no";
	owner_command(owner, command, sizeof(command));
	cells[COMMAND] = command;
	return table_add(showing->table, cells);
}

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
	const double mean = stat->contended == 0 ? 0 : (double)stat->wait_total_ns / (double)stat->contended / 1e9;
	printf("waits: %" PRIu64 " contended, mean %.6f s, longest %.6f s, %" PRIu64 " given up; %" PRIu64
	       " permits recovered; %" PRIu64 " holds handed over\n",
	       stat->contended, mean, (double)stat->wait_longest_ns / 1e9, stat->timeouts, stat->recovered,
	       stat->handed_over);
}

static int
show_table(tsem *sem, const struct options *o, const struct tsem_stat *stat)
{
	static const size_t defaults[] = {STATE, POSITION, PID, USER, COUNT, TIME, ALIVE, COMMAND};
	struct table table;
	struct showing showing = {.o = o, .table = &table};
	int status = table_init(&table, o, columns, N_COLUMNS, defaults, sizeof(defaults) / sizeof(defaults[0]));
	if (status >= 0)
		return status;
	int rc = tsem_owners(sem, show_owner, &showing);
	if (rc == 0 && o->columns == NULL && !o->raw && !o->noheadings)
		print_summary(o->name, stat);
	if (rc == 0 && o->stats)
		print_statistics(stat);
	if (rc == 0 && (stat->held > 0 || stat->waiting > 0))
		rc = table_print(&table);
	table_free(&table);
	return rc < 0 ? complain_error(o->name, rc) : EXIT_DONE;
}

static int
add_statistics(json_t *top, const struct tsem_stat *stat)
{
	json_t *statistics =
		json_pack("{s:I, s:I, s:I, s:I, s:f, s:f}", "contended", (json_int_t)stat->contended, "recovered",
	              (json_int_t)stat->recovered, "given_up", (json_int_t)stat->timeouts, "handed_over",
	              (json_int_t)stat->handed_over, "wait_seconds", (double)stat->wait_total_ns / 1e9,
	              "longest_wait_seconds", (double)stat->wait_longest_ns / 1e9);
	return json_object_set_new(top, "statistics", statistics);
}

static int
show_json(tsem *sem, const struct options *o, const struct tsem_stat *stat)
{
	struct showing showing = {.o = o, .holders = json_array(), .waiters = json_array()};
	json_t *top = stat_to_json(o->name, stat);
	int rc = top == NULL || json_object_set_new(top, "holders", showing.holders) != 0
	                 || json_object_set_new(top, "waiters", showing.waiters) != 0
	             ? -ENOMEM
	             : tsem_owners(sem, show_owner, &showing);
	if (rc == 0 && o->stats)
		rc = add_statistics(top, stat) == 0 ? 0 : -ENOMEM;
	if (rc == 0)
		return print_json(top) < 0 ? complain_error(o->name, -ENOMEM) : EXIT_DONE;
	json_decref(top);
	return complain_error(o->name, rc);
}

int
cmd_show(const struct options *o)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem *sem;
	int rc = open_for_viewing(o->name, &sem);
	if (rc == 0)
		rc = tsem_stat(sem, &stat);
	if (rc == -ENOENT)
		return complain(o->name, "no such semaphore (see 'tsem list')");
	if (rc < 0)
		return complain_error(o->name, rc);
	const int status = o->json ? show_json(sem, o, &stat) : show_table(sem, o, &stat);
	tsem_close(sem);
	return close_stdout(o->name, status);
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "message.h"
#include "view/describe.h"
#include "view/json.h"
#include "view/snapshot.h"
#include "view/table.h"
#include "view/verbs.h"

struct listing {
	json_t *json; /* NULL without -J */
	const struct selection *keys;
	struct table *table;
	bool has_reason; /* it costs a look at the holders */
};

struct listed {
	const char *name;
	const struct tsem_stat *stat;
	enum reason_kind reason;
};

static void
to_cell(const void *arg, size_t column, char *text)
{
	const struct listed *listed = arg;
	stat_to_cell(listed->name, listed->stat, listed->reason, (enum list_column)column, text);
}

static int
add_semaphore(struct listing *listing, const char *name, const struct tsem_stat *stat, enum reason_kind reason)
{
	const struct listed listed = {name, stat, reason};
	if (listing->json == NULL)
		return table_add(listing->table, to_cell, &listed, stat->waiting > 0 ? "yellow" : NULL);
	json_t *object = stat_to_json(name, stat, reason, listing->keys);
	return object == NULL || json_array_append_new(listing->json, object) != 0 ? -ENOMEM : 0;
}

/* Reports an unreadable file and continues: one bad file must not hide the others. */
static int
list_one(const char *name, void *arg)
{
	struct listing *listing = arg;
	struct tsem_stat stat = {.size = sizeof(stat)};
	struct reason reason = {.kind = REASON_NONE};
	tsem *sem;
	int rc = open_for_viewing(name, &sem);
	if (rc == -ENOENT || rc == -EIDRM) /* removed since */
		return 0;
	if (rc == 0) {
		rc = listing->has_reason ? reason_of(sem, 1, &stat, &reason) : tsem_stat(sem, &stat);
		tsem_close(sem);
	}
	if (rc == 0)
		return add_semaphore(listing, name, &stat, reason.kind);
	complain_error(name, rc);
	return 0;
}

static void
list_table(const struct view_options *o)
{
	struct table table;
	struct listing listing = {.table = &table};
	table_init(&table, o, &list_columns);
	listing.has_reason = selection_has(&table.selection, LIST_REASON);
	int rc = tsem_list(list_one, &listing);
	if (rc == 0)
		rc = table_print(&table);
	table_free(&table);
	if (rc < 0)
		die_error(NULL, rc);
}

static void
list_json(const struct view_options *o)
{
	struct selection keys;
	struct listing listing = {.keys = o->columns == NULL ? NULL : &keys};
	columns_choose(&keys, &list_columns, o->columns);
	listing.has_reason = o->columns == NULL || selection_has(&keys, LIST_REASON);
	listing.json = json_array();
	if (listing.json == NULL)
		die_error(NULL, -ENOMEM);
	int rc = tsem_list(list_one, &listing);
	json_t *top = json_pack("{s:o}", "semaphores", listing.json);
	if (rc == 0)
		rc = print_json(top);
	else
		json_decref(top);
	if (rc < 0)
		die_error(NULL, rc);
}

int
cmd_list(const struct options *o)
{
	require_stdout(o->name);
	if (o->view.json)
		list_json(&o->view);
	else
		list_table(&o->view);
	flush_stdout(NULL);
	return EXIT_DONE;
}

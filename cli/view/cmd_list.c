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

static void
to_cell(const void *arg, size_t column, char *text)
{
	semaphore_to_cell(arg, (enum list_column)column, text);
}

static int
add_semaphore(struct listing *listing, const struct semaphore *semaphore)
{
	if (listing->json == NULL)
		return table_add(listing->table, to_cell, semaphore, semaphore->stat->waiting > 0 ? "yellow" : NULL);
	json_t *object = semaphore_to_json(semaphore, listing->keys);
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
		return add_semaphore(listing, &(struct semaphore){name, &stat, &reason});
	complain_error(name, rc);
	return 0;
}

static bool
tells_reason(const struct selection *selection)
{
	return selection_has(selection, LIST_REASON) || selection_has(selection, LIST_WHY);
}

static void
list_table(const struct view_options *o)
{
	struct table table;
	struct listing listing = {.table = &table};
	table_init(&table, o, &list_columns);
	listing.has_reason = tells_reason(&table.selection);
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
	listing.has_reason = o->columns == NULL || tells_reason(&keys);
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

/* SPDX-License-Identifier: MIT */
#include "view/listing.h"

#include <errno.h>

#include "message.h"
#include "view/json.h"
#include "view/show_json.h"

static void
to_cell(const void *arg, size_t column, char *text)
{
	semaphore_to_cell(arg, (enum list_column)column, text);
}

static bool
tells_reason(const struct selection *selection)
{
	return selection_has(selection, LIST_REASON) || selection_has(selection, LIST_WHY);
}

void
listing_begin(struct listing *listing, const struct view_options *o)
{
	*listing = (struct listing){.chosen = o->columns != NULL, .stats = o->stats};
	if (o->stats && !o->json)
		die(NULL, "list prints statistics as JSON only (add -J, or see 'tsem show --stats')");
	if (!o->json) {
		table_init(&listing->table, o, &list_columns);
		listing->has_reason = tells_reason(&listing->table.selection);
		return;
	}
	columns_choose(&listing->keys, &list_columns, o->columns);
	listing->has_reason = !listing->chosen || tells_reason(&listing->keys);
	listing->json = json_array();
	if (listing->json == NULL)
		die_error(NULL, -ENOMEM);
}

int
listing_add(struct listing *listing, const struct semaphore *semaphore)
{
	if (listing->json == NULL)
		return table_add(&listing->table, to_cell, semaphore, semaphore->stat->waiting > 0 ? "yellow" : NULL);
	json_t *object = semaphore_to_json(semaphore, listing->chosen ? &listing->keys : NULL);
	if (listing->stats && json_object_set_new(object, "statistics", statistics_to_json(semaphore->stat)) != 0) {
		json_decref(object);
		return -ENOMEM;
	}
	return object == NULL || json_array_append_new(listing->json, object) != 0 ? -ENOMEM : 0;
}

void
listing_end(struct listing *listing, int error)
{
	if (listing->json == NULL) {
		if (error == 0)
			error = table_print(&listing->table);
		table_free(&listing->table);
	} else {
		json_t *top = json_pack("{s:o}", "semaphores", listing->json);
		if (error == 0)
			error = print_json(top);
		else
			json_decref(top);
	}
	if (error < 0)
		die_error(NULL, error);
}

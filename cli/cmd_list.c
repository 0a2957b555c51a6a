/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "describe.h"
#include "table.h"
#include "view.h"

enum { NAME, PERMITS, CAPACITY, MAX, AVAILABLE, HELD, WAITING, MODE, OWNER, CREATED, UUID, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[NAME] = {"NAME", 0.1, 0, "name of the semaphore"},
	[PERMITS] = {"PERMITS", 1, SCOLS_FL_RIGHT, "its creator's number of permits"},
	[CAPACITY] = {"CAPACITY", 1, SCOLS_FL_RIGHT, "permits that exist now"},
	[MAX] = {"MAX", 1, SCOLS_FL_RIGHT, "what posting may raise AVAILABLE to"},
	[AVAILABLE] = {"AVAILABLE", 1, SCOLS_FL_RIGHT, "permits nobody has"},
	[HELD] = {"HELD", 1, SCOLS_FL_RIGHT, "permits taken or held"},
	[WAITING] = {"WAITING", 1, SCOLS_FL_RIGHT, "waiters in line"},
	[MODE] = {"MODE", 1, SCOLS_FL_RIGHT, "permissions, octal"},
	[OWNER] = {"UID", 1, SCOLS_FL_RIGHT, "user it belongs to"},
	[CREATED] = {"CREATED", 1, 0, "time of creation"},
	[UUID] = {"UUID", 1, 0, "tells it from others of the same name"},
};

struct listing {
	json_t *json; /* of -J, else NULL */
	struct table *table;
};

static int
add_line(struct table *table, const char *name, const struct tsem_stat *stat)
{
	char text[N_COLUMNS][40];
	const char *cells[N_COLUMNS];
	for (size_t i = 0; i < N_COLUMNS; i++)
		cells[i] = text[i];
	cells[NAME] = name;
	snprintf(text[PERMITS], sizeof(text[0]), "%" PRIu32, stat->permits);
	snprintf(text[CAPACITY], sizeof(text[0]), "%" PRIu32, stat->capacity);
	snprintf(text[MAX], sizeof(text[0]), "%" PRIu32, stat->max);
	snprintf(text[AVAILABLE], sizeof(text[0]), "%" PRIu64, stat->available);
	snprintf(text[HELD], sizeof(text[0]), "%" PRIu64, stat->held);
	snprintf(text[WAITING], sizeof(text[0]), "%" PRIu32, stat->waiting);
	snprintf(text[MODE], sizeof(text[0]), "%04o", (unsigned)stat->mode);
	snprintf(text[OWNER], sizeof(text[0]), "%u", (unsigned)stat->uid);
	time_to_text(stat->created, text[CREATED]);
	uuid_to_text(stat->uuid, text[UUID]);
	return table_add(table, cells);
}

/* What cannot be read is mentioned and passed over: one bad file must not hide the others. */
static int
list_one(const char *name, void *arg)
{
	struct listing *listing = arg;
	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem *sem;
	int rc = open_for_viewing(name, &sem);
	if (rc == -ENOENT) /* removed since */
		return 0;
	if (rc == 0) {
		rc = tsem_stat(sem, &stat);
		tsem_close(sem);
	}
	if (rc < 0) {
		complain_error(name, rc);
		return 0;
	}
	if (listing->json == NULL)
		return add_line(listing->table, name, &stat);
	json_t *object = stat_to_json(name, &stat);
	return object == NULL || json_array_append_new(listing->json, object) != 0 ? -ENOMEM : 0;
}

static int
list_table(const struct options *o)
{
	static const size_t defaults[] = {NAME, PERMITS, AVAILABLE, HELD, WAITING, MODE, OWNER, CREATED};
	struct table table;
	struct listing listing = {.table = &table};
	int status = table_init(&table, o, columns, N_COLUMNS, defaults, sizeof(defaults) / sizeof(defaults[0]));
	if (status >= 0)
		return status;
	int rc = tsem_list(list_one, &listing);
	if (rc == 0)
		rc = table_print(&table);
	table_free(&table);
	return rc < 0 ? complain_error(NULL, rc) : EXIT_DONE;
}

static int
list_json(void)
{
	struct listing listing = {.json = json_array()};
	if (listing.json == NULL)
		return complain_error(NULL, -ENOMEM);
	int rc = tsem_list(list_one, &listing);
	json_t *top = json_pack("{s:o}", "semaphores", listing.json);
	if (rc == 0)
		rc = print_json(top);
	else
		json_decref(top);
	return rc < 0 ? complain_error(NULL, rc) : EXIT_DONE;
}

int
cmd_list(const struct options *o)
{
	return close_stdout(NULL, o->json ? list_json() : list_table(o));
}

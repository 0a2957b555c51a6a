/* SPDX-License-Identifier: MIT */
#include "columns.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "message.h"

#define RIGHT COLUMN_RIGHT
#define CUT COLUMN_CUT
#define DEFAULT COLUMN_DEFAULT
#define SPARSE (COLUMN_DEFAULT | COLUMN_SPARSE)

static const struct column of_show[SHOW_COLUMNS] = {
	[SHOW_STATE] = {"STATE", "state", DEFAULT, "holds or waits"},
	[SHOW_POSITION] = {"POSITION", "position", SPARSE | RIGHT, "place in the queue, from 1"},
	[SHOW_PID] = {"PID", "pid", DEFAULT | RIGHT, "process, by the number that it has here; -: not known"},
	[SHOW_NSPID] = {"NSPID", "nspid", SPARSE | RIGHT, "its number in its own container"},
	[SHOW_PIDNS] = {"PIDNS", "pidns", RIGHT, "PID namespace of NSPID, as lsns(8) and --pid-ns number them"},
	[SHOW_HOST] = {"HOST", "host", SPARSE, "machine of a holder or waiter of a semaphore on etcd"},
	[SHOW_USER] = {"USER", "user", DEFAULT, "user that the process runs as"},
	[SHOW_UID] = {"UID", "uid", RIGHT, "the same as a number"},
	[SHOW_COUNT] = {"COUNT", "count", DEFAULT | RIGHT, "permits held or waited for"},
	[SHOW_SLOT] = {"SLOT", "slot", SPARSE | RIGHT, "number of the holder, from 0, distinct among holders"},
	[SHOW_SLOTS] = {"SLOTS", "slots", 0, "all slots of a holder of several permits"},
	[SHOW_FENCE] = {"FENCE", "fence", RIGHT, "on etcd: a number that rises with each admission"},
	[SHOW_TIME] = {"TIME", "seconds", DEFAULT | RIGHT, "time since it began to hold or wait"},
	[SHOW_DEADLINE] = {"DEADLINE", "deadline", SPARSE | RIGHT, "time until it stops waiting"},
	[SHOW_ALIVE] = {"ALIVE", "alive", DEFAULT, "yes, stopped, no, or unknown"},
	[SHOW_STOPPED] = {"STOPPED", "stopped", 0, "yes if the process is stopped, as by Ctrl-Z"},
	[SHOW_OWNED] = {"OWNED", "owned", 0, "no: the waiter takes, without being recorded as a holder"},
	[SHOW_FOREIGN] = {"FOREIGN", "foreign", 0, "yes if it lives in another container (PID namespace)"},
	[SHOW_TICKET] = {"TICKET", "ticket", RIGHT, "number that it drew on arrival"},
	[SHOW_COMMAND] = {"COMMAND", "command", DEFAULT | CUT, "command line of the process"},
};

static const struct column of_list[LIST_COLUMNS] = {
	[LIST_NAME] = {"NAME", "name", DEFAULT, "name of the semaphore"},
	[LIST_PERMITS] = {"PERMITS", "permits", RIGHT, "number of permits at creation, which run -j accepts"},
	[LIST_CAPACITY] = {"CAPACITY", "capacity", DEFAULT | RIGHT, "number of permits now"},
	[LIST_MAX] = {"MAX", "max", RIGHT, "limit of AVAILABLE for posts; 0: none"},
	[LIST_BOUNDED] = {"BOUNDED", "bounded", 0, "yes: posts only give back what was taken"},
	[LIST_AVAILABLE] = {"AVAILABLE", "available", DEFAULT | RIGHT, "permits that are free"},
	[LIST_EXCESS] = {"EXCESS", "excess", SPARSE | RIGHT, "permits posted beyond those taken"},
	[LIST_HELD] = {"HELD", "held", DEFAULT | RIGHT, "permits taken or held"},
	[LIST_WAITING] = {"WAITING", "waiting", DEFAULT | RIGHT, "number of waiters"},
	[LIST_REASON] = {"REASON", "reason", DEFAULT, "why a request has to wait, in one word"},
	[LIST_WHY] = {"WHY", "why", CUT, "the same as a part of a sentence"},
	[LIST_TICKET] = {"TICKET", "ticket", RIGHT, "permits requested since creation"},
	[LIST_GRANT] = {"GRANT", "grant", RIGHT, "permits given back or posted since creation"},
	[LIST_MODE] = {"MODE", "mode", RIGHT, "permissions, octal"},
	[LIST_USER] = {"USER", "user", DEFAULT, "owner"},
	[LIST_UID] = {"UID", "uid", RIGHT, "the same as a number"},
	[LIST_GROUP] = {"GROUP", "group", 0, "group"},
	[LIST_GID] = {"GID", "gid", RIGHT, "the same as a number"},
	[LIST_CREATED] = {"CREATED", "created", 0, "time of creation"},
	[LIST_UUID] = {"UUID", "uuid", 0, "distinguishes it from others of the same name"},
};

static const struct column of_top[TOP_COLUMNS] = {
	[TOP_NAME] = {"NAME", "name", DEFAULT, "name of the semaphore"},
	[TOP_USE] = {"USE", "use", DEFAULT | RIGHT, "share of the capacity that is taken or held"},
	[TOP_HELD] = {"HELD", "held", DEFAULT | RIGHT, "permits taken or held"},
	[TOP_CAPACITY] = {"CAPACITY", "capacity", DEFAULT | RIGHT, "number of permits now, + those posted in excess"},
	[TOP_WAITING] = {"WAITING", "waiting", DEFAULT | RIGHT, "number of waiters"},
	[TOP_RATE] = {"RATE", "rate", DEFAULT | RIGHT, "permits requested per second since the last refresh"},
	[TOP_WAIT] = {"WAIT", "wait", DEFAULT | RIGHT, "mean duration of the waits that ended since then"},
	[TOP_TREND] = {"TREND", "trend", DEFAULT, "number of waiters at the last refreshes, newest at the right"},
	[TOP_REASON] = {"REASON", "reason", SPARSE, "why the first waiter has to wait, in one word"},
};

const struct columns show_columns = {of_show, SHOW_COLUMNS};
const struct columns list_columns = {of_list, LIST_COLUMNS};
const struct columns top_columns = {of_top, TOP_COLUMNS};

static size_t
find_column(const struct columns *columns, const char *name, size_t length)
{
	char all[256] = "";
	for (size_t i = 0; i < columns->n; i++) {
		if (strlen(columns->items[i].name) == length && strncasecmp(columns->items[i].name, name, length) == 0)
			return i;
	}
	for (size_t i = 0; i < columns->n; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i == 0 ? "" : ",", columns->items[i].name);
	die(NULL, "unknown column '%.*s' (the columns are %s)", (int)length, name, all);
}

size_t
columns_find(const struct columns *columns, const char *name)
{
	return find_column(columns, name, strlen(name));
}

void
columns_choose(struct selection *selection, const struct columns *columns, const char *list)
{
	*selection = (struct selection){.columns = columns};
	if (list == NULL) {
		for (size_t i = 0; i < columns->n; i++) {
			if ((columns->items[i].flags & COLUMN_DEFAULT) != 0)
				selection->shown[selection->n++] = i;
		}
		return;
	}
	while (true) {
		const size_t length = strcspn(list, ",");
		const size_t found = find_column(columns, list, length);
		if (selection->n == COLUMNS_MAX)
			die(NULL, "too many columns (name at most %d)", COLUMNS_MAX);
		selection->shown[selection->n++] = found;
		if (list[length] == '\0')
			return;
		list += length + 1;
	}
}

bool
selection_has(const struct selection *selection, size_t column)
{
	size_t i = 0;
	while (i < selection->n && selection->shown[i] != column)
		i++;
	return i < selection->n;
}

void
columns_print_help(const struct columns *columns)
{
	printf("\nColumns (* printed by default):\n");
	for (size_t i = 0; i < columns->n; i++) {
		const struct column *column = &columns->items[i];
		printf(" %c%-10s %s\n", (column->flags & COLUMN_DEFAULT) != 0 ? '*' : ' ', column->name, column->help);
	}
}

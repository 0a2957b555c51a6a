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
	[SHOW_PID] = {"PID", "pid", DEFAULT | RIGHT, "process"},
	[SHOW_USER] = {"USER", "user", DEFAULT, "user that process runs as"},
	[SHOW_UID] = {"UID", "uid", RIGHT, "the same as a number"},
	[SHOW_COUNT] = {"COUNT", "count", DEFAULT | RIGHT, "permits held or waited for"},
	[SHOW_SLOT] = {"SLOT", "slot", SPARSE | RIGHT, "number of the holder, from 0, that no other holder has"},
	[SHOW_SLOTS] = {"SLOTS", "slots", 0, "all such numbers of a holder of several permits"},
	[SHOW_TIME] = {"TIME", "seconds", DEFAULT | RIGHT, "for how long it has held or waited"},
	[SHOW_DEADLINE] = {"DEADLINE", "deadline", SPARSE | RIGHT, "time after which it stops waiting"},
	[SHOW_ALIVE] = {"ALIVE", "alive", DEFAULT, "yes, stopped, no, or unknown"},
	[SHOW_STOPPED] = {"STOPPED", "stopped", 0, "yes if that process is stopped, as by Ctrl-Z"},
	[SHOW_OWNED] = {"OWNED", "owned", 0, "no: waits to take, and will not be recorded as a holder"},
	[SHOW_TICKET] = {"TICKET", "ticket", RIGHT, "number that it drew at its arrival"},
	[SHOW_COMMAND] = {"COMMAND", "command", DEFAULT | CUT, "command line of that process"},
};

static const struct column of_list[LIST_COLUMNS] = {
	[LIST_NAME] = {"NAME", "name", DEFAULT | CUT, "name of the semaphore"},
	[LIST_PERMITS] = {"PERMITS", "permits", DEFAULT | RIGHT, "its creator's number of permits"},
	[LIST_CAPACITY] = {"CAPACITY", "capacity", RIGHT, "permits that exist now"},
	[LIST_MAX] = {"MAX", "max", RIGHT, "what posting may raise AVAILABLE to; 0: no maximum"},
	[LIST_AVAILABLE] = {"AVAILABLE", "available", DEFAULT | RIGHT, "permits nobody has"},
	[LIST_HELD] = {"HELD", "held", DEFAULT | RIGHT, "permits taken or held"},
	[LIST_WAITING] = {"WAITING", "waiting", DEFAULT | RIGHT, "waiters in line"},
	[LIST_TICKET] = {"TICKET", "ticket", RIGHT, "permits that were asked for since it was created"},
	[LIST_GRANT] = {"GRANT", "grant", RIGHT, "permits that were given back or posted"},
	[LIST_MODE] = {"MODE", "mode", DEFAULT | RIGHT, "permissions, octal"},
	[LIST_USER] = {"USER", "user", DEFAULT, "user it belongs to"},
	[LIST_UID] = {"UID", "uid", RIGHT, "the same as a number"},
	[LIST_CREATED] = {"CREATED", "created", DEFAULT, "time of creation"},
	[LIST_UUID] = {"UUID", "uuid", 0, "tells it from others of the same name"},
};

static const struct column of_top[TOP_COLUMNS] = {
	[TOP_NAME] = {"NAME", "name", DEFAULT | CUT, "name of the semaphore"},
	[TOP_USE] = {"USE", "use", DEFAULT | RIGHT, "share of the capacity that is held or taken"},
	[TOP_HELD] = {"HELD", "held", DEFAULT | RIGHT, "permits taken or held"},
	[TOP_CAPACITY] = {"CAPACITY", "capacity", DEFAULT | RIGHT, "permits that exist now"},
	[TOP_WAITING] = {"WAITING", "waiting", DEFAULT | RIGHT, "waiters in line"},
	[TOP_RATE] = {"RATE", "rate", DEFAULT | RIGHT, "permits asked for per second, since the last look"},
	[TOP_WAIT] = {"WAIT", "wait", DEFAULT | RIGHT, "how long those waited, on average, whose wait ended since then"},
	[TOP_TREND] = {"TREND", "trend", DEFAULT, "how many waited at the last looks, the newest at the right"},
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
	die(NULL, "unknown column '%.*s' (there are %s)", (int)length, name, all);
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

void
columns_print_help(const struct columns *columns)
{
	printf("\nColumns (* printed by default):\n");
	for (size_t i = 0; i < columns->n; i++) {
		const struct column *column = &columns->items[i];
		printf(" %c%-10s %s\n", (column->flags & COLUMN_DEFAULT) != 0 ? '*' : ' ', column->name, column->help);
	}
}

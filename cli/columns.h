/* SPDX-License-Identifier: MIT */
/* The columns of the verbs that print tables. One table per verb serves printing, -o, JSON and the help. */
#ifndef TSEM_CLI_COLUMNS_H
#define TSEM_CLI_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

enum column_flags {
	COLUMN_RIGHT = 1,   /* numbers */
	COLUMN_CUT = 2,     /* cut at the width of the terminal */
	COLUMN_DEFAULT = 4, /* printed without -o */
	COLUMN_SPARSE = 8,  /* left out by default if no row has a value */
};

struct column {
	const char *name;
	const char *key; /* in JSON */
	unsigned flags;
	const char *help;
};

struct columns {
	const struct column *items;
	size_t n;
};

enum show_column {
	SHOW_STATE,
	SHOW_POSITION,
	SHOW_PID,
	SHOW_NSPID,
	SHOW_PIDNS,
	SHOW_HOST,
	SHOW_USER,
	SHOW_UID,
	SHOW_COUNT,
	SHOW_SLOT,
	SHOW_SLOTS,
	SHOW_FENCE,
	SHOW_TIME,
	SHOW_DEADLINE,
	SHOW_ALIVE,
	SHOW_STOPPED,
	SHOW_OWNED,
	SHOW_FOREIGN,
	SHOW_TICKET,
	SHOW_COMMAND,
	SHOW_COLUMNS
};

enum list_column {
	LIST_NAME,
	LIST_PERMITS,
	LIST_CAPACITY,
	LIST_MAX,
	LIST_BOUNDED,
	LIST_AVAILABLE,
	LIST_EXCESS,
	LIST_HELD,
	LIST_WAITING,
	LIST_REASON,
	LIST_WHY,
	LIST_TICKET,
	LIST_GRANT,
	LIST_MODE,
	LIST_USER,
	LIST_UID,
	LIST_GROUP,
	LIST_GID,
	LIST_CREATED,
	LIST_UUID,
	LIST_COLUMNS
};

/* The last one is for tables only: the screen has a sentence instead. */
enum top_column {
	TOP_NAME,
	TOP_USE,
	TOP_HELD,
	TOP_CAPACITY,
	TOP_WAITING,
	TOP_RATE,
	TOP_WAIT,
	TOP_TREND,
	TOP_REASON,
	TOP_COLUMNS
};

enum { TOP_SCREEN_COLUMNS = TOP_REASON };

extern const struct columns show_columns;
extern const struct columns list_columns;
extern const struct columns top_columns;

enum { COLUMNS_MAX = 32 };

/* The columns to print, in order, as indexes. */
struct selection {
	const struct columns *columns;
	size_t shown[COLUMNS_MAX];
	size_t n;
};

/* The columns in `list`, the argument of -o; the default ones if it is NULL. Dies of an unknown column. */
void columns_choose(struct selection *selection, const struct columns *columns, const char *list);

bool selection_has(const struct selection *selection, size_t column);

/* The index of the column. Dies if there is none of that name. */
size_t columns_find(const struct columns *columns, const char *name);

void columns_print_help(const struct columns *columns);

#endif

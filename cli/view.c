/* SPDX-License-Identifier: MIT */
/* Rows of the table of verbs that the command shares with the programs that do the work. */
#include "columns.h"
#include "view.h"

/* clang-format off */
const struct verb show_verb = {
	"show", "NAME",
	"Show a semaphore: its state, who holds, and who waits, in the order of the queue.",
	(const int[]){'J', OPT_STATS, 'o', OPT_NOHEADINGS, OPT_RAW, 0}, OPERANDS_NAME, 0, 0, &show_columns, cmd_view,
};

const struct verb list_verb = {
	"list", NULL,
	"List all semaphores.",
	(const int[]){'J', 'o', OPT_NOHEADINGS, OPT_RAW, 0}, OPERANDS_NONE, 0, 0, &list_columns, cmd_view,
};

const struct verb top_verb = {
	"top", "[NAME]",
	"Show all semaphores, or one, live; keys recover, cancel, and change the capacity.",
	(const int[]){'b', 'd', 'i', 's', OPT_FOREIGN, 0}, OPERANDS_OPTIONAL_NAME, 0, 0, &top_columns, cmd_view,
};
/* clang-format on */

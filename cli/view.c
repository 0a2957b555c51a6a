/* SPDX-License-Identifier: MIT */
#include "view.h"

#include "columns.h"

const struct verb show_verb = {
	.id = VERB_SHOW,
	.name = "show",
	.words = "NAME",
	.summary = "Show a semaphore: its state, its holders, and its waiters in the order of the queue.",
	.operands = OPERANDS_NAME,
	.columns = &show_columns,
	.program = "tsem-view",
};

const struct verb list_verb = {
	.id = VERB_LIST,
	.name = "list",
	.summary = "List all semaphores.",
	.operands = OPERANDS_NONE,
	.columns = &list_columns,
	.program = "tsem-view",
};

const struct verb top_verb = {
	.id = VERB_TOP,
	.name = "top",
	.words = "[NAME]",
	.summary = "Show all semaphores, or one, live. Keys recover, cancel, and change the capacity.",
	.operands = OPERANDS_OPTIONAL_NAME,
	.columns = &top_columns,
	.program = "tsem-top",
};

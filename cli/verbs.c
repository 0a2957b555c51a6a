/* SPDX-License-Identifier: MIT */
#include "verb.h"

#include <string.h>

#include "columns.h"

/* clang-format off */
const struct verb verbs[] = {
	{.id = VERB_RUN, .name = "run", .words = "NAME[,NAME]... [--] COMMAND [ARG]...",
	 .summary = "Hold permits while a command runs. With -j, create the semaphore if it does not exist.",
	 .operands = OPERANDS_NAME_AND_COMMAND},
	{.id = VERB_CREATE, .name = "create", .words = "NAME",
	 .summary = "Create a semaphore with N permits.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_TAKE, .name = "take", .words = "NAME",
	 .summary = "Take permits without recording a holder; 'tsem post' gives them back.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_POST, .name = "post", .words = "NAME",
	 .summary = "Give back permits that were taken, or add new ones.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_ACQUIRE, .name = "acquire", .words = "NAME",
	 .summary = "Hold permits for process PID until it ends or 'tsem release' gives them back.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_RELEASE, .name = "release", .words = "NAME",
	 .summary = "Give back the newest hold that 'tsem acquire' made for process PID.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_SHOW, .name = "show", .words = "NAME",
	 .summary = "Show a semaphore: its state, its holders, and its waiters in the order of the queue.",
	 .operands = OPERANDS_NAME, .columns = &show_columns, .program = "tsem-view"},
	{.id = VERB_LIST, .name = "list", .words = "[STORE]",
	 .summary = "List all semaphores of this machine, or of a store.",
	 .operands = OPERANDS_OPTIONAL_STORE, .columns = &list_columns, .program = "tsem-view"},
	{.id = VERB_TOP, .name = "top", .words = "[NAME]",
	 .summary = "Show all semaphores, or one, live. Keys recover, cancel, and change the capacity.",
	 .operands = OPERANDS_OPTIONAL_NAME, .columns = &top_columns, .program = "tsem-top"},
	{.id = VERB_SET, .name = "set", .words = "NAME",
	 .summary = "Change the capacity; 0 drains. Holders keep their permits.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_WAIT, .name = "wait", .words = "NAME",
	 .summary = "Wait until there are no holders and no waiters.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_CANCEL, .name = "cancel", .words = "NAME",
	 .summary = "Cancel all waiters, or those of one process; they exit with status 75.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_RECOVER, .name = "recover", .words = "NAME",
	 .summary = "Recover the permits of dead holders now, or declare one dead; print how many.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_REMOVE, .name = "remove", .words = "NAME",
	 .summary = "Remove a semaphore that is not in use.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_HELP, .name = "help", .words = "[VERB]",
	 .summary = "Explain a verb, or list all verbs.",
	 .operands = OPERANDS_OPTIONAL_NAME},
};
/* clang-format on */

const size_t verbs_n = sizeof(verbs) / sizeof(verbs[0]);

const struct verb *
verb_find(const char *word)
{
	for (size_t i = 0; i < verbs_n; i++) {
		if (strcmp(word, verbs[i].name) == 0)
			return &verbs[i];
	}
	return NULL;
}

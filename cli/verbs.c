/* SPDX-License-Identifier: MIT */
#include "verb.h"

#include <string.h>

#include "columns.h"

/* clang-format off */
const struct verb verbs[] = {
	{.id = VERB_RUN, .name = "run", .elsewhere = "exec lock", .words = "NAME[,NAME]... [--] COMMAND [ARG]...",
	 .summary = "Hold permits while a command runs; -j creates the semaphore.",
	 .examples = {"tsem run -j 3 build -- ./job", "tsem run -n -E 0 -j 1 backup -- ./backup"},
	 .on_etcd = "A keeper beside the command holds; --ttl, --on-lost and TSEM_FENCE are for it.",
	 .operands = OPERANDS_NAME_AND_COMMAND},
	{.id = VERB_CREATE, .name = "create", .elsewhere = "new", .words = "NAME",
	 .summary = "Create a semaphore with N permits.",
	 .examples = {"tsem create -j 4 memory", "tsem create --exist-ok -j 50% encode"},
	 .operands = OPERANDS_NAME},
	{.id = VERB_TAKE, .name = "take", .elsewhere = "down", .words = "NAME",
	 .summary = "Take permits without a recorded holder; 'tsem post' gives back.",
	 .examples = {"tsem take -k 2 memory", "tsem take -w 1m30s memory"},
	 .operands = OPERANDS_NAME},
	{.id = VERB_POST, .name = "post", .elsewhere = "up signal", .words = "NAME",
	 .summary = "Give back permits that were taken, or add new ones.",
	 .examples = {"tsem post memory", "tsem post -k 2 memory"},
	 .on_etcd = "If the answer of the store is lost, it says that it may be done.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_ACQUIRE, .name = "acquire", .words = "NAME",
	 .summary = "Hold permits for process PID until it ends or releases them.",
	 .examples = {"tsem acquire --owner $$ memory", "tsem acquire --owner $$ -k 2 -w 10 memory"},
	 .on_etcd = "A keeper holds until PID ends, and stops PID if the hold is lost.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_RELEASE, .name = "release", .elsewhere = "unlock", .words = "NAME",
	 .summary = "Give back the newest hold that 'tsem acquire' made for PID.",
	 .examples = {"tsem release --owner $$ memory", "tsem release --owner $$ --foreign memory"},
	 .on_etcd = "Only where PID runs.",
	 .operands = OPERANDS_NAME},
	{.id = VERB_SHOW, .name = "show", .elsewhere = "ps stat status", .words = "NAME...",
	 .summary = "Show a semaphore, its holders, and its waiters in queue order.",
	 .examples = {"tsem show build", "tsem show --raw --noheadings -o STATE,PID build memory"},
	 .on_etcd = "HOST, FENCE; ALIVE is yes as long as the lease of the process lasts.",
	 .operands = OPERANDS_NAMES, .columns = &show_columns, .program = "tsem-view"},
	{.id = VERB_LIST, .name = "list", .elsewhere = "ls", .words = "[STORE]",
	 .summary = "List all semaphores of this machine, or of a store.",
	 .examples = {"tsem list", "tsem list --raw --noheadings -o NAME"},
	 .on_etcd = "'tsem list etcd:' lists that store.",
	 .operands = OPERANDS_OPTIONAL_STORE, .columns = &list_columns, .program = "tsem-view"},
	{.id = VERB_TOP, .name = "top", .words = "[NAME]",
	 .summary = "Show all semaphores, or one, live, with keys that act on them.",
	 .examples = {"tsem top -d 500ms build", "tsem top -b -i 1"},
	 .on_etcd = "It does not work there: use 'watch tsem show NAME'.",
	 .operands = OPERANDS_OPTIONAL_NAME, .columns = &top_columns, .program = "tsem-top"},
	{.id = VERB_WATCH, .name = "watch", .words = "NAME...",
	 .summary = "Print a line of JSON for each event, until it is interrupted.",
	 .examples = {"tsem watch build memory", "tsem watch -d 1s build >>build.events"},
	 .on_etcd = "It does not work there.",
	 .operands = OPERANDS_NAMES_TOGETHER, .program = "tsem-view"},
	{.id = VERB_SET, .name = "set", .words = "NAME",
	 .summary = "Change the capacity; 0 drains. Holders keep their permits.",
	 .examples = {"tsem set -j 6 memory", "tsem set --exact memory"},
	 .operands = OPERANDS_NAME},
	{.id = VERB_WAIT, .name = "wait", .words = "NAME...",
	 .summary = "Wait until there are no holders and no waiters.",
	 .examples = {"tsem wait -w 1h30m build memory", "tsem wait --holders build"},
	 .operands = OPERANDS_NAMES},
	{.id = VERB_CANCEL, .name = "cancel", .elsewhere = "kill", .words = "NAME...",
	 .summary = "Cancel all waits, or those of one process: they end with status 75.",
	 .examples = {"tsem cancel build memory", "tsem cancel --foreign build"},
	 .operands = OPERANDS_NAMES},
	{.id = VERB_RECOVER, .name = "recover", .words = "NAME...",
	 .summary = "Give back what dead processes hold, or one process that you name.",
	 .examples = {"tsem recover build", "tsem recover build memory"},
	 .on_etcd = "For processes of this machine; others with --owner PID --force.",
	 .operands = OPERANDS_NAMES},
	{.id = VERB_REMOVE, .name = "remove", .elsewhere = "rm delete", .words = "NAME...",
	 .summary = "Remove semaphores that are not in use.",
	 .examples = {"tsem remove build memory", "tsem remove --idle"},
	 .on_etcd = "-f takes the holds away: the commands are stopped.",
	 .operands = OPERANDS_NAMES},
	{.id = VERB_HELP, .name = "help", .words = "[VERB]",
	 .summary = "Explain a verb, or list all verbs.",
	 .examples = {"tsem help", "tsem help run"},
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

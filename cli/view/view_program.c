/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "dispatch.h"
#include "view/view_verbs.h"

const struct program this_program = {
	.name = "tsem-view",
	.actions =
		(const struct verb_runner[]){{VERB_SHOW, cmd_show}, {VERB_LIST, cmd_list}, {VERB_WATCH, cmd_watch}, {0, NULL}},
};

/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "dispatch.h"
#include "view/verbs.h"

const struct program this_program = {
	.name = "tsem-view",
	.actions = (const struct action[]){{VERB_SHOW, cmd_show}, {VERB_LIST, cmd_list}, {0, NULL}},
};

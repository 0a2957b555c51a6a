/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "dispatch.h"
#include "top/cmd_top.h"

const struct program this_program = {
	.name = "tsem-top",
	.actions = (const struct verb_runner[]){{VERB_TOP, cmd_top}, {0, NULL}},
};

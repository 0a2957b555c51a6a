/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "top/cmd_top.h"
#include "view.h"

const struct view_verb view_verbs[] = {
	{&top_verb, cmd_top},
	{NULL, NULL},
};

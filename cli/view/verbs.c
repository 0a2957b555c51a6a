/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "view.h"
#include "view/verbs.h"

const struct view_verb view_verbs[] = {
	{&show_verb, cmd_show},
	{&list_verb, cmd_list},
	{NULL, NULL},
};

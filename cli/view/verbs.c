/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "view.h"

const struct verb *const view_verbs[] = {&show_verb, &list_verb, NULL};

int
view_run(const struct verb *verb, const struct options *o)
{
	return verb == &list_verb ? cmd_list(o) : cmd_show(o);
}

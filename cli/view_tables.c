/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "view.h"

int
view_run(const struct verb *verb, const struct options *o)
{
	return strcmp(verb->name, "list") == 0 ? cmd_list(o) : cmd_show(o);
}

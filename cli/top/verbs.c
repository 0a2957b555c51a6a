/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "view.h"

const struct verb *const view_verbs[] = {&top_verb, NULL};

int
view_run(const struct verb *verb, const struct options *o)
{
	(void)verb;
	return cmd_top(o);
}

/* SPDX-License-Identifier: MIT */
#include "view.h"

int
view_run(const struct verb *verb, const struct options *o)
{
	(void)verb;
	return cmd_top(o);
}

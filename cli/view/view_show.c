/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "view/show_table.h"
#include "view/snapshot.h"
#include "view/view_verbs.h"

int
cmd_show(const struct options *o)
{
	struct snapshot snapshot = {.n = 0};
	require_stdout(o->name);
	const int rc = snapshot_of(o->name, &snapshot);
	if (rc < 0)
		die_error(o->name, rc);
	show(o, &snapshot);
	snapshot_free(&snapshot);
	return EXIT_DONE;
}

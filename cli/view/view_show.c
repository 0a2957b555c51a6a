/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "view/show_json.h"
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
		die_of_opening(o->name, rc);
	if (o->view.json)
		show_json(o->name, &o->view, &snapshot);
	else
		show_table(o->name, &o->view, &snapshot);
	flush_stdout(o->name);
	snapshot_free(&snapshot);
	return EXIT_DONE;
}

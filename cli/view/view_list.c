/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "message.h"
#include "view/listing.h"
#include "view/metrics.h"
#include "view/snapshot.h"
#include "view/view_verbs.h"

/* Reports an unreadable file and continues: one bad file must not hide the others. */
static int
list_one(const char *name, void *arg)
{
	struct listing *listing = arg;
	struct tsem_stat stat = {.size = sizeof(stat)};
	struct reason reason = {.kind = REASON_NONE};
	tsem *sem;
	int rc = open_for_viewing(name, &sem);
	if (rc == -ENOENT || rc == -EIDRM) /* removed since */
		return 0;
	if (rc == 0) {
		rc = listing->has_reason ? reason_of(sem, 1, &stat, &reason) : tsem_stat(sem, &stat);
		tsem_close(sem);
	}
	if (rc == 0)
		return listing_add(listing, &(struct semaphore){name, &stat, &reason, false});
	complain_error(name, rc);
	return 0;
}

static int
measure_one(const char *name, void *arg)
{
	struct snapshot snapshot = {.n = 0};
	int rc = snapshot_of(name, &snapshot);
	if (rc == 0)
		rc = metrics_add(arg, name, &snapshot);
	else if (rc != -ENOENT && rc != -EIDRM)
		complain_error(name, rc);
	snapshot_free(&snapshot);
	return rc == -ENOMEM ? rc : 0;
}

static int
list_metrics(const struct view_options *o)
{
	struct metrics metrics = {.n = 0};
	if (o->json || o->stats || o->columns != NULL || o->noheadings || o->raw)
		die(NULL, "--metrics stands alone (leave out the other options)");
	const int rc = tsem_list(measure_one, &metrics);
	if (rc < 0)
		die_error(NULL, rc);
	metrics_print(&metrics);
	metrics_free(&metrics);
	flush_stdout(NULL);
	return EXIT_DONE;
}

int
cmd_list(const struct options *o)
{
	struct listing listing;
	require_stdout(o->name);
	if (o->view.metrics)
		return list_metrics(&o->view);
	listing_begin(&listing, &o->view);
	listing_end(&listing, tsem_list(list_one, &listing));
	flush_stdout(NULL);
	return EXIT_DONE;
}

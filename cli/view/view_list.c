/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "message.h"
#include "view/listing.h"
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

int
cmd_list(const struct options *o)
{
	struct listing listing;
	require_stdout(o->name);
	listing_begin(&listing, &o->view);
	listing_end(&listing, tsem_list(list_one, &listing));
	flush_stdout(NULL);
	return EXIT_DONE;
}

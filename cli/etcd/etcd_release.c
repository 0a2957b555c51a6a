/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "etcd/etcd_verbs.h"
#include "etcd/line.h"
#include "etcd/owners.h"
#include "message.h"

/* The newest hold that `tsem acquire` made here for the process. False: there is none. */
static bool
find_hold(const struct named *named, struct entry *newest)
{
	struct entry entry;
	newest->json = NULL;
	for (size_t i = 0; i < named->holders_n; i++) {
		entry_read(&named->kvs[i], &entry);
		const bool newer = newest->json == NULL || entry.revision > newest->revision;
		if (entry.acquired && newer && entry_is_here(&entry) && !entry_is_dead(&entry)) {
			entry_free(newest);
			*newest = entry;
		} else {
			entry_free(&entry);
		}
	}
	return newest->json != NULL;
}

/* Its keeper finds the key deleted, and ends the lease. */
static void
release(struct semaphore_on_etcd *sem, const struct options *o, const struct entry *hold)
{
	struct line line;
	struct options own = *o;
	const struct granted grant = {.fence = hold->revision};
	own.count = hold->count;
	line_begin(&line, sem, &own, (int64_t)strtoull(hold->id, NULL, 16), hold->pid, hold->pid);
	while (!line_release(&line, &grant))
		continue;
	line_end(&line);
}

int
etcd_cmd_release(const struct options *o)
{
	struct semaphore_on_etcd sem;
	struct named named;
	struct entry hold;
	if (o->owner == 0)
		die(o->name, "release needs --owner PID (in a script, use --owner $$)");
	if (kill((pid_t)o->owner, 0) != 0 && errno == ESRCH)
		die(o->name, "there is no process %d (its permits came back when it ended)", (int)o->owner);
	etcd_open(&sem, o);
	owners_find(&sem, o, OWNERS_HOLDERS, &named);
	if (!find_hold(&named, &hold))
		die(o->name, "process %d has no hold made by 'tsem acquire' (see 'tsem show %s')", (int)o->owner, o->name);
	release(&sem, o, &hold);
	entry_free(&hold);
	owners_free(&named);
	etcd_close(&sem);
	return EXIT_DONE;
}

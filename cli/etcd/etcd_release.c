/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>

#include "etcd/etcd_verbs.h"
#include "etcd/claim.h"
#include "etcd/owners.h"
#include "message.h"
#include "refusal.h"

/* The newest hold that `tsem acquire` made here for the process; NULL: there is none. */
static const struct entry *
find_hold(const struct owners *owners)
{
	const struct entry *newest = NULL;
	for (size_t i = 0; i < owners->n; i++) {
		const struct entry *entry = &owners->entries[i];
		const bool newer = newest == NULL || entry->create_revision > newest->create_revision;
		if (entry->acquired && newer && entry_is_here(entry) && !entry_is_dead(entry))
			newest = entry;
	}
	return newest;
}

/* Its keeper finds the key deleted, and ends the lease. False: another process has released it at the same time. */
static bool
release(struct semaphore_on_etcd *sem, const struct options *o, const struct entry *hold)
{
	struct claim claim;
	struct options own = *o;
	const struct granted grant = {.fence = hold->create_revision};
	own.count = hold->count;
	claim_begin(&claim, sem, &own, hold->lease, hold->pid, hold->pid);
	while (!claim_release(&claim, &grant))
		continue;
	claim_end(&claim);
	return !claim.was_over || sem->lost;
}

/* False: look for another hold. */
static bool
release_newest(struct semaphore_on_etcd *sem, const struct options *o)
{
	struct owners owners;
	owners_find(sem, o, OWNERS_HOLDERS, &owners);
	const struct entry *hold = find_hold(&owners);
	if (hold == NULL)
		die_of_no_hold(o);
	const bool done = release(sem, o, hold);
	owners_free(&owners);
	return done;
}

int
etcd_cmd_release(const struct options *o)
{
	struct semaphore_on_etcd sem;
	require_owner_of_hold(o, "release");
	if (kill((pid_t)o->owner, 0) != 0 && errno == ESRCH)
		die_of_ended_holder(o);
	etcd_open(&sem, o);
	while (!release_newest(&sem, o))
		continue;
	etcd_close(&sem);
	return EXIT_DONE;
}

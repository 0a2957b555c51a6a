/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "etcd/etcd_verbs.h"
#include "etcd/lease.h"
#include "etcd/owners.h"
#include "message.h"
#include "refusal.h"

/* With --owner, dies if it may not be recovered. */
static bool
is_to_recover(const struct options *o, const struct entry *entry, bool holds)
{
	const bool dead = entry_is_dead(entry);
	if (o->owner == 0 || dead)
		return dead;
	if (entry_is_here(entry))
		die_of_living(o, holds, (pid_t)o->owner);
	if (!o->force)
		die_of_unknown_life(o);
	return true;
}

/* The store deletes what the lease keeps. Dies if it does not answer. */
static void
revoke(struct semaphore_on_etcd *sem, int64_t id)
{
	struct lease lease = {.wire = sem->wire, .id = id};
	const enum outcome outcome = lease_revoke(&lease, sem->deadline_ns);
	if (outcome != OUTCOME_DONE && outcome != OUTCOME_REFUSED)
		etcd_die_of_silence(sem);
}

int
etcd_cmd_recover(const struct options *o)
{
	struct semaphore_on_etcd sem;
	struct owners owners;
	uint64_t recovered = 0;
	require_owner(o);
	require_stdout(o->name);
	etcd_open(&sem, o);
	owners_find(&sem, o, OWNERS_ALL, &owners);
	for (size_t i = 0; i < owners.n; i++) {
		const struct entry *entry = &owners.entries[i];
		const bool holds = i < owners.holders_n;
		if (is_to_recover(o, entry, holds)) {
			revoke(&sem, entry->lease);
			recovered += holds ? entry->count : 0;
		}
	}
	owners_free(&owners);
	etcd_close(&sem);
	printf("%" PRIu64 "\n", recovered);
	flush_result(o->name);
	return EXIT_DONE;
}

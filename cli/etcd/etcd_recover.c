/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "etcd/etcd_verbs.h"
#include "etcd/lease.h"
#include "etcd/owners.h"
#include "message.h"

static _Noreturn void
die_of_living(const struct options *o, bool holds)
{
	const int pid = (int)o->owner;
	if (!holds)
		die(o->name, "process %d is alive (end its wait with 'tsem cancel --owner %d %s')", pid, pid, o->name);
	die(o->name, "process %d is alive (end it with 'kill %d'; its permits come back then)", pid, pid);
}

/* With --owner, dies if it may not be recovered. */
static bool
is_to_recover(const struct options *o, const struct entry *entry, bool holds)
{
	const bool dead = entry_is_dead(entry);
	if (o->owner == 0 || dead)
		return dead;
	if (entry_is_here(entry))
		die_of_living(o, holds);
	if (!o->force)
		die(o->name, "whether process %d is alive cannot be told from here (if you know that it is dead, add --force)",
		    (int)o->owner);
	return true;
}

/* The store deletes what the lease keeps. Dies if it does not answer. */
static void
revoke(struct semaphore_on_etcd *sem, const char *id)
{
	struct lease lease = {.wire = sem->wire, .id = (int64_t)strtoull(id, NULL, 16)};
	const enum outcome outcome = lease_revoke(&lease, sem->deadline_ns);
	if (outcome != OUTCOME_DONE && outcome != OUTCOME_REFUSED)
		etcd_die_of_silence(sem);
}

int
etcd_cmd_recover(const struct options *o)
{
	struct semaphore_on_etcd sem;
	struct named named;
	uint64_t recovered = 0;
	if (o->owner == 0 && o->force)
		die(o->name, "--force needs --owner PID (see 'tsem show %s' for the PID)", o->name);
	require_stdout(o->name);
	etcd_open(&sem, o);
	owners_find(&sem, o, OWNERS_ALL, &named);
	for (size_t i = 0; i < named.n; i++) {
		struct entry entry;
		const bool holds = i < named.holders_n;
		entry_read(&named.kvs[i], &entry);
		if (is_to_recover(o, &entry, holds)) {
			revoke(&sem, entry.id);
			recovered += holds ? entry.count : 0;
		}
		entry_free(&entry);
	}
	owners_free(&named);
	etcd_close(&sem);
	printf("%" PRIu64 "\n", recovered);
	flush_result(o->name);
	return EXIT_DONE;
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "etcd/etcd_verbs.h"
#include "etcd/lease.h"
#include "etcd/semaphore.h"
#include "message.h"
#include "refusal.h"

/* The available permits before it. Dies of what forbids the post. */
static uint64_t
look(struct semaphore_on_etcd *sem)
{
	struct snapshot snapshot;
	int rc;
	do {
		rc = etcd_snapshot(sem, &snapshot);
	} while (rc == -ETIMEDOUT);
	if (rc < 0)
		die_of_config(sem, rc);
	const uint64_t available = snapshot.stat.available;
	snapshot_free(&snapshot);
	return available;
}

/* False: it is not known, or another process has changed the number since. */
static bool
post(struct semaphore_on_etcd *sem, const struct options *o, const char *changer)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	json_t *answer;
	etcd_key(sem, "anonymous", key);
	taken_change(txn, key, &sem->taken, sem->taken.count - o->count, changer);
	if (!etcd_commit(sem, EFFECT_WRITES, txn, &answer))
		return false;
	const bool done = txn_succeeded(answer);
	json_decref(answer);
	return done;
}

/*
 * Posts once. The guard of a repeated request fails if the attempt whose answer was lost, or another process, has changed
 * the number since; the last change tells which.
 */
int
etcd_cmd_post(const struct options *o)
{
	struct semaphore_on_etcd sem;
	char changer[24];
	uint64_t available = 0;
	int64_t seen = 0;
	if (o->print_previous)
		require_stdout(o->name);
	etcd_open(&sem, o);
	snprintf(changer, sizeof(changer), "%016" PRIx64, (uint64_t)lease_choose());
	for (;;) {
		const uint64_t now = look(&sem);
		if (strcmp(sem.taken.changer, changer) == 0)
			break;
		if (sem.lost && sem.taken.mod_revision != seen)
			die(o->name, "the answer of the store was lost (see 'tsem show %s', because it may be done)", o->name);
		if (o->count > sem.taken.count)
			die_of_bounded_post(o);
		available = now;
		seen = sem.taken.mod_revision;
		if (post(&sem, o, changer))
			break;
	}
	etcd_close(&sem);
	if (o->print_previous)
		printf("%" PRIu64 "\n", available);
	flush_result(o->name);
	return EXIT_DONE;
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "etcd/etcd_verbs.h"
#include "etcd/owners.h"
#include "message.h"

/*
 * Deletes the keys of waiters, if `guard` is still of that revision. A waiter whose key is gone, under a lease that is not,
 * has been cancelled. False: it is not known whether that is done.
 */
static bool
cancel(struct semaphore_on_etcd *sem, const char *guard, int64_t create_revision, const char *waiters)
{
	json_t *txn = txn_new();
	json_t *answer;
	txn_compare(txn, guard, "CREATE", "EQUAL", create_revision);
	txn_delete(txn, "success", waiters);
	const bool done = etcd_commit(sem, EFFECT_WRITES, txn, &answer);
	if (done)
		json_decref(answer);
	return done;
}

static void
cancel_owner(struct semaphore_on_etcd *sem, const struct options *o)
{
	struct owners owners;
	owners_find(sem, o, OWNERS_WAITERS, &owners);
	for (size_t i = 0; i < owners.n; i++) {
		const struct entry *entry = &owners.entries[i];
		while (!cancel(sem, entry->key, entry->create_revision, entry->key))
			continue;
	}
	owners_free(&owners);
}

static void
cancel_all(struct semaphore_on_etcd *sem)
{
	struct config config;
	char config_key[KEY_BYTES_MAX];
	char waiters[KEY_BYTES_MAX];
	etcd_key(sem, "config", config_key);
	etcd_key(sem, "waiters/", waiters);
	do {
		if (!etcd_read_config(sem, &config))
			die_of_config(sem, -ENOENT);
	} while (!cancel(sem, config_key, config.create_revision, waiters));
}

int
etcd_cmd_cancel(const struct options *o)
{
	struct semaphore_on_etcd sem;
	etcd_open(&sem, o);
	if (o->owner != 0)
		cancel_owner(&sem, o);
	else
		cancel_all(&sem);
	etcd_close(&sem);
	return EXIT_DONE;
}

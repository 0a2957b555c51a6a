/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "etcd/owners.h"
#include "etcd/etcd_verbs.h"
#include "message.h"

/* A waiter whose key is gone, under a lease that is not, has been cancelled. */
static json_t *
cancel_all(const struct semaphore_on_etcd *sem, const struct config *config)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	etcd_key(sem, "config", key);
	txn_compare(txn, key, "CREATE", "EQUAL", config->create_revision);
	etcd_key(sem, "waiters/", key);
	txn_delete(txn, "success", key);
	return txn;
}

static void
cancel_one(struct semaphore_on_etcd *sem, const struct kv *kv)
{
	json_t *answer;
	bool done;
	do {
		json_t *txn = txn_new();
		txn_compare(txn, kv->key, "CREATE", "EQUAL", kv->create_revision);
		txn_delete(txn, "success", kv->key);
		done = etcd_commit(sem, EFFECT_WRITES, txn, &answer);
	} while (!done);
	json_decref(answer);
}

static void
cancel_owner(struct semaphore_on_etcd *sem, const struct options *o)
{
	struct named named;
	owners_find(sem, o, OWNERS_WAITERS, &named);
	for (size_t i = 0; i < named.n; i++)
		cancel_one(sem, &named.kvs[i]);
	owners_free(&named);
}

int
etcd_cmd_cancel(const struct options *o)
{
	struct semaphore_on_etcd sem;
	struct config config;
	json_t *answer;
	bool done = false;
	etcd_open(&sem, o);
	if (o->owner != 0)
		cancel_owner(&sem, o);
	while (o->owner == 0 && !done) {
		if (!etcd_read_config(&sem, o, &config))
			die_of_config(&sem, o, -ENOENT);
		done = etcd_commit(&sem, EFFECT_WRITES, cancel_all(&sem, &config), &answer);
		if (done)
			json_decref(answer);
	}
	etcd_close(&sem);
	return EXIT_DONE;
}

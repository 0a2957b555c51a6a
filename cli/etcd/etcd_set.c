/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "etcd/etcd_verbs.h"
#include "etcd/semaphore.h"
#include "message.h"

/* False: another process has changed the semaphore since, or the answer was lost. */
static bool
set(struct semaphore_on_etcd *sem, const struct options *o, const struct config *config)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	json_t *value = config_to_json(config);
	json_t *answer;
	etcd_key(sem, "config", key);
	/* The value is derived from this revision. A repeated request fails, and the next read finds the new capacity. */
	txn_compare(txn, key, "MOD", "EQUAL", config->mod_revision);
	txn_put(txn, "success", key, value);
	json_decref(value);
	if (o->exact) {
		etcd_key(sem, "anonymous", key);
		txn_delete(txn, "success", key);
	}
	if (!etcd_commit(sem, EFFECT_WRITES, txn, &answer))
		return false;
	const bool done = txn_succeeded(answer);
	json_decref(answer);
	return done;
}

int
etcd_cmd_set(const struct options *o)
{
	struct semaphore_on_etcd sem;
	struct config config;
	if (!o->has_permits && !o->exact)
		die(o->name, "set needs -j N or --exact (-j 0 drains it)");
	etcd_open(&sem, o);
	do {
		if (!etcd_read_config(&sem, &config))
			die_of_config(&sem, -ENOENT);
		if (o->has_permits)
			config.capacity = o->permits;
	} while (!set(&sem, o, &config));
	etcd_close(&sem);
	return EXIT_DONE;
}

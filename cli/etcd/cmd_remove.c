/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "etcd/semaphore.h"
#include "etcd/verbs.h"
#include "message.h"

static json_t *
removal(const struct semaphore_on_etcd *sem, const struct config *config)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	if (config != NULL) {
		etcd_key(sem, "config", key);
		txn_compare(txn, key, "CREATE", "EQUAL", config->create_revision);
		etcd_key(sem, "holders/", key);
		txn_compare(txn, key, "CREATE", "EQUAL", 0);
		etcd_key(sem, "waiters/", key);
		txn_compare(txn, key, "CREATE", "EQUAL", 0);
	}
	etcd_key(sem, "", key);
	txn_delete(txn, "success", key);
	return txn;
}

int
etcd_cmd_remove(const struct options *o)
{
	struct semaphore_on_etcd sem;
	struct config config;
	json_t *answer;
	etcd_open(&sem, o);
	/* An attempt whose answer was lost may have removed it. */
	for (bool lost = false;; lost = true) {
		const bool exists = o->force || etcd_read_config(&sem, o, &config);
		if (!exists && !lost)
			die_of_config(o, -ENOENT);
		if (!exists)
			break;
		if (!etcd_commit(&sem, EFFECT_WRITES, removal(&sem, o->force ? NULL : &config), &answer))
			continue;
		if (!txn_succeeded(answer))
			die(o->name, "it is in use (see 'tsem show %s'; -f removes it nevertheless)", o->name);
		if (txn_deleted(answer, 0) == 0 && !lost)
			die_of_config(o, -ENOENT);
		json_decref(answer);
		break;
	}
	etcd_close(&sem);
	return EXIT_DONE;
}

/* SPDX-License-Identifier: MIT */
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

/* With -f whatever the keys are. `again`: an earlier attempt, whose answer was lost, may have removed it. */
static bool
remove_once(struct semaphore_on_etcd *sem, const struct options *o, bool again)
{
	struct config config;
	json_t *answer;
	if (!o->force && !again)
		etcd_read_config(sem, o, &config);
	if (!etcd_commit(sem, EFFECT_WRITES, removal(sem, o->force ? NULL : &config), &answer))
		return false;
	if (!txn_succeeded(answer))
		die(o->name, "it is in use (see 'tsem show %s'; -f removes it nevertheless)", o->name);
	if (txn_deleted(answer, 0) == 0 && !again)
		die(o->name, "no such semaphore (see 'tsem list etcd:')");
	json_decref(answer);
	return true;
}

int
etcd_cmd_remove(const struct options *o)
{
	struct semaphore_on_etcd sem;
	bool again = false;
	etcd_open(&sem, o);
	while (!remove_once(&sem, o, again))
		again = true;
	etcd_close(&sem);
	return EXIT_DONE;
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "etcd/etcd_verbs.h"
#include "etcd/semaphore.h"
#include "message.h"

/*
 * The comparisons and the deletion are one transaction, so no process enters between them. With -f, there are none: the
 * holders find their keys missing, and stop.
 */
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
		etcd_key(sem, "anonymous", key);
		txn_compare(txn, key, "MOD", "EQUAL", sem->taken.mod_revision);
	}
	for (size_t i = 0; i < ETCD_PARTS; i++) {
		etcd_key(sem, etcd_parts[i], key);
		txn_delete(txn, "success", key);
	}
	etcd_key(sem, "config", key);
	txn_keys(txn, "failure", key);
	return txn;
}

static int64_t
deleted(const json_t *answer)
{
	int64_t n = 0;
	for (size_t i = 0; i < ETCD_PARTS; i++)
		n += txn_deleted(answer, i);
	return n;
}

static _Noreturn void
die_of_use(const struct options *o)
{
	die(o->name, "it is in use (see 'tsem show %s'; -f removes it nevertheless)", o->name);
}

int
etcd_cmd_remove(const struct options *o)
{
	struct semaphore_on_etcd sem;
	struct config config;
	json_t *answer;
	etcd_open(&sem, o);
	bool exists;
	bool done = false;
	do {
		exists = o->force || etcd_read_config(&sem, &config);
		if (!o->force && exists && sem.taken.count > 0)
			die_of_use(o);
		done = exists && etcd_commit(&sem, EFFECT_WRITES, removal(&sem, o->force ? NULL : &config), &answer);
	} while (exists && !done);
	/* If config is gone, another attempt has removed it: perhaps one of libcurl, which repeats a request by itself. */
	const bool failed = done && !txn_succeeded(answer);
	if (failed && txn_count(answer, 0) > 0)
		die_of_use(o);
	/* An attempt whose answer was lost may have removed it. */
	if (!sem.lost && !failed && (!done || deleted(answer) == 0))
		die_of_config(&sem, -ENOENT);
	if (done)
		json_decref(answer);
	etcd_close(&sem);
	return EXIT_DONE;
}

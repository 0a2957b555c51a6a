/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "etcd/etcd_verbs.h"
#include "etcd/semaphore.h"
#include "message.h"
#include "names.h"
#include "view/listing.h"

/* Reports an unreadable one and continues: it must not hide the others. */
static int
list_one(struct listing *listing, struct semaphore_on_etcd *sem)
{
	char operand[OPERAND_TEXT_MAX];
	struct snapshot snapshot;
	store_operand(&sem->store, sem->name, operand);
	int rc = etcd_snapshot(sem, &snapshot);
	if (rc == 0)
		rc = listing_add(listing, &(struct semaphore){operand, &snapshot.stat, &snapshot.reason, true});
	else if (rc != -ENOENT) /* -ENOENT: removed since */
		complain_of_config(sem, rc);
	snapshot_free(&snapshot);
	return rc == -ENOMEM ? rc : 0;
}

/* The NAME of the key PREFIX/NAME/config; false if the key is another one. */
static bool
name_of(const struct store *store, const char *key, char name[NAME_TEXT_MAX])
{
	const char *begin = key + strlen(store->prefix) + 1;
	const size_t length = strcspn(begin, "/");
	if (!is_name(begin, length) || strcmp(begin + length, "/config") != 0)
		return false;
	snprintf(name, NAME_TEXT_MAX, "%.*s", (int)length, begin);
	return true;
}

int
etcd_cmd_list(const struct options *o)
{
	struct store store;
	struct semaphore_on_etcd sem;
	struct listing listing;
	char name[NAME_TEXT_MAX];
	char prefix[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	json_t *answer;
	struct kv kv;
	int rc = 0;
	require_stdout(o->name);
	store_parse_store(&store, o->name);
	etcd_open_store(&sem, o, &store);
	listing_begin(&listing, &o->view);
	snprintf(prefix, sizeof(prefix), "%s/", sem.store.prefix);
	txn_keys(txn, "success", prefix);
	etcd_commit(&sem, EFFECT_READS, txn, &answer);
	sem.name = name;
	for (size_t i = 0; rc == 0 && txn_kv(answer, 0, i, &kv); i++) {
		if (name_of(&sem.store, kv.key, name))
			rc = list_one(&listing, &sem);
	}
	listing_end(&listing, rc);
	flush_stdout(NULL);
	json_decref(answer);
	etcd_close(&sem);
	return EXIT_DONE;
}

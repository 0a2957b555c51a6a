/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uuid.h>

#include "etcd/semaphore.h"
#include "etcd/version.h"
#include "etcd/verbs.h"
#include "message.h"

/* The keys of the semaphore must be free: another program may have others in their place. */
static bool
create(struct semaphore_on_etcd *sem, const struct config *config, json_t **answer)
{
	char all[KEY_BYTES_MAX];
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	json_t *value = config_to_json(config);
	etcd_key(sem, "", all);
	etcd_key(sem, "config", key);
	txn_compare(txn, all, "CREATE", "EQUAL", 0);
	txn_put(txn, "success", key, value);
	txn_range(txn, "failure", key);
	json_decref(value);
	return etcd_commit(sem, EFFECT_WRITES, txn, answer);
}

static void
check_existing(const struct options *o, const json_t *answer, const struct config *wanted)
{
	struct config found;
	struct kv kv;
	const int rc = txn_kv(answer, 0, 0, &kv) ? config_read(&kv, &found) : -EBADMSG;
	if (rc < 0)
		die_of_config(o, rc);
	if (strcmp(found.uuid, wanted->uuid) == 0) /* by an earlier attempt, whose answer was lost */
		return;
	if (!o->exist_ok)
		die(o->name, "it already exists (see 'tsem show %s'; --exist-ok accepts it)", o->name);
	if (wanted->permits != found.permits && (wanted->permits == 0 || wanted->permits != found.capacity))
		die(o->name, "it exists with -j %u and has a capacity of %u now, not -j %u ('tsem set -j %u %s' changes it)",
		    found.permits, found.capacity, wanted->permits, wanted->permits, o->name);
}

int
etcd_cmd_create(const struct options *o)
{
	struct semaphore_on_etcd sem;
	struct config config = {.created = time(NULL), .uid = getuid()};
	uuid_t uuid;
	json_t *answer;
	config.permits = o->has_permits ? o->permits : 1;
	config.capacity = config.permits;
	uuid_generate(uuid);
	uuid_unparse_lower(uuid, config.uuid);
	etcd_open(&sem, o);
	while (!create(&sem, &config, &answer))
		continue;
	if (!txn_succeeded(answer))
		check_existing(o, answer, &config);
	else
		version_warn(&sem);
	json_decref(answer);
	etcd_close(&sem);
	return EXIT_DONE;
}

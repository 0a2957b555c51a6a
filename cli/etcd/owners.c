/* SPDX-License-Identifier: MIT */
#include "etcd/owners.h"

#include <errno.h>
#include <stdlib.h>

#include "message.h"

/* In the order of config, holders/ and waiters/. */
static json_t *
read_all(struct semaphore_on_etcd *sem)
{
	static const char *const ranges[] = {"config", "holders/", "waiters/"};
	json_t *answer;
	json_t *txn;
	do {
		txn = txn_new();
		for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
			char key[KEY_BYTES_MAX];
			etcd_key(sem, ranges[i], key);
			txn_range(txn, "success", key);
		}
	} while (!etcd_commit(sem, EFFECT_READS, txn, &answer));
	return answer;
}

static void
add(struct named *named, const struct options *o, size_t response)
{
	struct kv kv;
	struct entry entry;
	for (size_t i = 0; txn_kv(named->answer, response, i, &kv); i++) {
		if (!entry_read(&kv, &entry))
			continue;
		if (o->owner == 0 || entry.pid == (pid_t)o->owner)
			named->kvs[named->n++] = kv;
		entry_free(&entry);
	}
}

/* Keeps those of this machine, if there are any and others. Dies if there are only others, of several machines. */
static void
choose_machine(struct named *named, const struct options *o)
{
	struct entry first;
	struct entry entry;
	size_t here = 0;
	bool several = false;
	entry_read(&named->kvs[0], &first);
	for (size_t i = 0; i < named->n; i++) {
		entry_read(&named->kvs[i], &entry);
		several = several || !entry_is_beside(&entry, &first);
		here += entry_is_here(&entry);
		entry_free(&entry);
	}
	if (several && here == 0)
		die(o->name,
		    "%d is a process on several machines (type this on its machine, or end its lease as tsem-etcd(7) says; see "
		    "'tsem show %s')",
		    (int)o->owner, o->name);
	entry_free(&first);
	size_t n = 0;
	size_t holders_n = 0;
	for (size_t i = 0; several && i < named->n; i++) {
		entry_read(&named->kvs[i], &entry);
		if (entry_is_here(&entry)) {
			holders_n += i < named->holders_n;
			named->kvs[n++] = named->kvs[i];
		}
		entry_free(&entry);
	}
	if (several) {
		named->n = n;
		named->holders_n = holders_n;
	}
}

void
owners_find(struct semaphore_on_etcd *sem, const struct options *o, enum owners which, struct named *named)
{
	enum { CONFIG, HOLDERS, WAITERS };
	struct kv kv;
	struct config config;
	json_t *answer = read_all(sem);
	const int rc = txn_kv(answer, CONFIG, 0, &kv) ? config_read(&kv, &config) : -ENOENT;
	if (rc < 0)
		die_of_config(sem, o, rc);
	const int64_t n = txn_count(answer, HOLDERS) + txn_count(answer, WAITERS);
	*named = (struct named){.answer = answer, .kvs = calloc((size_t)n + 1, sizeof(*named->kvs))};
	if (named->kvs == NULL)
		die_error(o->name, -ENOMEM);
	if (which != OWNERS_WAITERS)
		add(named, o, HOLDERS);
	named->holders_n = named->n;
	if (which != OWNERS_HOLDERS)
		add(named, o, WAITERS);
	if (o->owner == 0)
		return;
	if (named->n == 0)
		die(o->name, "process %d does not %s (see 'tsem show %s')", (int)o->owner,
		    which == OWNERS_WAITERS   ? "wait"
		    : which == OWNERS_HOLDERS ? "hold permits"
		                              : "hold or wait",
		    o->name);
	choose_machine(named, o);
}

void
owners_free(struct named *named)
{
	json_decref(named->answer);
	free(named->kvs);
}

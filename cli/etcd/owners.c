/* SPDX-License-Identifier: MIT */
#include "etcd/owners.h"

#include <errno.h>
#include <stdlib.h>

#include "message.h"
#include "refusal.h"

static void
add(struct owners *owners, const struct options *o, size_t response)
{
	struct kv kv;
	for (size_t i = 0; txn_kv(owners->answer, response, i, &kv); i++) {
		struct entry *entry = &owners->entries[owners->n];
		if (!entry_read(&kv, entry))
			continue;
		if (o->owner == 0 || entry->pid == (pid_t)o->owner)
			owners->n++;
		else
			entry_free(entry);
	}
}

static bool
are_of_one_machine(const struct owners *owners)
{
	size_t i = 1;
	while (i < owners->n && entry_is_beside(&owners->entries[i], &owners->entries[0]))
		i++;
	return i >= owners->n;
}

static void
keep_those_here(struct owners *owners)
{
	size_t n = 0;
	size_t holders_n = 0;
	for (size_t i = 0; i < owners->n; i++) {
		if (entry_is_here(&owners->entries[i])) {
			holders_n += i < owners->holders_n;
			owners->entries[n++] = owners->entries[i];
		} else {
			entry_free(&owners->entries[i]);
		}
	}
	owners->n = n;
	owners->holders_n = holders_n;
}

void
owners_find(struct semaphore_on_etcd *sem, const struct options *o, enum which_owners which, struct owners *owners)
{
	static const char *const ranges[] = {"config", "holders/", "waiters/"};
	static const char *const what[] = {"hold or wait", "hold permits", "wait"};
	enum { CONFIG, HOLDERS, WAITERS, RANGES };
	struct kv kv;
	json_t *answer;
	while (!etcd_commit(sem, EFFECT_READS, etcd_ranges(sem, ranges, RANGES), &answer))
		continue;
	const size_t most = txn_kvs_n(answer, HOLDERS) + txn_kvs_n(answer, WAITERS);
	*owners = (struct owners){.answer = answer, .entries = calloc(most + 1, sizeof(*owners->entries))};
	if (owners->entries == NULL)
		die_error(o->name, -ENOMEM);
	const int rc = txn_kv(answer, CONFIG, 0, &kv) ? config_read(&kv, &owners->config) : -ENOENT;
	if (rc == -ENOENT && o->has_permits)
		return;
	if (rc < 0)
		die_of_config(sem, rc);
	if (which != OWNERS_WAITERS)
		add(owners, o, HOLDERS);
	owners->holders_n = owners->n;
	if (which != OWNERS_HOLDERS)
		add(owners, o, WAITERS);
	if (o->owner == 0)
		return;
	if (owners->n == 0)
		die_of_no_owner(o, what[which]);
	if (are_of_one_machine(owners))
		return;
	keep_those_here(owners);
	if (owners->n == 0)
		die(o->name,
		    "%d is a process on several machines (type this on its machine, or end its lease as tsem-etcd(7) says; see "
		    "'tsem show %s')",
		    (int)o->owner, o->name);
}

void
owners_free(struct owners *owners)
{
	for (size_t i = 0; i < owners->n; i++)
		entry_free(&owners->entries[i]);
	free(owners->entries);
	json_decref(owners->answer);
}

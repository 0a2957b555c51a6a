/* SPDX-License-Identifier: MIT */
#include "etcd/semaphore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uuid.h>

#include "etcd/entry.h"
#include "message.h"
#include "monotonic.h"

enum { LAYOUT = 1, PATIENCE_S = 5 };

static void
open_wire(struct semaphore_on_etcd *sem, const struct options *o)
{
	sem->name = sem->store.names[0];
	sem->wire = wire_open(&sem->store);
	sem->lost = false;
	sem->patience_ns = 0;
	sem->goes_on = false;
	sem->complained = o->quiet;
	sem->lease_missing = false;
	sem->deadline_ns = monotonic_ns() + PATIENCE_S * NS_PER_SECOND;
}

void
etcd_open(struct semaphore_on_etcd *sem, const struct options *o)
{
	store_parse_name(&sem->store, o->name);
	open_wire(sem, o);
}

void
etcd_open_store(struct semaphore_on_etcd *sem, const struct options *o, const struct store *store)
{
	sem->store = *store;
	open_wire(sem, o);
}

void
etcd_close(struct semaphore_on_etcd *sem)
{
	wire_close(sem->wire);
}

void
etcd_key_of(const struct store *store, const char *name, const char *rest, char key[KEY_BYTES_MAX])
{
	snprintf(key, KEY_BYTES_MAX, "%s/%s/%s", store->prefix, name, rest);
}

void
etcd_key(const struct semaphore_on_etcd *sem, const char *rest, char key[KEY_BYTES_MAX])
{
	etcd_key_of(&sem->store, sem->name, rest, key);
}

json_t *
etcd_ranges(const struct semaphore_on_etcd *sem, const char *const rests[], size_t n)
{
	json_t *txn = txn_new();
	for (size_t i = 0; i < n; i++) {
		char key[KEY_BYTES_MAX];
		etcd_key(sem, rests[i], key);
		txn_range(txn, "success", key);
	}
	return txn;
}

/* Complains once; the waiter or holder continues. */
static void
complain_of_silence(struct semaphore_on_etcd *sem)
{
	if (!sem->complained)
		complain(sem->store.operand, "no member of the store answers at %s: %s (waiting for it; start the store)",
		         store_endpoints(&sem->store), wire_error(sem->wire));
	sem->complained = true;
}

void
etcd_die_of_silence(const struct semaphore_on_etcd *sem)
{
	die(sem->store.operand, "no member of the store answers at %s: %s (%s)", store_endpoints(&sem->store),
	    wire_error(sem->wire),
	    sem->lost ? "see 'tsem show', because it may be done" : "start the store, or correct the endpoints");
}

bool
etcd_commit(struct semaphore_on_etcd *sem, enum effect effect, json_t *txn, json_t **answer)
{
	static const char PATH[] = "/v3/kv/txn";
	const enum outcome outcome = sem->patience_ns > 0
	                                 ? wire_post_once(sem->wire, PATH, txn, sem->patience_ns, answer)
	                                 : wire_post(sem->wire, PATH, effect, txn, sem->deadline_ns, answer);
	const bool missing = outcome == OUTCOME_REFUSED && strstr(wire_error(sem->wire), "lease not found") != NULL;
	sem->lease_missing = sem->lease_missing || missing;
	if (missing)
		*answer = json_object();
	else if (outcome == OUTCOME_REFUSED && !sem->goes_on)
		die(sem->store.operand, "%s", wire_error(sem->wire));
	if (outcome == OUTCOME_DONE || missing) {
		txn_decode(*answer);
		sem->revision = txn_revision(*answer);
		sem->deadline_ns = monotonic_ns() + PATIENCE_S * NS_PER_SECOND;
		sem->silent = 0;
		return true;
	}
	const bool lost = outcome == OUTCOME_LOST && effect == EFFECT_WRITES;
	sem->lost = sem->lost || lost;
	if (sem->patience_ns > 0) {
		if (++sem->silent % sem->store.endpoints_n == 0) { /* the next one is another member */
			complain_of_silence(sem);
			wire_pause(sem->wire, UINT64_MAX);
		}
	} else if (!lost || !wire_pause(sem->wire, sem->deadline_ns)) {
		etcd_die_of_silence(sem);
	}
	return false;
}

/* ---- config ---- */

const char *const etcd_parts[ETCD_PARTS] = {"config", "anonymous", "holders/", "waiters/", "held/"};

static bool
read_u32(const json_t *json, const char *key, uint32_t *number)
{
	const json_t *value = json_object_get(json, key);
	const json_int_t all = json_integer_value(value);
	*number = (uint32_t)all;
	return json_is_integer(value) && all >= 0 && all <= UINT32_MAX;
}

int
config_read(const struct kv *kv, struct config *config)
{
	json_t *json = json_loads(kv->value, 0, NULL);
	const char *uuid = json_string_value(json_object_get(json, "uuid"));
	const json_t *layout = json_object_get(json, "layout");
	uint32_t uid;
	int rc = 0;
	*config = (struct config){.create_revision = kv->create_revision, .mod_revision = kv->mod_revision};
	if (json_is_integer(layout) && uuid != NULL && json_integer_value(layout) != LAYOUT)
		rc = -EPROTONOSUPPORT;
	else if (!json_is_integer(layout) || uuid == NULL || strlen(uuid) != sizeof(config->uuid) - 1
	         || !read_u32(json, "permits", &config->permits) || !read_u32(json, "capacity", &config->capacity)
	         || !read_u32(json, "uid", &uid))
		rc = -EBADMSG;
	if (rc == 0) {
		memcpy(config->uuid, uuid, sizeof(config->uuid));
		config->created = json_integer_value(json_object_get(json, "created"));
		config->uid = (uid_t)uid;
	}
	json_decref(json);
	return rc;
}

json_t *
config_to_json(const struct config *config)
{
	return json_pack("{s:i, s:I, s:I, s:s, s:I, s:I}", "layout", LAYOUT, "permits", (json_int_t)config->permits,
	                 "capacity", (json_int_t)config->capacity, "uuid", config->uuid, "created",
	                 (json_int_t)config->created, "uid", (json_int_t)config->uid);
}

void
complain_of_config(const struct semaphore_on_etcd *sem, int error)
{
	char name[OPERAND_TEXT_MAX];
	store_operand(&sem->store, sem->name, name);
	if (error == -ENOENT)
		complain(name, "no such semaphore (see 'tsem list %.*s'; 'tsem create' makes one)", (int)sem->store.name_at,
		         sem->store.operand);
	else if (error == -EPROTONOSUPPORT)
		complain(name, "made by another version of tsem (use that version, or remove it with 'tsem remove -f %s')",
		         name);
	else if (error == -EBADMSG)
		complain(name,
		         "keys of another program are in its place, or it is damaged (use another PREFIX, or delete them with "
		         "'tsem remove -f %s')",
		         name);
	else
		complain_error(name, error);
}

void
die_of_config(const struct semaphore_on_etcd *sem, int error)
{
	complain_of_config(sem, error);
	end_in_failure();
}

void
config_check_permits(const struct semaphore_on_etcd *sem, const struct config *config, uint32_t permits)
{
	char name[OPERAND_TEXT_MAX];
	store_operand(&sem->store, sem->name, name);
	if (permits != config->permits && (permits == 0 || permits != config->capacity))
		die(name, "it exists with -j %u and has a capacity of %u now, not -j %u ('tsem set -j %u %s' changes it)",
		    config->permits, config->capacity, permits, permits, name);
}

/* The keys of the semaphore must be free: another program may have others in their place. */
static bool
try_to_create(struct semaphore_on_etcd *sem, const struct config *config, uint32_t taken, json_t **answer)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	json_t *value = config_to_json(config);
	for (size_t i = 0; i < ETCD_PARTS; i++) {
		etcd_key(sem, etcd_parts[i], key);
		txn_compare(txn, key, "CREATE", "EQUAL", 0);
	}
	etcd_key(sem, "config", key);
	txn_put(txn, "success", key, value);
	txn_range(txn, "failure", key);
	json_decref(value);
	etcd_key(sem, "anonymous", key);
	if (taken > 0)
		taken_change(txn, key, &(struct taken){.count = 0}, taken, "");
	return etcd_commit(sem, EFFECT_WRITES, txn, answer);
}

bool
etcd_create(struct semaphore_on_etcd *sem, uint32_t permits, uint32_t taken, struct config *config)
{
	struct kv kv;
	uuid_t uuid;
	json_t *answer;
	*config = (struct config){.permits = permits, .capacity = permits, .created = time(NULL), .uid = getuid()};
	uuid_generate(uuid);
	uuid_unparse_lower(uuid, config->uuid);
	while (!try_to_create(sem, config, taken, &answer))
		continue;
	bool created = txn_succeeded(answer);
	if (!created) {
		const struct config wanted = *config;
		const int rc = txn_kv(answer, 0, 0, &kv) ? config_read(&kv, config) : -EBADMSG;
		if (rc < 0)
			die_of_config(sem, rc);
		created = strcmp(config->uuid, wanted.uuid) == 0; /* by an attempt whose answer was lost */
	}
	json_decref(answer);
	return created;
}

bool
etcd_read_config(struct semaphore_on_etcd *sem, struct config *config)
{
	static const char *const ranges[] = {"config", "anonymous"};
	json_t *answer;
	struct kv kv;
	etcd_commit(sem, EFFECT_READS, etcd_ranges(sem, ranges, 2), &answer);
	const bool exists = txn_kv(answer, 0, 0, &kv);
	int rc = exists ? config_read(&kv, config) : 0;
	if (exists && rc == 0 && !taken_read(answer, 1, &sem->taken))
		rc = -EBADMSG;
	if (rc < 0)
		die_of_config(sem, rc);
	json_decref(answer);
	return exists;
}

/* ---- state ---- */

/* By the clocks of two machines, so it may be wrong by their difference. */
static uint64_t
elapsed_since(double since)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	const double elapsed = (double)now.tv_sec + (double)now.tv_nsec / 1e9 - since;
	return elapsed > 0 ? (uint64_t)(elapsed * 1e9) : 0;
}

static void
add_slots(struct snapshot *snapshot, struct tsem_owner *owner, const json_t *slots)
{
	owner->slots = snapshot->slots + snapshot->slots_n;
	for (size_t i = 0; i < json_array_size(slots) && snapshot->slots_n < TSEM_SLOTS_MAX; i++) {
		snapshot->slots[snapshot->slots_n++] = (uint32_t)json_integer_value(json_array_get(slots, i));
		owner->slot_count++;
	}
	owner->slot = owner->slot_count > 0 ? owner->slots[0] : TSEM_NO_SLOT;
}

/* `position`: 0 for a holder. */
static int
add_owner(struct snapshot *snapshot, const struct kv *kv, uint32_t position)
{
	struct entry entry;
	struct tsem_owner *owner = &snapshot->owners[snapshot->n];
	struct remote *remote = &snapshot->remotes[snapshot->n];
	const uint64_t revision = (uint64_t)kv->create_revision;
	if (!entry_read(kv, &entry))
		return -EBADMSG;
	*owner = (struct tsem_owner){
		.position = position,
		.alive = TSEM_ALIVE,
		.owned = true,
		.remaining_ns = -1,
		.pid = entry.pid,
		.uid = entry.uid,
		.count = entry.count,
		.elapsed_ns = elapsed_since(json_number_value(json_object_get(entry.json, "since"))),
		.ticket = position > 0 ? revision : (uint64_t)json_integer_value(json_object_get(entry.json, "ticket")),
	};
	add_slots(snapshot, owner, json_object_get(entry.json, "slots"));
	*remote = (struct remote){strdup(entry.host), strdup(entry.command), position == 0 ? revision : 0};
	snapshot->n++;
	entry_free(&entry);
	return remote->host == NULL || remote->command == NULL ? -ENOMEM : 0;
}

static void
conclude(struct snapshot *snapshot, const struct config *config, uint32_t anonymous)
{
	struct tsem_stat *stat = &snapshot->stat;
	*stat = (struct tsem_stat){
		.size = sizeof(*stat),
		.permits = config->permits,
		.capacity = config->capacity,
		.created = config->created,
		.uid = config->uid,
		.held = anonymous,
		.flags = TSEM_BOUNDED,
	};
	uuid_parse(config->uuid, stat->uuid);
	for (size_t i = 0; i < snapshot->n; i++) {
		const struct tsem_owner *owner = &snapshot->owners[i];
		stat->held += owner->position == 0 ? owner->count : 0;
		stat->waiting += owner->position == 0 ? 0 : 1;
		if (owner->position == 1)
			stat->first_wanted = owner->count;
		reason_note(&snapshot->reason, owner);
	}
	stat->first_free = (int64_t)stat->capacity - (int64_t)stat->held;
	stat->available = stat->waiting == 0 && stat->first_free > 0 ? (uint64_t)stat->first_free : 0;
	reason_conclude(&snapshot->reason, stat, 1);
	/* All are of other machines, or treated alike, so the one that the reason names is the first. */
	snapshot->reason.remote = snapshot->reason.holders > 0 ? &snapshot->remotes[0] : NULL;
}

/* Of ranges over config, holders/, waiters/ and anonymous. */
static int
read_state(const json_t *answer, struct snapshot *snapshot, struct taken *taken)
{
	struct config config;
	struct kv kv;
	const size_t owners = txn_kvs_n(answer, 1) + txn_kvs_n(answer, 2);
	*snapshot = (struct snapshot){
		.owners = calloc(owners + 1, sizeof(*snapshot->owners)),
		.remotes = calloc(owners + 1, sizeof(*snapshot->remotes)),
		.slots = calloc(TSEM_SLOTS_MAX, sizeof(*snapshot->slots)),
	};
	if (snapshot->owners == NULL || snapshot->remotes == NULL || snapshot->slots == NULL)
		return -ENOMEM;
	int rc = txn_kv(answer, 0, 0, &kv) ? config_read(&kv, &config) : -ENOENT;
	for (size_t i = 0; rc == 0 && txn_kv(answer, 1, i, &kv); i++)
		rc = add_owner(snapshot, &kv, 0);
	for (size_t i = 0; rc == 0 && txn_kv(answer, 2, i, &kv); i++)
		rc = add_owner(snapshot, &kv, (uint32_t)i + 1);
	if (rc == 0 && !taken_read(answer, 3, taken))
		rc = -EBADMSG;
	if (rc == 0)
		conclude(snapshot, &config, taken->count);
	return rc;
}

int
etcd_snapshot(struct semaphore_on_etcd *sem, struct snapshot *snapshot)
{
	static const char *const ranges[] = {"config", "holders/", "waiters/", "anonymous"};
	json_t *answer;
	if (!etcd_commit(sem, EFFECT_READS, etcd_ranges(sem, ranges, sizeof(ranges) / sizeof(ranges[0])), &answer))
		return -ETIMEDOUT;
	const int rc = read_state(answer, snapshot, &sem->taken);
	json_decref(answer);
	return rc;
}

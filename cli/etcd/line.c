/* SPDX-License-Identifier: MIT */
#include "etcd/line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "etcd/entry.h"

/* The ranges of a view, in this order. */
enum { VIEW_CONFIG, VIEW_HOLDERS, VIEW_HELD, VIEW_TAKEN, VIEW_FIRST, VIEW_OWN, VIEW_PREDECESSOR };

void
line_key(const struct line *line, const char *folder, char key[KEY_BYTES_MAX])
{
	char rest[64];
	snprintf(rest, sizeof(rest), "%s%s", folder, line->id);
	etcd_key(line->sem, rest, key);
}

void
line_begin(struct line *line, struct semaphore_on_etcd *sem, const struct options *o, int64_t lease, pid_t pid,
           pid_t command)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	*line = (struct line){
		.sem = sem,
		.o = o,
		.lease = lease,
		.pid = pid,
		.command = command,
		.since = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
	};
	snprintf(line->id, sizeof(line->id), "%016" PRIx64, (uint64_t)lease);
}

void
line_end(struct line *line)
{
	json_decref(line->answer);
	line->answer = NULL;
}

/* ---- views ---- */

bool
grant_read(const struct kv *kv, struct granted *grant)
{
	json_t *json = json_loads(kv->value, 0, NULL);
	const json_t *slots = json_object_get(json, "slots");
	grant->fence = kv->create_revision;
	grant->recovered = json_is_true(json_object_get(json, "recovered"));
	grant->slots_n = 0;
	for (size_t i = 0; i < json_array_size(slots) && i < TSEM_SLOTS_MAX; i++)
		grant->slots[grant->slots_n++] = (uint32_t)json_integer_value(json_array_get(slots, i));
	const bool good = json_is_object(json);
	json_decref(json);
	return good;
}

/* The permits of a holder or waiter; 0: the value is none of tsem's. */
static uint32_t
count_of(const struct kv *kv)
{
	struct entry entry;
	if (!entry_read(kv, &entry))
		return 0;
	entry_free(&entry);
	return entry.count;
}

static void
add_ranges(const struct line *line, json_t *txn, const char *when)
{
	char key[KEY_BYTES_MAX];
	etcd_key(line->sem, "config", key);
	txn_range(txn, when, key);
	etcd_key(line->sem, "holders/", key);
	txn_range(txn, when, key);
	etcd_key(line->sem, "held/", key);
	txn_keys(txn, when, key);
	etcd_key(line->sem, "anonymous", key);
	txn_range(txn, when, key);
	etcd_key(line->sem, "waiters/", key);
	txn_first(txn, when, key);
	line_key(line, "waiters/", key);
	txn_range(txn, when, key);
	if (line->ticket == 0)
		return;
	etcd_key(line->sem, "waiters/", key);
	txn_last_before(txn, when, key, line->ticket);
}

static enum place
read_view(struct line *line, json_t *answer, struct granted *grant)
{
	struct kv kv;
	enum place place = PLACE_NONE;
	line_end(line);
	line->answer = answer;
	line->revision = txn_revision(answer);
	line->config_error = txn_kv(answer, VIEW_CONFIG, 0, &kv) ? config_read(&kv, &line->config) : -ENOENT;
	line->has_waiters = txn_count(answer, VIEW_FIRST) > 0;
	if (!txn_kv(answer, VIEW_FIRST, 0, &line->first))
		line->first = (struct kv){.key = NULL};
	bool damaged = line->has_waiters && (line->first.key == NULL || count_of(&line->first) == 0);
	damaged = damaged || !taken_read(answer, VIEW_TAKEN, &line->taken);
	line->held = line->taken.count;
	for (size_t i = 0; txn_kv(answer, VIEW_HOLDERS, i, &kv); i++) {
		const uint32_t count = count_of(&kv);
		line->held += count;
		damaged = damaged || count == 0;
		if (strcmp(id_of(kv.key), line->id) == 0 && grant_read(&kv, grant))
			place = PLACE_HOLDER;
	}
	if (damaged && line->config_error == 0)
		line->config_error = -EBADMSG;
	const bool waits = txn_kv(answer, VIEW_OWN, 0, &kv);
	line->ticket = waits ? kv.create_revision : 0;
	const bool has_predecessor = waits && txn_kv(answer, VIEW_PREDECESSOR, 0, &kv);
	snprintf(line->predecessor_key, sizeof(line->predecessor_key), "%s", has_predecessor ? kv.key : "");
	line->shows_only_us = place == PLACE_HOLDER && line->held == line->o->count;
	if (place == PLACE_HOLDER || !waits)
		return place;
	return line->first.create_revision == line->ticket ? PLACE_FIRST : PLACE_WAITER;
}

/* `serializable`: by what the member knows, which may be old. */
static enum place
look(struct line *line, bool serializable, struct granted *grant)
{
	json_t *txn = txn_new();
	json_t *answer;
	add_ranges(line, txn, "success");
	if (serializable)
		txn_make_serializable(txn);
	return etcd_commit(line->sem, EFFECT_READS, txn, &answer) ? read_view(line, answer, grant) : PLACE_UNKNOWN;
}

enum place
line_look(struct line *line, struct granted *grant)
{
	return look(line, false, grant);
}

static bool
has_room_for(const struct line *line, uint64_t held, uint32_t count)
{
	return held + count <= line->config.capacity;
}

bool
line_has_room(const struct line *line)
{
	return has_room_for(line, line->held, line->has_waiters ? count_of(&line->first) : line->o->count);
}

/* ---- grants ---- */

/* The lowest ones that no holder has, without those of `leaver`. */
static json_t *
choose_slots(const struct line *line, const char *leaver, uint32_t count)
{
	bool used[TSEM_SLOTS_MAX] = {false};
	json_t *slots = json_array();
	struct kv kv;
	struct granted grant;
	for (size_t i = 0; txn_kv(line->answer, VIEW_HOLDERS, i, &kv); i++) {
		if (strcmp(id_of(kv.key), leaver) == 0 || !grant_read(&kv, &grant))
			continue;
		for (size_t slot = 0; slot < grant.slots_n; slot++)
			used[grant.slots[slot] % TSEM_SLOTS_MAX] = true;
	}
	for (uint32_t slot = 0; slot < TSEM_SLOTS_MAX && json_array_size(slots) < count; slot++) {
		if (!used[slot])
			json_array_append_new(slots, json_integer((json_int_t)slot));
	}
	return slots;
}

static bool
is_holder(const struct line *line, const char *id)
{
	struct kv kv;
	for (size_t i = 0; txn_kv(line->answer, VIEW_HOLDERS, i, &kv); i++) {
		if (strcmp(id_of(kv.key), id) == 0)
			return true;
	}
	return false;
}

/*
 * Deletes what the dead have left in held/, as many as fit in a transaction. True: there was any. The view has no
 * holders/X for such a held/X, and guard() excludes that X became a holder since. A holder that died after the view keeps
 * its key in held/, so a later grant tells of it.
 */
static bool
delete_dead(const struct line *line, json_t *txn)
{
	enum { DELETIONS_MAX = 64 };
	struct kv kv;
	size_t n = 0;
	for (size_t i = 0; n < DELETIONS_MAX && txn_kv(line->answer, VIEW_HELD, i, &kv); i++) {
		if (is_holder(line, id_of(kv.key)))
			continue;
		txn_delete(txn, "success", kv.key);
		n++;
	}
	return n > 0;
}

/*
 * Guards the transaction against all that may have taken permits since the view. An unchanged config means the same
 * semaphore and capacity; an unchanged `anonymous`, that no holder's permits have become such ones. A grant creates a key
 * in holders/, so no permit has been taken since if each create revision there is at most that of the view; an empty range
 * counts as revision 0. Departures only free permits and slots.
 */
static void
guard(const struct line *line, json_t *txn)
{
	char key[KEY_BYTES_MAX];
	etcd_key(line->sem, "config", key);
	txn_compare(txn, key, "MOD", "EQUAL", line->config.mod_revision);
	etcd_key(line->sem, "anonymous", key);
	txn_compare(txn, key, "MOD", "EQUAL", line->taken.mod_revision);
	etcd_key(line->sem, "holders/", key);
	txn_compare(txn, key, "CREATE", "LESS", line->revision + 1);
}

/* Makes `id` a holder; `owner`, which is freed, describes it. */
static void
admit(const struct line *line, json_t *txn, const char *id, json_t *owner, int64_t ticket, const char *leaver)
{
	struct timespec now;
	char rest[64];
	char key[KEY_BYTES_MAX];
	const json_int_t count = json_integer_value(json_object_get(owner, "count"));
	clock_gettime(CLOCK_REALTIME, &now);
	json_object_set_new(owner, "since", json_real((double)now.tv_sec + (double)now.tv_nsec / 1e9));
	json_object_set_new(owner, "ticket", json_integer((json_int_t)ticket));
	json_object_set_new(owner, "view", json_integer((json_int_t)line->revision)); /* tests/etcd/check needs it */
	json_object_set_new(owner, "slots", choose_slots(line, leaver, (uint32_t)count));
	if (delete_dead(line, txn))
		json_object_set_new(owner, "recovered", json_true());
	snprintf(rest, sizeof(rest), "holders/%s", id);
	etcd_key(line->sem, rest, key);
	txn_put_leased(txn, "success", key, owner, (int64_t)strtoull(id, NULL, 16));
	snprintf(rest, sizeof(rest), "held/%s", id);
	etcd_key(line->sem, rest, key);
	json_t *nothing = json_object();
	txn_put(txn, "success", key, nothing);
	json_decref(nothing);
	json_decref(owner);
}

/* Admits the first waiter, if it still waits: it is the first for as long, because all that come later stand behind it. */
static void
admit_first(const struct line *line, json_t *txn, const char *leaver)
{
	const struct kv *first = &line->first;
	guard(line, txn);
	txn_compare(txn, first->key, "CREATE", "EQUAL", first->create_revision);
	txn_delete(txn, "success", first->key);
	json_t *owner = json_loads(first->value, 0, NULL);
	admit(line, txn, id_of(first->key), json_is_object(owner) ? owner : json_object(), first->create_revision, leaver);
}

/* Commits what makes this process a holder. The own key in holders/ is read in the same transaction. */
static bool
commit_grant(struct line *line, json_t *txn, struct granted *grant)
{
	char key[KEY_BYTES_MAX];
	json_t *answer;
	struct kv kv;
	bool granted = false;
	const size_t last = json_array_size(json_object_get(txn, "success"));
	line_key(line, "holders/", key);
	txn_range(txn, "success", key);
	if (!etcd_commit(line->sem, EFFECT_WRITES, txn, &answer))
		return false;
	if (txn_succeeded(answer))
		granted = txn_kv(answer, last, 0, &kv) && grant_read(&kv, grant);
	json_decref(answer);
	return granted;
}

bool
line_enter(struct line *line, struct granted *grant)
{
	char all[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	guard(line, txn);
	etcd_key(line->sem, "waiters/", all);
	txn_compare(txn, all, "CREATE", "EQUAL", 0); /* no waiter is overtaken */
	admit(line, txn, line->id, entry_new(line->o, line->pid, line->command, line->since), 0, "");
	const bool granted = commit_grant(line, txn, grant);
	if (granted) { /* nothing else has changed, says the guard */
		line->shows_only_us = line->held == 0;
		line->held += line->o->count;
		line->revision = grant->fence;
	}
	return granted;
}

bool
line_grant(struct line *line, struct granted *grant)
{
	json_t *txn = txn_new();
	admit_first(line, txn, "");
	return commit_grant(line, txn, grant);
}

/* ---- coming and going ---- */

/* Commits, and forgets the answer. */
static bool
commit(struct line *line, json_t *txn, bool *succeeded)
{
	json_t *answer;
	if (!etcd_commit(line->sem, EFFECT_WRITES, txn, &answer))
		return false;
	*succeeded = txn_succeeded(answer);
	json_decref(answer);
	return true;
}

/*
 * CREATE, and not MOD, of config: another semaphore of the same name has another line, but `tsem set` must not refuse a
 * waiter. The two absent own keys make a repeated request harmless.
 */
void
line_queue(struct line *line)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	json_t *owner = entry_new(line->o, line->pid, line->command, line->since);
	json_t *answer;
	etcd_key(line->sem, "config", key);
	txn_compare(txn, key, "CREATE", "EQUAL", line->config.create_revision);
	line_key(line, "holders/", key);
	txn_compare(txn, key, "CREATE", "EQUAL", 0);
	line_key(line, "waiters/", key);
	txn_compare(txn, key, "CREATE", "EQUAL", 0);
	txn_put_leased(txn, "success", key, owner, line->lease);
	json_decref(owner);
	if (!etcd_commit(line->sem, EFFECT_WRITES, txn, &answer))
		return;
	if (txn_succeeded(answer))
		line->ticket = txn_revision(answer);
	json_decref(answer);
}

/* Without the guard, a process that was granted the permits meanwhile would believe that it left, and keep them. */
bool
line_leave(struct line *line)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	bool succeeded;
	line_key(line, "holders/", key);
	txn_compare(txn, key, "CREATE", "EQUAL", 0);
	line_key(line, "waiters/", key);
	txn_delete(txn, "success", key);
	return commit(line, txn, &succeeded) && succeeded;
}

/* The fence is that of this hold, so a late release cannot end a later one under the same lease. */
static json_t *
release(const struct line *line, const struct granted *grant)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	line_key(line, "holders/", key);
	txn_compare(txn, key, "CREATE", "EQUAL", grant->fence);
	txn_delete(txn, "success", key);
	line_key(line, "held/", key);
	txn_delete(txn, "success", key);
	return txn;
}

bool
line_take(struct line *line, const struct granted *grant)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = release(line, grant);
	bool succeeded;
	etcd_key(line->sem, "anonymous", key);
	taken_change(txn, key, &line->taken, line->taken.count + line->o->count, line->id);
	return commit(line, txn, &succeeded) && succeeded;
}

/* The first waiter that the view shows, if it could have its permits. */
static bool
has_successor(const struct line *line)
{
	return line->config_error == 0 && line->first.key != NULL
	       && has_room_for(line, line->held - line->o->count, count_of(&line->first));
}

/*
 * With a guard that there is no waiter, or with the grant to the first one. If it fails, the answer is a new view.
 *
 * Without the former guard, a process that has queued since would have to grant itself its permits. If the first waiter
 * does not fit, no guard is needed: it watches holders/ from its own view on.
 */
static json_t *
release_by_view(const struct line *line, const struct granted *grant)
{
	char all[KEY_BYTES_MAX];
	json_t *txn = release(line, grant);
	add_ranges(line, txn, "failure");
	if (has_successor(line)) {
		admit_first(line, txn, line->id);
	} else if (!line->has_waiters) {
		etcd_key(line->sem, "waiters/", all);
		txn_compare(txn, all, "CREATE", "EQUAL", 0);
	}
	return txn;
}

void
line_foresee(struct line *line)
{
	struct granted grant;
	if (!line->shows_only_us)
		look(line, true, &grant);
}

/*
 * The view from the time of the grant will do if it shows no other holder, which may have died since: the successor has to
 * be told. If the line changes again and again, or the store is full, which can only delete then, the permits are
 * released without a successor, and the first waiter grants itself its own. A process that is no holder has released them
 * by an attempt whose answer was lost.
 */
bool
line_release(struct line *line, const struct granted *grant)
{
	enum { ATTEMPTS = 3 };
	struct granted now;
	json_t *answer;
	bool succeeded;
	enum place place = line->shows_only_us ? PLACE_HOLDER : line_look(line, &now);
	for (int i = 0; i < ATTEMPTS && place == PLACE_HOLDER; i++) {
		if (!etcd_commit(line->sem, EFFECT_WRITES, release_by_view(line, grant), &answer))
			break;
		if (txn_succeeded(answer)) {
			json_decref(answer);
			return true;
		}
		place = read_view(line, answer, &now);
	}
	if (place == PLACE_HOLDER)
		return commit(line, release(line, grant), &succeeded);
	return place != PLACE_UNKNOWN;
}

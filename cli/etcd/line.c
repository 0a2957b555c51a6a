/* SPDX-License-Identifier: MIT */
#include "etcd/line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "etcd/entry.h"

/* The ranges of a view, in this order. */
enum { VIEW_CONFIG, VIEW_HOLDERS, VIEW_HELD, VIEW_TAKEN, VIEW_FIRST, VIEW_OWN, VIEW_PREDECESSOR };

void
line_key(const struct line *line, const char *rest, char key[KEY_BYTES_MAX])
{
	etcd_key_of(&line->sem->store, line->name, rest, key);
}

static void
key_of(const struct line *line, const char *folder, const char *id, char key[KEY_BYTES_MAX])
{
	char rest[64];
	snprintf(rest, sizeof(rest), "%s%s", folder, id);
	line_key(line, rest, key);
}

void
line_own_key(const struct line *line, const char *folder, char key[KEY_BYTES_MAX])
{
	key_of(line, folder, line->id, key);
}

/* ---- views ---- */

bool
grant_read(const struct kv *kv, struct granted *grant)
{
	json_t *json = json_loads(kv->value, 0, NULL);
	const json_t *slots = json_object_get(json, "slots");
	grant->fence = kv->create_revision;
	grant->recovered = grant->recovered || json_is_true(json_object_get(json, "recovered"));
	for (size_t i = 0; i < json_array_size(slots) && grant->slots_n < TSEM_SLOTS_MAX; i++)
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

void
line_add_view(const struct line *line, json_t *txn, const char *when)
{
	char key[KEY_BYTES_MAX];
	line_key(line, "config", key);
	txn_range(txn, when, key);
	line_key(line, "holders/", key);
	txn_range(txn, when, key);
	line_key(line, "held/", key);
	txn_keys(txn, when, key);
	line_key(line, "anonymous", key);
	txn_range(txn, when, key);
	line_key(line, "waiters/", key);
	txn_first(txn, when, key);
	line_own_key(line, "waiters/", key);
	txn_range(txn, when, key);
	if (line->ticket == 0)
		return;
	line_key(line, "waiters/", key);
	txn_last_before(txn, when, key, line->ticket);
}

/* The key at index `i` of a range of the view. */
static bool
view_kv(const struct line *line, size_t range, size_t i, struct kv *kv)
{
	return txn_kv(line->answer, line->at + range, i, kv);
}

static bool
view_has(const struct line *line, size_t range, const char *id)
{
	struct kv kv;
	for (size_t i = 0; view_kv(line, range, i, &kv); i++) {
		if (strcmp(id_of(kv.key), id) == 0)
			return true;
	}
	return false;
}

size_t
line_read_view(struct line *line, const json_t *answer, size_t at, struct granted *grant)
{
	struct kv kv;
	const size_t end = at + (line->ticket == 0 ? VIEW_PREDECESSOR : VIEW_PREDECESSOR + 1);
	line->answer = answer;
	line->at = at;
	line->revision = txn_revision(answer);
	line->config_error = view_kv(line, VIEW_CONFIG, 0, &kv) ? config_read(&kv, &line->config) : -ENOENT;
	line->waiting = txn_count(answer, at + VIEW_FIRST);
	if (!view_kv(line, VIEW_FIRST, 0, &line->first))
		line->first = (struct kv){.key = NULL};
	bool damaged = line->waiting > 0 && (line->first.key == NULL || count_of(&line->first) == 0);
	damaged = damaged || !taken_read(answer, at + VIEW_TAKEN, &line->taken);
	line->held = line->taken.count;
	line->holds = false;
	for (size_t i = 0; view_kv(line, VIEW_HOLDERS, i, &kv); i++) {
		const uint32_t count = count_of(&kv);
		line->held += count;
		damaged = damaged || count == 0;
		if (strcmp(id_of(kv.key), line->id) == 0)
			line->holds = grant_read(&kv, grant);
	}
	if (damaged && line->config_error == 0)
		line->config_error = -EBADMSG;
	line->shows_only_us = line->holds && line->held == line->count;
	const bool has_predecessor = line->ticket != 0 && view_kv(line, VIEW_PREDECESSOR, 0, &kv);
	snprintf(line->predecessor_key, sizeof(line->predecessor_key), "%s", has_predecessor ? kv.key : "");
	line->ticket = view_kv(line, VIEW_OWN, 0, &kv) ? kv.create_revision : 0;
	return end;
}

bool
line_is_first(const struct line *line)
{
	return line->ticket != 0 && line->first.create_revision == line->ticket;
}

bool
line_is_noted(const struct line *line)
{
	return view_has(line, VIEW_HELD, line->id);
}

static bool
has_room_for(const struct line *line, uint64_t held, uint32_t count)
{
	return held + count <= line->config.capacity;
}

bool
line_has_turn(const struct line *line)
{
	return (line->ticket == 0 ? line->waiting == 0 : line_is_first(line))
	       && has_room_for(line, line->held, line->count);
}

bool
line_has_successor(const struct line *line)
{
	struct entry entry;
	if (line->config_error != 0 || line->first.key == NULL || !entry_read(&line->first, &entry))
		return false;
	const bool has = entry.names == 1 && has_room_for(line, line->held - line->count, entry.count);
	entry_free(&entry);
	return has;
}

/* ---- grants ---- */

/* The lowest ones that no holder has, without those of `leaver`. */
static json_t *
choose_slots(const struct line *line, const char *leaver, uint32_t count)
{
	bool used[TSEM_SLOTS_MAX] = {false};
	json_t *slots = json_array();
	struct kv kv;
	static struct granted grant; /* is big */
	for (size_t i = 0; view_kv(line, VIEW_HOLDERS, i, &kv); i++) {
		grant.slots_n = 0;
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

/*
 * Deletes what the dead have left in held/, as many as fit in a transaction. True: there was any. The view has no
 * holders/X for such a held/X, and guard() excludes that X became a holder since. A holder that died after the view keeps
 * its key in held/, so a later grant tells of it.
 */
static bool
delete_dead(const struct line *line, json_t *txn)
{
	struct kv kv;
	size_t n = 0;
	for (size_t i = 0; n < line->dead_max && view_kv(line, VIEW_HELD, i, &kv); i++) {
		if (lease_of(kv.key) == 0 || view_has(line, VIEW_HOLDERS, id_of(kv.key)))
			continue;
		txn_compare(txn, kv.key, "CREATE", "EQUAL", kv.create_revision); /* no other grant has told of it since */
		txn_delete(txn, "success", kv.key);
		n++;
	}
	return n > 0;
}

/*
 * Guards the transaction against all that may have taken permits since the view. An unchanged config means the same
 * semaphore and capacity. A grant creates a key in holders/, so none has been granted since if each create revision there
 * is at most that of the view; an empty range counts as revision 0. A holder that has come and left since has freed its
 * permits and slots, or has made them permits of nobody, which changes `anonymous`.
 */
static void
guard(const struct line *line, json_t *txn)
{
	char key[KEY_BYTES_MAX];
	line_key(line, "config", key);
	txn_compare(txn, key, "MOD", "EQUAL", line->config.mod_revision);
	line_key(line, "anonymous", key);
	txn_compare(txn, key, "MOD", "EQUAL", line->taken.mod_revision);
	line_key(line, "holders/", key);
	txn_compare(txn, key, "CREATE", "LESS", line->revision + 1);
}

/* Makes `id` a holder; `owner` describes it. Its permits may be those of `leaver`. */
static void
admit(const struct line *line, json_t *txn, const char *id, const json_t *owner, int64_t ticket, const char *leaver)
{
	struct timespec now;
	char key[KEY_BYTES_MAX];
	json_t *holder = json_copy((json_t *)(uintptr_t)owner);
	const json_int_t count = json_integer_value(json_object_get(owner, "count"));
	clock_gettime(CLOCK_REALTIME, &now);
	json_object_set_new(holder, "since", json_real((double)now.tv_sec + (double)now.tv_nsec / 1e9));
	json_object_set_new(holder, "ticket", json_integer((json_int_t)ticket));
	json_object_set_new(holder, "view", json_integer((json_int_t)line->revision)); /* tests/etcd/check needs it */
	json_object_set_new(holder, "slots", choose_slots(line, leaver, (uint32_t)count));
	if (delete_dead(line, txn))
		json_object_set_new(holder, "recovered", json_true());
	key_of(line, "holders/", id, key);
	txn_put_leased(txn, "success", key, holder, (int64_t)strtoull(id, NULL, 16));
	json_decref(holder);
	key_of(line, "held/", id, key);
	json_t *nothing = json_object();
	txn_put(txn, "success", key, nothing);
	json_decref(nothing);
}

/* A waiter gives up its place, if it still has it. It is the first as long as it has: all that come later stand behind it. */
static void
leave_place(json_t *txn, const char *key, int64_t ticket)
{
	txn_compare(txn, key, "CREATE", "EQUAL", ticket);
	txn_delete(txn, "success", key);
}

void
line_expect_none(const struct line *line, json_t *txn)
{
	char all[KEY_BYTES_MAX];
	line_key(line, "waiters/", all);
	txn_compare(txn, all, "CREATE", "EQUAL", 0);
}

void
line_admit(const struct line *line, json_t *txn, const json_t *owner)
{
	char key[KEY_BYTES_MAX];
	guard(line, txn);
	line_own_key(line, "waiters/", key);
	if (line->ticket == 0)
		line_expect_none(line, txn); /* no waiter is overtaken */
	else
		leave_place(txn, key, line->ticket);
	admit(line, txn, line->id, owner, line->ticket, "");
}

void
line_admit_successor(const struct line *line, json_t *txn)
{
	const struct kv *first = &line->first;
	json_t *owner = json_loads(first->value, 0, NULL);
	guard(line, txn);
	leave_place(txn, first->key, first->create_revision);
	admit(line, txn, id_of(first->key), owner, first->create_revision, line->id);
	json_decref(owner);
}

void
line_give_back(const struct line *line, json_t *txn, int64_t fence)
{
	char key[KEY_BYTES_MAX];
	line_own_key(line, "holders/", key);
	txn_compare(txn, key, "CREATE", "EQUAL", fence);
	txn_delete(txn, "success", key);
	line_own_key(line, "held/", key);
	txn_delete(txn, "success", key);
}

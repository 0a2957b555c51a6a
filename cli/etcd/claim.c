/* SPDX-License-Identifier: MIT */
#include "etcd/claim.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "etcd/entry.h"

void
claim_begin(struct claim *claim, struct semaphore_on_etcd *sem, const struct options *o, int64_t lease, pid_t pid,
            pid_t command)
{
	enum { DEAD_MAX = 64 }; /* of one transaction */
	struct timespec now;
	const size_t n = sem->store.names_n;
	clock_gettime(CLOCK_REALTIME, &now);
	*claim = (struct claim){
		.sem = sem,
		.o = o,
		.any = o->any && n > 1,
		.lease = lease,
		.pid = pid,
		.command = command,
		.since = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
		.n = n,
	};
	snprintf(claim->id, sizeof(claim->id), "%016" PRIx64, (uint64_t)lease);
	for (size_t i = 0; i < n; i++)
		claim->lines[i] = (struct line){
			.sem = sem, .name = sem->store.names[i], .id = claim->id, .count = o->count, .dead_max = DEAD_MAX / n};
}

void
claim_end(struct claim *claim)
{
	json_decref(claim->answer);
	claim->answer = NULL;
}

/* ---- views ---- */

static void
add_views(const struct claim *claim, json_t *txn, const char *when)
{
	for (size_t i = 0; i < claim->n; i++)
		line_add_view(&claim->lines[i], txn, when);
}

/* An old view must not overwrite a grant that the store has told of since. */
static enum place
read_views(struct claim *claim, json_t *answer, struct granted *grant)
{
	size_t at = 0;
	size_t waits = 0;
	size_t holds = 0;
	struct granted shown = {.which = 0};
	claim_end(claim);
	claim->answer = answer;
	for (size_t i = 0; i < claim->n; i++) {
		struct line *line = &claim->lines[i];
		at = line_read_view(line, answer, at, &shown);
		waits += line->ticket != 0;
		if (line->holds && holds++ == 0 && claim->any)
			shown.which = i;
	}
	if (holds > 0) {
		*grant = shown;
		return PLACE_HOLDER;
	}
	return waits == 0 ? PLACE_NONE : waits < claim->n ? PLACE_PART : PLACE_WAITER;
}

/* `serializable`: by what the member knows, which may be old. */
static enum place
look(struct claim *claim, bool serializable, struct granted *grant)
{
	json_t *txn = txn_new();
	json_t *answer;
	add_views(claim, txn, "success");
	if (serializable)
		txn_make_serializable(txn);
	return etcd_commit(claim->sem, EFFECT_READS, txn, &answer) ? read_views(claim, answer, grant) : PLACE_UNKNOWN;
}

enum place
claim_look(struct claim *claim, struct granted *grant)
{
	return look(claim, false, grant);
}

const struct line *
claim_first_bad(const struct claim *claim)
{
	size_t i = 0;
	while (i < claim->n && claim->lines[i].config_error == 0)
		i++;
	return i < claim->n ? &claim->lines[i] : NULL;
}

const struct line *
claim_newest(const struct claim *claim)
{
	const struct line *newest = &claim->lines[0];
	for (size_t i = 1; i < claim->n; i++) {
		if (claim->lines[i].config.create_revision > newest->config.create_revision)
			newest = &claim->lines[i];
	}
	return newest;
}

/* A semaphore that was created later has a higher revision than each one before. */
int64_t
claim_incarnation(const struct claim *claim)
{
	return claim_newest(claim)->config.create_revision;
}

/* How many of the lines have their turn, and with --any the first one that has. */
static size_t
count_turns(const struct claim *claim, size_t *which)
{
	size_t turns = 0;
	for (size_t i = 0; i < claim->n; i++) {
		if (line_has_turn(&claim->lines[i]) && turns++ == 0)
			*which = i;
	}
	return turns;
}

bool
claim_has_turn(const struct claim *claim)
{
	size_t which = 0;
	const size_t turns = count_turns(claim, &which);
	return claim->any ? turns > 0 : turns == claim->n;
}

/* ---- coming ---- */

static json_t *
describe(const struct claim *claim)
{
	return entry_new(claim->o, claim->pid, claim->command, claim->since, claim->n);
}

/* Commits, and forgets the answer. */
static bool
commit(struct claim *claim, json_t *txn, bool *succeeded)
{
	json_t *answer;
	if (!etcd_commit(claim->sem, EFFECT_WRITES, txn, &answer))
		return false;
	*succeeded = txn_succeeded(answer);
	json_decref(answer);
	return true;
}

/*
 * CREATE, and not MOD, of config: another semaphore of the same name has another line, but `tsem set` must not refuse a
 * waiter. The absent own keys make a repeated request harmless. With --max-waiting, no other process has queued since the
 * view.
 */
void
claim_queue(struct claim *claim)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	json_t *owner = describe(claim);
	json_t *answer;
	for (size_t i = 0; i < claim->n; i++) {
		const struct line *line = &claim->lines[i];
		line_key(line, "config", key);
		txn_compare(txn, key, "CREATE", "EQUAL", line->config.create_revision);
		line_own_key(line, "holders/", key);
		txn_compare(txn, key, "CREATE", "EQUAL", 0);
		line_own_key(line, "waiters/", key);
		txn_compare(txn, key, "CREATE", "EQUAL", 0);
		txn_put_leased(txn, "success", key, owner, claim->lease);
		line_key(line, "waiters/", key);
		if (claim->o->max_waiting != 0)
			txn_compare(txn, key, "CREATE", "LESS", line->revision + 1);
	}
	json_decref(owner);
	if (!etcd_commit(claim->sem, EFFECT_WRITES, txn, &answer))
		return;
	for (size_t i = 0; txn_succeeded(answer) && i < claim->n; i++)
		claim->lines[i].ticket = txn_revision(answer);
	json_decref(answer);
}

/* The own keys in holders/ are read in the same transaction. */
static bool
commit_grant(struct claim *claim, json_t *txn, size_t first, size_t n, struct granted *grant)
{
	json_t *answer;
	struct kv kv;
	const size_t at = json_array_size(json_object_get(txn, "success"));
	for (size_t i = 0; i < n; i++) {
		char key[KEY_BYTES_MAX];
		line_own_key(&claim->lines[first + i], "holders/", key);
		txn_range(txn, "success", key);
	}
	if (!etcd_commit(claim->sem, EFFECT_WRITES, txn, &answer))
		return false;
	struct granted now = {.which = claim->any ? first : 0};
	bool granted = txn_succeeded(answer);
	for (size_t i = 0; granted && i < n; i++)
		granted = txn_kv(answer, at + i, 0, &kv) && grant_read(&kv, &now);
	if (granted)
		*grant = now;
	json_decref(answer);
	return granted;
}

/* With --any, the places in the other lines are given up at the same time. */
static void
leave_others(const struct claim *claim, size_t which, json_t *txn)
{
	for (size_t i = 0; i < claim->n; i++) {
		char key[KEY_BYTES_MAX];
		line_own_key(&claim->lines[i], "waiters/", key);
		if (i != which)
			txn_delete(txn, "success", key);
	}
}

bool
claim_grant(struct claim *claim, struct granted *grant)
{
	json_t *txn = txn_new();
	json_t *owner = describe(claim);
	size_t first = 0;
	size_t n = claim->n;
	if (claim->any) {
		count_turns(claim, &first);
		leave_others(claim, first, txn);
		n = 1;
	}
	for (size_t i = 0; i < n; i++)
		line_admit(&claim->lines[first + i], txn, owner);
	json_decref(owner);
	const bool granted = commit_grant(claim, txn, first, n, grant);
	for (size_t i = 0; granted && i < n; i++) { /* nothing else has changed, say the guards */
		struct line *line = &claim->lines[first + i];
		line->shows_only_us = line->ticket == 0 && line->held == 0;
		line->held += line->count;
		line->revision = grant->fence;
	}
	return granted;
}

void
claim_settle(struct claim *claim, const struct granted *grant)
{
	if (!claim->any)
		return;
	claim->lines[0] = claim->lines[grant->which];
	claim->n = 1;
	claim->any = false;
}

/* ---- going ---- */

/* Without the guard, a process that was granted the permits meanwhile would believe that it left, and keep them. */
bool
claim_leave(struct claim *claim)
{
	char key[KEY_BYTES_MAX];
	json_t *txn = txn_new();
	bool succeeded;
	for (size_t i = 0; i < claim->n; i++) {
		line_own_key(&claim->lines[i], "holders/", key);
		txn_compare(txn, key, "CREATE", "EQUAL", 0);
		line_own_key(&claim->lines[i], "waiters/", key);
		txn_delete(txn, "success", key);
	}
	return commit(claim, txn, &succeeded) && succeeded;
}

static json_t *
release(const struct claim *claim, const struct granted *grant)
{
	json_t *txn = txn_new();
	for (size_t i = 0; i < claim->n; i++)
		line_give_back(&claim->lines[i], txn, grant->fence);
	return txn;
}

bool
claim_take(struct claim *claim, const struct granted *grant)
{
	char key[KEY_BYTES_MAX];
	const struct line *line = &claim->lines[0];
	json_t *txn = release(claim, grant);
	bool succeeded;
	line_key(line, "anonymous", key);
	taken_change(txn, key, &line->taken, line->taken.count + line->count, claim->id);
	return commit(claim, txn, &succeeded) && succeeded;
}

void
claim_foresee(struct claim *claim)
{
	struct granted grant;
	if (claim->n == 1 && !claim->lines[0].shows_only_us)
		look(claim, true, &grant);
}

/*
 * With a guard that there is no waiter, or with the grant to the first one. If it fails, the answer is a new view.
 *
 * Without the former guard, a process that has queued since would have to grant itself its permits. If the first waiter
 * does not fit, or wants those of several semaphores, no guard is needed: it watches holders/ from its own view on.
 */
static json_t *
release_by_view(const struct claim *claim, const struct granted *grant)
{
	const struct line *line = &claim->lines[0];
	json_t *txn = release(claim, grant);
	add_views(claim, txn, "failure");
	if (line_has_successor(line))
		line_admit_successor(line, txn);
	else if (line->waiting == 0)
		line_expect_none(line, txn);
	return txn;
}

/*
 * The view from the time of the grant will do if it shows no other holder, which may have died since: the successor has to
 * be told. If the line changes again and again, or the store is full, which can only delete then, the permits are
 * released without a successor, and the first waiter grants itself its own. A process that is no holder has released them
 * by an attempt whose answer was lost.
 */
static enum place
hand_over(struct claim *claim, const struct granted *grant)
{
	enum { ATTEMPTS = 3 };
	struct granted now;
	json_t *answer;
	enum place place = claim->lines[0].shows_only_us ? PLACE_HOLDER : claim_look(claim, &now);
	for (int i = 0; i < ATTEMPTS && place == PLACE_HOLDER; i++) {
		if (!etcd_commit(claim->sem, EFFECT_WRITES, release_by_view(claim, grant), &answer))
			break;
		if (txn_succeeded(answer)) {
			json_decref(answer);
			return PLACE_NONE;
		}
		place = read_views(claim, answer, &now);
	}
	claim->was_over = place == PLACE_NONE;
	return place;
}

/* With several semaphores, each first waiter grants itself its permits. */
bool
claim_release(struct claim *claim, const struct granted *grant)
{
	bool succeeded;
	const enum place place = claim->n == 1 ? hand_over(claim, grant) : PLACE_HOLDER;
	if (place == PLACE_HOLDER)
		return commit(claim, release(claim, grant), &succeeded);
	return place != PLACE_UNKNOWN;
}

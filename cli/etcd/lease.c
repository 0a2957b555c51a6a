/* SPDX-License-Identifier: MIT */
#include "etcd/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uuid.h>

#include "etcd/login.h"
#include "etcd/txn.h"
#include "monotonic.h"

/* Parts of the lifetime: how often to keep the lease alive, how long an attempt may take, and the pause after one. */
enum { PERIODS = 4, ATTEMPTS = 8, PAUSES = 20 };

uint64_t
boottime_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

int64_t
lease_choose(void)
{
	uuid_t uuid;
	int64_t id;
	do {
		uuid_generate(uuid);
		memcpy(&id, uuid, sizeof(id)); /* of these bits, 59 are random */
		id &= INT64_MAX;
	} while (id == 0);
	return id;
}

static json_t *
with_id(const struct lease *lease)
{
	char id[24];
	snprintf(id, sizeof(id), "%" PRId64, lease->id);
	return json_pack("{s:s}", "ID", id);
}

enum outcome
lease_grant(struct lease *lease, uint64_t deadline_ns)
{
	enum outcome outcome;
	do {
		char ttl[24];
		json_t *request = with_id(lease);
		json_t *answer;
		lease->sent_ns = boottime_ns();
		snprintf(ttl, sizeof(ttl), "%" PRIu64, lease->ttl_ns / NS_PER_SECOND);
		json_object_set_new(request, "TTL", json_string(ttl));
		outcome = wire_post(lease->wire, "/v3/lease/grant", EFFECT_WRITES, request, deadline_ns, &answer);
		if (outcome == OUTCOME_DONE)
			json_decref(answer);
	} while (outcome == OUTCOME_LOST && wire_pause(lease->wire, deadline_ns));
	if (outcome == OUTCOME_DONE) {
		lease->valid_until_ns = lease->sent_ns + lease->ttl_ns;
		lease->next_ns = monotonic_ns() + lease->ttl_ns / PERIODS;
	}
	/* By an attempt whose answer was lost, or by an earlier keeper: some time ago, so it has to be kept alive at once. */
	lease->existed = outcome == OUTCOME_REFUSED && strstr(wire_error(lease->wire), "lease already exists") != NULL;
	return lease->existed ? OUTCOME_DONE : outcome;
}

enum outcome
lease_revoke(struct lease *lease, uint64_t deadline_ns)
{
	enum outcome outcome;
	do {
		json_t *answer;
		outcome = wire_post(lease->wire, "/v3/lease/revoke", EFFECT_WRITES, with_id(lease), deadline_ns, &answer);
		if (outcome == OUTCOME_DONE)
			json_decref(answer);
	} while (outcome == OUTCOME_LOST && wire_pause(lease->wire, deadline_ns));
	const bool missing = outcome == OUTCOME_REFUSED && strstr(wire_error(lease->wire), "lease not found") != NULL;
	return missing ? OUTCOME_DONE : outcome;
}

/* ---- staying alive ---- */

static void
start(struct lease *lease, const char *path, json_t *request)
{
	char *body = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	lease->call = call_start(lease->wire, path, body, lease->ttl_ns / ATTEMPTS, NULL, NULL);
	free(body);
}

/* The time is taken before the request is sent, because the store counts from when it receives it. */
static void
start_keeping(struct lease *lease)
{
	lease->reads = false;
	lease->member = wire_member(lease->wire);
	lease->sent_ns = boottime_ns();
	start(lease, "/v3/lease/keepalive", with_id(lease));
}

/*
 * A leader that has been replaced without knowing it still answers for leases that have ended (etcd issue 15247). But it
 * cannot answer a linearizable read.
 */
static void
start_reading(struct lease *lease)
{
	json_t *txn = txn_new();
	for (size_t i = 0; i < lease->keys_n; i++)
		txn_keys(txn, "success", lease->keys[i]);
	start(lease, "/v3/kv/txn", txn);
}

/* Without a TTL, it has ended. */
static bool
is_alive(const json_t *answer)
{
	const char *ttl = json_string_value(json_object_get(json_object_get(answer, "result"), "TTL"));
	return ttl != NULL && strtoll(ttl, NULL, 10) > 0;
}

static bool
is_of_etcd(const json_t *answer, bool reads)
{
	return reads ? json_object_get(answer, "responses") != NULL
	             : json_object_get(json_object_get(answer, "result"), "ID") != NULL;
}

static bool
has_keys(const struct lease *lease, const json_t *answer)
{
	size_t i = 0;
	while (i < lease->keys_n && txn_count(answer, i) > 0)
		i++;
	return i == lease->keys_n;
}

static void
try_again(struct lease *lease, uint64_t pause_ns)
{
	lease->next_ns = monotonic_ns() + pause_ns;
}

/*
 * If the lease lives on, a process has deleted a key. But the answer that it lives may have been an old one, so that is
 * known only when the member, which is up to date now, gives it again.
 */
static void
miss_key(struct lease *lease)
{
	lease->gone = lease->keyless = lease->missed;
	lease->missed = true;
	try_again(lease, 0);
}

/* The answer comes from the same member, or does not count. */
static void
take_answer(struct lease *lease, enum outcome outcome, const json_t *answer)
{
	const bool same = lease->member == wire_member(lease->wire);
	const bool reads = lease->reads;
	lease->reads = false;
	lease->refused = outcome == OUTCOME_REFUSED;
	if (outcome == OUTCOME_REFUSED || (outcome == OUTCOME_DONE && !is_of_etcd(answer, reads)))
		wire_leave_member(lease->wire, lease->member);
	if (outcome != OUTCOME_DONE || !same || !is_of_etcd(answer, reads))
		try_again(lease, lease->ttl_ns / PAUSES);
	else if (reads && lease->holds && !has_keys(lease, answer))
		miss_key(lease);
	else if (!reads && !is_alive(answer))
		lease->gone = true;
	else if (!reads && lease->rests)
		try_again(lease, lease->ttl_ns / PERIODS);
	else if (!reads) {
		lease->reads = true;
		try_again(lease, 0);
	} else {
		lease->missed = false;
		lease->valid_until_ns = lease->sent_ns + lease->ttl_ns;
		try_again(lease, lease->ttl_ns / PERIODS);
	}
}

uint64_t
lease_tick(struct lease *lease)
{
	enum outcome outcome;
	json_t *answer = NULL;
	if (call_take_answer(&lease->call, &outcome, &answer)) {
		take_answer(lease, outcome, answer);
		json_decref(answer);
	}
	if (lease->call != NULL || lease->gone || !login_is_done(lease->wire->login))
		return UINT64_MAX;
	if (monotonic_ns() < lease->next_ns)
		return lease->next_ns;
	if (lease->reads && lease->member == wire_member(lease->wire))
		start_reading(lease);
	else
		start_keeping(lease);
	return UINT64_MAX;
}

void
lease_rest(struct lease *lease, bool rests)
{
	const bool was_read = boottime_ns() + lease->ttl_ns - lease->ttl_ns / PERIODS < lease->valid_until_ns;
	if (lease->rests && !rests && !was_read && lease->call == NULL)
		lease->next_ns = 0;
	lease->rests = rests;
}

void
lease_stop(struct lease *lease)
{
	call_free(lease->call);
	lease->call = NULL;
}

/* SPDX-License-Identifier: MIT */
#include "etcd/wire.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd/login.h"
#include "message.h"
#include "monotonic.h"

enum { MS_MAX = 60 * 1000 };

struct wire *
wire_open(const struct store *store)
{
	struct wire *wire = calloc(1, sizeof(*wire));
	if (wire == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != 0 || (wire->multi = curl_multi_init()) == NULL)
		die_error(store->operand, -ENOMEM);
	wire->store = store;
	wire->login = login_begin(wire);
	return wire;
}

void
wire_close(struct wire *wire)
{
	login_end(wire->login);
	curl_multi_cleanup(wire->multi);
	free(wire);
}

/* ---- steps ---- */

void
wire_set_tick(struct wire *wire, uint64_t (*tick)(void *arg), void *arg)
{
	wire->tick = tick;
	wire->tick_arg = arg;
}

static int
ms_until(uint64_t until_ns)
{
	const uint64_t now = monotonic_ns();
	const uint64_t ms = until_ns > now ? (until_ns - now) / NS_PER_MS + 1 : 0;
	return ms < MS_MAX ? (int)ms : MS_MAX;
}

static uint64_t
tick(struct wire *wire)
{
	const uint64_t login_due = login_tick(wire->login);
	const uint64_t own_due = wire->tick == NULL ? UINT64_MAX : wire->tick(wire->tick_arg);
	return login_due < own_due ? login_due : own_due;
}

void
wire_step(struct wire *wire, struct curl_waitfd *fds, unsigned n, uint64_t until_ns)
{
	const uint64_t due = tick(wire);
	int running;
	curl_multi_poll(wire->multi, fds, n, ms_until(due < until_ns ? due : until_ns), NULL);
	curl_multi_perform(wire->multi, &running);
	calls_note_ends(wire);
	tick(wire); /* so the caller sees what the answers have changed */
}

static enum outcome
attempt(struct wire *wire, const char *path, const char *body, uint64_t timeout_ns, json_t **answer)
{
	struct call *call = call_start(wire, path, body, timeout_ns, NULL, NULL);
	enum outcome end;
	while (!call_take_answer(&call, &end, answer))
		wire_step(wire, NULL, 0, UINT64_MAX);
	return end;
}

/* ---- all attempts ---- */

/* An attempt without time would fail for that reason, and hide the true one. */
bool
wire_pause(struct wire *wire, uint64_t deadline_ns)
{
	enum { PAUSE_MS = 100, ATTEMPT_MS_MIN = 400 };
	const uint64_t end = monotonic_ns() + PAUSE_MS * NS_PER_MS;
	if (end + ATTEMPT_MS_MIN * NS_PER_MS >= deadline_ns)
		return false;
	while (monotonic_ns() < end)
		wire_step(wire, NULL, 0, end);
	return true;
}

/* Waits for the token. OUTCOME_DONE: requests can be sent. */
static enum outcome
log_in(struct wire *wire, uint64_t deadline_ns)
{
	while (!login_is_done(wire->login) && monotonic_ns() < deadline_ns)
		wire_step(wire, NULL, 0, deadline_ns);
	return login_is_refused(wire->login) ? OUTCOME_REFUSED
	       : login_is_done(wire->login)  ? OUTCOME_DONE
	                                     : OUTCOME_UNREACHED;
}

/* With a token, and once more with another one if the store does not accept that. */
static enum outcome
attempt_with_token(struct wire *wire, const char *path, const char *body, uint64_t timeout_ns, json_t **answer)
{
	const uint64_t deadline_ns = monotonic_ns() + timeout_ns;
	enum outcome end = log_in(wire, deadline_ns);
	const unsigned turn = wire->token_turn;
	if (end == OUTCOME_DONE)
		end = attempt(wire, path, body, timeout_ns, answer);
	if (end == OUTCOME_REFUSED && wire->token_turn != turn && log_in(wire, deadline_ns) == OUTCOME_DONE)
		end = attempt(wire, path, body, timeout_ns, answer);
	return end;
}

/* A member that does not answer at all must leave time for the others. */
static enum outcome
ask(struct wire *wire, const char *path, const char *body, enum effect effect, uint64_t deadline_ns, json_t **answer)
{
	const size_t members = wire->store->endpoints_n;
	bool lost = false;
	for (size_t tried = 1;; tried++) {
		const uint64_t now = monotonic_ns();
		const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
		const size_t rest = tried < members ? members - tried + 1 : 1;
		const enum outcome end = attempt_with_token(wire, path, body, left / rest, answer);
		if (end == OUTCOME_DONE)
			return OUTCOME_DONE;
		if (end == OUTCOME_REFUSED)
			return OUTCOME_REFUSED;
		lost = lost || end == OUTCOME_LOST;
		if (lost && effect == EFFECT_WRITES)
			return OUTCOME_LOST;
		if (tried % members == 0 && !wire_pause(wire, deadline_ns))
			return lost ? OUTCOME_LOST : OUTCOME_UNREACHED;
	}
}

static char *
body_of(const struct wire *wire, json_t *request)
{
	char *body = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	if (body == NULL)
		die_error(wire->store->operand, -ENOMEM);
	return body;
}

enum outcome
wire_post_once(struct wire *wire, const char *path, json_t *request, uint64_t timeout_ns, json_t **answer)
{
	char *body = body_of(wire, request);
	const enum outcome outcome = attempt_with_token(wire, path, body, timeout_ns, answer);
	free(body);
	return outcome;
}

enum outcome
wire_post(struct wire *wire, const char *path, enum effect effect, json_t *request, uint64_t deadline_ns,
          json_t **answer)
{
	char *body = body_of(wire, request);
	const enum outcome outcome = ask(wire, path, body, effect, deadline_ns, answer);
	free(body);
	return outcome;
}

enum outcome
wire_get(struct wire *wire, const char *path, uint64_t deadline_ns, json_t **answer)
{
	return ask(wire, path, NULL, EFFECT_READS, deadline_ns, answer);
}

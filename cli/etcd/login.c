/* SPDX-License-Identifier: MIT */
#include "etcd/login.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "etcd/credentials.h"
#include "message.h"
#include "monotonic.h"

struct login {
	struct wire *wire;
	struct credentials credentials;
	struct call *call; /* that gets the token; NULL: none is under way */
	bool unneeded;     /* the store asked for no user */
	unsigned unneeded_turn;
	bool refused;
	uint64_t next_ns; /* of the next attempt, CLOCK_MONOTONIC */
};

struct login *
login_begin(struct wire *wire)
{
	struct login *login = calloc(1, sizeof(*login));
	if (login == NULL)
		die_error(wire->store->operand, -ENOMEM);
	login->wire = wire;
	credentials_read(&login->credentials, wire->store->operand);
	return login;
}

void
login_end(struct login *login)
{
	call_free(login->call);
	credentials_free(&login->credentials);
	free(login->wire->token);
	free(login);
}

/* The store may ask for users from some time on. */
bool
login_is_done(const struct login *login)
{
	const bool unneeded = login->unneeded && login->unneeded_turn == login->wire->token_turn;
	return login->credentials.user == NULL || unneeded || login->refused || login->wire->token != NULL;
}

bool
login_is_refused(const struct login *login)
{
	return login->refused;
}

static void
start(struct login *login)
{
	enum { ATTEMPT_S = 2 };
	const struct credentials *credentials = &login->credentials;
	json_t *request = json_pack("{s:s, s:s}", "name", credentials->user, "password", credentials->password);
	char *body = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	if (body == NULL) /* not UTF-8 */
		die(credentials->user, "the name or password of ETCDCTL_USER is not UTF-8 (correct it)");
	login->call = call_start(login->wire, "/v3/auth/authenticate", body, ATTEMPT_S * NS_PER_SECOND, NULL, NULL);
	free(body);
}

static void
take_answer(struct login *login, enum outcome outcome, const json_t *answer)
{
	enum { PAUSE_MS = 100 };
	const char *token = json_string_value(json_object_get(answer, "token"));
	login->next_ns = monotonic_ns() + PAUSE_MS * NS_PER_MS;
	login->unneeded =
		outcome == OUTCOME_REFUSED && strstr(wire_error(login->wire), "authentication is not enabled") != NULL;
	login->refused = outcome == OUTCOME_REFUSED && !login->unneeded;
	login->unneeded_turn = login->wire->token_turn;
	if (outcome == OUTCOME_DONE && token != NULL)
		login->wire->token = strdup(token);
}

uint64_t
login_tick(struct login *login)
{
	enum outcome outcome;
	json_t *answer = NULL;
	if (call_take_answer(&login->call, &outcome, &answer)) {
		take_answer(login, outcome, answer);
		json_decref(answer);
		return 0; /* what waits for the token can go on */
	}
	if (login->call != NULL || login_is_done(login))
		return UINT64_MAX;
	if (monotonic_ns() < login->next_ns)
		return login->next_ns;
	start(login);
	return UINT64_MAX;
}

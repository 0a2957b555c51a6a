/* SPDX-License-Identifier: MIT */
/* One request to one member of a store: JSON over HTTP, by libcurl. */
#ifndef TSEM_CLI_ETCD_CALL_H
#define TSEM_CLI_ETCD_CALL_H

#include <curl/curl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "etcd/store.h"

enum { ERROR_BYTES_MAX = 512 };

/* What all calls share. */
struct wire {
	const struct store *store;
	CURLM *multi;
	size_t member; /* the endpoint that answered last; counts on beyond the last one */
	char error[ERROR_BYTES_MAX];
	char *token;         /* by which the store knows the user; NULL: there is none */
	unsigned token_turn; /* rises when the store does not accept the token */
	struct login *login;
	uint64_t (*tick)(void *arg);
	void *tick_arg;
};

enum outcome {
	OUTCOME_DONE,
	OUTCOME_REFUSED,   /* wire_error() says why */
	OUTCOME_UNREACHED, /* the store has not done it */
	OUTCOME_LOST,      /* no answer in time, and the store may have done it */
};

/* Of the last request that was not done: a part of a sentence. */
const char *wire_error(const struct wire *wire);

struct call;

/*
 * Starts to POST `body` to the present member; NULL: a GET. With `receive`, the answer is a stream without an end, and
 * each line of it is received as JSON; otherwise there is one answer.
 */
struct call *call_start(struct wire *wire, const char *path, const char *body, uint64_t timeout_ns,
                        void (*receive)(void *arg, json_t *line), void *arg);

/*
 * Takes the answer of a call that has ended, and frees it: `*call` is NULL then. Without an answer, another member becomes
 * the present one. False: it goes on, or there is none.
 */
bool call_take_answer(struct call **call, enum outcome *outcome, json_t **answer);

/* Breaks it off if it goes on. `call` may be NULL. */
void call_free(struct call *call);

/* A number that changes with the present member. */
size_t wire_member(const struct wire *wire);

/* Makes another member the present one, if `member` is that. */
void wire_leave_member(struct wire *wire, size_t member);

/* Notes which calls have ended. */
void calls_note_ends(struct wire *wire);

#endif

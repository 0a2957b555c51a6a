/* SPDX-License-Identifier: MIT */
/* Requests to the members of a store: JSON over HTTP, by libcurl. */
#ifndef TSEM_CLI_ETCD_WIRE_H
#define TSEM_CLI_ETCD_WIRE_H

#include <curl/curl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "etcd/store.h"

struct wire;

/* Dies if libcurl cannot start. */
struct wire *wire_open(const struct store *store);

void wire_close(struct wire *wire);

enum outcome {
	OUTCOME_DONE,
	OUTCOME_REFUSED,   /* wire_error() says why */
	OUTCOME_UNREACHED, /* the store has not done it */
	OUTCOME_LOST,      /* no answer in time, and the store may have done it */
};

/* Whether a request may simply be repeated. After a lost write, the caller first looks whether it was done. */
enum effect { EFFECT_READS, EFFECT_WRITES };

/*
 * POSTs `request`, which it frees, and waits for the answer, at most until CLOCK_MONOTONIC reaches `deadline_ns`. Asks
 * one member after the other until one is reached. With OUTCOME_DONE, `*answer` is the caller's.
 */
enum outcome wire_post(struct wire *wire, const char *path, enum effect effect, json_t *request, uint64_t deadline_ns,
                       json_t **answer);

/* The same for a GET. */
enum outcome wire_get(struct wire *wire, const char *path, uint64_t deadline_ns, json_t **answer);

/* Waits a little between two attempts. False: not enough time is left for another one. */
bool wire_pause(struct wire *wire, uint64_t deadline_ns);

/* Of the last request that was not done: a part of a sentence. */
const char *wire_error(const struct wire *wire);

/* ---- several at once ---- */

/*
 * Lets all calls go on, also those of wire_post(), until something happens to one of them, a descriptor is ready, or
 * CLOCK_MONOTONIC reaches `until_ns`.
 */
void wire_step(struct wire *wire, struct curl_waitfd *fds, unsigned n, uint64_t until_ns);

/* Each step begins with a call of `tick`, which returns when the next one is due, CLOCK_MONOTONIC. */
void wire_set_tick(struct wire *wire, uint64_t (*tick)(void *arg), void *arg);

struct call;

/*
 * Starts to POST `body` to the present member; NULL: a GET. With `receive`, the answer is a stream without an end, and
 * each line of it is received as JSON; otherwise there is one answer.
 */
struct call *call_start(struct wire *wire, const char *path, const char *body, uint64_t timeout_ns,
                        void (*receive)(void *arg, json_t *line), void *arg);

/* False: it goes on. Without an answer, another member becomes the present one. Asked only once after the end. */
bool call_has_ended(struct call *call, enum outcome *outcome, json_t **answer);

/* Breaks it off if it goes on. `call` may be NULL. */
void call_free(struct call *call);

/* A number that changes with the present member. */
size_t wire_member(const struct wire *wire);

/* Makes another member the present one, if `member` is that. */
void wire_leave_member(struct wire *wire, size_t member);

#endif

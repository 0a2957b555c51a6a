/* SPDX-License-Identifier: MIT */
/* Requests to the members of a store. */
#ifndef TSEM_CLI_ETCD_WIRE_H
#define TSEM_CLI_ETCD_WIRE_H

#include "etcd/call.h"

/* Dies if libcurl cannot start. */
struct wire *wire_open(const struct store *store);

void wire_close(struct wire *wire);

/* Whether a request may simply be repeated. After a lost write, the caller first looks whether it was done. */
enum effect { EFFECT_READS, EFFECT_WRITES };

/*
 * POSTs `request`, which it frees, and waits for the answer, at most until CLOCK_MONOTONIC reaches `deadline_ns`. Asks
 * one member after the other until one is reached. With OUTCOME_DONE, `*answer` is the caller's.
 */
enum outcome wire_post(struct wire *wire, const char *path, enum effect effect, json_t *request, uint64_t deadline_ns,
                       json_t **answer);

/* The same, but asks one member only, which has `timeout_ns` to answer. */
enum outcome wire_post_once(struct wire *wire, const char *path, json_t *request, uint64_t timeout_ns, json_t **answer);

/* The same for a GET. */
enum outcome wire_get(struct wire *wire, const char *path, uint64_t deadline_ns, json_t **answer);

/* Waits a little between two attempts. False: not enough time is left for another one. */
bool wire_pause(struct wire *wire, uint64_t deadline_ns);

/* ---- several at once ---- */

/*
 * Lets all calls go on, also those of wire_post(), until something happens to one of them, a descriptor is ready, or
 * CLOCK_MONOTONIC reaches `until_ns`.
 */
void wire_step(struct wire *wire, struct curl_waitfd *fds, unsigned n, uint64_t until_ns);

/* Each step begins and ends with a call of `tick`, which returns when the next one is due, CLOCK_MONOTONIC. */
void wire_set_tick(struct wire *wire, uint64_t (*tick)(void *arg), void *arg);

#endif

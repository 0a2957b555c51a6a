/* SPDX-License-Identifier: MIT */
/* Requests to the members of a store: JSON over HTTP, by libcurl. */
#ifndef TSEM_CLI_ETCD_WIRE_H
#define TSEM_CLI_ETCD_WIRE_H

#include <jansson.h>
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

/* What repeating a request would do: a read-only one may be repeated, and another one has to be looked for first. */
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
bool wire_pause(uint64_t deadline_ns);

/* Of the last request that was not done: a part of a sentence. */
const char *wire_error(const struct wire *wire);

#endif

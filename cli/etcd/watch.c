/* SPDX-License-Identifier: MIT */
#include "etcd/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* All keys in one POST, because etcd does not read what comes later (its issue 8237): one JSON object after the other. */
static char *
body_of(const struct watch *watch)
{
	char *body = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&body, &length);
	for (size_t i = 0; file != NULL && i < watch->n; i++) {
		json_t *request = txn_watch(watch->keys[i], watch->revision + 1);
		json_dumpf(request, file, JSON_COMPACT);
		json_decref(request);
	}
	if (file == NULL || fclose(file) != 0)
		die_error(NULL, -ENOMEM);
	return body;
}

/* {"result": {"created": true}}, {"result": {"events": [...]}}, or an end: {"result": {"canceled": true}}, {"error": ...}. */
static void
receive(void *arg, json_t *line)
{
	struct watch *watch = arg;
	const json_t *result = json_object_get(line, "result");
	if (watch->revision == WATCH_FROM_NOW && json_is_true(json_object_get(result, "created")))
		watch->changed = true; /* perhaps */
	if (result == NULL || json_is_true(json_object_get(result, "canceled")))
		watch->broken = true;
	const json_t *events = json_object_get(result, "events");
	for (size_t i = 0; i < json_array_size(events); i++) {
		struct kv kv;
		if (watch->event != NULL && txn_event(json_array_get(events, i), &kv))
			watch->event(watch->arg, &kv);
		watch->changed = true;
	}
}

static bool
watches(const struct watch *watch, const char keys[][KEY_BYTES_MAX], size_t n)
{
	bool same = watch->call != NULL && !watch->broken && watch->member == wire_member(watch->wire) && watch->n == n;
	for (size_t i = 0; same && i < n; i++)
		same = strcmp(watch->keys[i], keys[i]) == 0;
	return same;
}

void
watch_begin(struct watch *watch, struct wire *wire, const char keys[][KEY_BYTES_MAX], size_t n, int64_t revision)
{
	enum { CONNECT_NS = 2000000000 };
	if (watches(watch, keys, n))
		return;
	if (watch->broken) /* so may the next one be */
		wire_pause(wire, UINT64_MAX);
	watch_end(watch);
	watch->wire = wire;
	watch->member = wire_member(wire);
	watch->revision = revision;
	watch->n = n;
	watch->changed = false;
	watch->broken = false;
	memcpy(watch->keys, keys, n * sizeof(watch->keys[0]));
	char *body = body_of(watch);
	watch->call = call_start(wire, "/v3/watch", body, CONNECT_NS, receive, watch);
	free(body);
}

bool
watch_tells(struct watch *watch)
{
	enum outcome outcome;
	json_t *answer = NULL;
	if (call_take_answer(&watch->call, &outcome, &answer)) {
		watch->broken = true;
		json_decref(answer);
	}
	const bool tells = watch->changed || watch->broken || watch->member != wire_member(watch->wire);
	watch->changed = false;
	return tells;
}

void
watch_end(struct watch *watch)
{
	call_free(watch->call);
	watch->call = NULL;
}

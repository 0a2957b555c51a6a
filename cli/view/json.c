/* SPDX-License-Identifier: MIT */
#include "view/json.h"

#include <errno.h>
#include <stdio.h>

#include "view/describe.h"

/* ---- values ---- */

static json_t *
seconds_to_json(uint64_t ns)
{
	const uint64_t ms = ns / 1000000;
	return json_real((double)ms / 1000);
}

static json_t *
slots_to_json(const struct tsem_owner *owner)
{
	json_t *slots = json_array();
	for (uint32_t i = 0; slots != NULL && i < owner->slot_count; i++)
		json_array_append_new(slots, json_integer(owner->slots[i]));
	return slots;
}

static json_t *
value_to_json(const struct value *value)
{
	switch (value->kind) {
	case VALUE_TEXT:
		return json_string(value->text);
	case VALUE_NUMBER:
		return json_integer((json_int_t)value->number);
	case VALUE_BOOLEAN:
		return json_boolean(value->number != 0);
	case VALUE_DURATION:
		return seconds_to_json(value->number);
	case VALUE_SLOTS:
		return slots_to_json(value->owner);
	default:
		return json_null();
	}
}

/* ---- objects ---- */

/* The keys without -o, as tsem-json(5) documents them. A holder of a single slot has no SHOW_SLOTS, the last one. */
static const struct selection holder_keys = {
	.columns = &show_columns,
	.shown = {SHOW_PID, SHOW_NSPID, SHOW_PIDNS, SHOW_FOREIGN, SHOW_UID, SHOW_COMMAND, SHOW_COUNT, SHOW_TIME, SHOW_OWNED,
              SHOW_ALIVE, SHOW_SLOT, SHOW_SLOTS},
	.n = 12,
};

static const struct selection waiter_keys = {
	.columns = &show_columns,
	.shown = {SHOW_PID, SHOW_NSPID, SHOW_PIDNS, SHOW_FOREIGN, SHOW_UID, SHOW_COMMAND, SHOW_COUNT, SHOW_TIME, SHOW_OWNED,
              SHOW_ALIVE, SHOW_POSITION},
	.n = 11,
};

/* Further ones if the owner is on another machine, or may be. */
static const struct selection remote_keys = {.columns = &show_columns, .shown = {SHOW_HOST, SHOW_FENCE}, .n = 2};

/* A semaphore without an excess has no LIST_EXCESS, the last one. */
static const struct selection semaphore_keys = {
	.columns = &list_columns,
	.shown = {LIST_NAME, LIST_UUID, LIST_PERMITS, LIST_CAPACITY, LIST_MAX, LIST_AVAILABLE, LIST_HELD, LIST_WAITING,
              LIST_REASON, LIST_WHY, LIST_TICKET, LIST_GRANT, LIST_MODE, LIST_UID, LIST_CREATED, LIST_EXCESS},
	.n = 16,
};

/* Stores what the column says of `arg`. */
typedef void value_fn(const void *arg, size_t column, struct value *value);

/* An object with the first `n` of the keys; NULL if there is no memory. */
static json_t *
object_of(const struct selection *keys, size_t n, value_fn *to_value, const void *arg)
{
	json_t *json = json_object();
	for (size_t i = 0; json != NULL && i < n; i++) {
		struct value value;
		to_value(arg, keys->shown[i], &value);
		if (json_object_set_new(json, keys->columns->items[keys->shown[i]].key, value_to_json(&value)) != 0) {
			json_decref(json);
			json = NULL;
		}
	}
	return json;
}

static void
value_of_semaphore(const void *arg, size_t column, struct value *value)
{
	semaphore_to_value(arg, (enum list_column)column, READER_JSON, value);
}

static void
value_of_participant(const void *arg, size_t column, struct value *value)
{
	participant_to_value(arg, (enum show_column)column, READER_JSON, value);
}

json_t *
semaphore_to_json(const struct semaphore *semaphore, const struct selection *selection)
{
	const struct selection *keys = selection == NULL ? &semaphore_keys : selection;
	const size_t n = keys == &semaphore_keys && excess_of(semaphore->stat) == 0 ? keys->n - 1 : keys->n;
	return object_of(keys, n, value_of_semaphore, semaphore);
}

json_t *
participant_to_json(const struct participant *participant, const struct selection *selection)
{
	const struct tsem_owner *owner = participant->owner;
	const struct selection *keys = selection != NULL ? selection : owner->position == 0 ? &holder_keys : &waiter_keys;
	const size_t n = keys == &holder_keys && owner->slot_count < 2 ? keys->n - 1 : keys->n;
	json_t *json = object_of(keys, n, value_of_participant, participant);
	if (selection == NULL && participant->remote != NULL)
		json_object_update_new(json, object_of(&remote_keys, remote_keys.n, value_of_participant, participant));
	return json;
}

int
print_json(json_t *json)
{
	if (json == NULL)
		return -ENOMEM;
	const int rc = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(json);
	/* flush_stdout() reports write errors. */
	return rc != 0 && !ferror(stdout) ? -ENOMEM : 0;
}

/* SPDX-License-Identifier: MIT */
#include "view/json.h"

#include <errno.h>
#include <stdio.h>

#include "process.h"
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
owner_value(const struct tsem_owner *owner, enum show_column column)
{
	char text[CELL_BYTES_MAX];
	switch (column) {
	case SHOW_POSITION:
		return owner->position == 0 ? json_null() : json_integer(owner->position);
	case SHOW_PID:
		return process_number(owner) == 0 ? json_null() : json_integer(process_number(owner));
	case SHOW_NSPID:
		return json_integer(owner->pid);
	case SHOW_PIDNS:
		return owner->pid_ns == 0 ? json_null() : json_integer(owner->pid_ns);
	case SHOW_UID:
		return json_integer(owner->uid);
	case SHOW_COUNT:
		return json_integer(owner->count);
	case SHOW_SLOT:
		return owner->slot == TSEM_NO_SLOT ? json_null() : json_integer(owner->slot);
	case SHOW_SLOTS:
		return slots_to_json(owner);
	case SHOW_TIME:
		return seconds_to_json(owner->elapsed_ns);
	case SHOW_DEADLINE:
		return owner->remaining_ns < 0 ? json_null() : seconds_to_json((uint64_t)owner->remaining_ns);
	case SHOW_ALIVE:
		return json_string(alive_to_text(owner->alive));
	case SHOW_STOPPED:
		return json_boolean(process_is_stopped(owner));
	case SHOW_OWNED:
		return json_boolean(owner->owned);
	case SHOW_FOREIGN:
		return json_boolean(process_is_elsewhere(owner));
	case SHOW_TICKET:
		return json_integer((json_int_t)owner->ticket);
	case SHOW_COMMAND:
		owner_command(owner, text, CELL_BYTES_MAX);
		return json_string(text);
	default:
		owner_to_cell(owner, column, text);
		return json_string(text);
	}
}

static json_t *
stat_value(const char *name, const struct tsem_stat *stat, enum reason_kind reason, enum list_column column)
{
	char text[CELL_BYTES_MAX];
	switch (column) {
	case LIST_PERMITS:
		return json_integer(stat->permits);
	case LIST_CAPACITY:
		return json_integer(stat->capacity);
	case LIST_MAX:
		return json_integer(stat->max);
	case LIST_AVAILABLE:
		return json_integer((json_int_t)stat->available);
	case LIST_HELD:
		return json_integer((json_int_t)stat->held);
	case LIST_WAITING:
		return json_integer(stat->waiting);
	case LIST_TICKET:
		return json_integer((json_int_t)stat->ticket);
	case LIST_GRANT:
		return json_integer((json_int_t)stat->grant);
	case LIST_UID:
		return json_integer(stat->uid);
	case LIST_GID:
		return json_integer(stat->gid);
	case LIST_EXCESS:
		return json_integer((json_int_t)excess_of(stat));
	case LIST_BOUNDED:
		return json_boolean((stat->flags & TSEM_BOUNDED) != 0);
	default:
		stat_to_cell(name, stat, reason, column, text);
		return json_string(text);
	}
}

/* ---- objects ---- */

/* The keys without -o, as tsem(1) documents them. A holder of a single slot has no SHOW_SLOTS, the last one. */
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

/* A semaphore without an excess has no LIST_EXCESS, the last one. */
static const struct selection semaphore_keys = {
	.columns = &list_columns,
	.shown = {LIST_NAME, LIST_UUID, LIST_PERMITS, LIST_CAPACITY, LIST_MAX, LIST_AVAILABLE, LIST_HELD, LIST_WAITING,
              LIST_REASON, LIST_TICKET, LIST_GRANT, LIST_MODE, LIST_UID, LIST_CREATED, LIST_EXCESS},
	.n = 15,
};

json_t *
stat_to_json(const char *name, const struct tsem_stat *stat, enum reason_kind reason, const struct selection *selection)
{
	const struct selection *keys = selection == NULL ? &semaphore_keys : selection;
	json_t *json = json_object();
	const size_t n = keys == &semaphore_keys && excess_of(stat) == 0 ? keys->n - 1 : keys->n;
	for (size_t i = 0; json != NULL && i < n; i++) {
		const size_t column = keys->shown[i];
		json_t *value = stat_value(name, stat, reason, (enum list_column)column);
		if (json_object_set_new(json, keys->columns->items[column].key, value) != 0) {
			json_decref(json);
			json = NULL;
		}
	}
	return json;
}

json_t *
owner_to_json(const struct tsem_owner *owner, const struct selection *selection)
{
	const struct selection *keys = selection != NULL ? selection : owner->position == 0 ? &holder_keys : &waiter_keys;
	json_t *json = json_object();
	const size_t n = keys == &holder_keys && owner->slot_count < 2 ? keys->n - 1 : keys->n;
	for (size_t i = 0; json != NULL && i < n; i++) {
		const size_t column = keys->shown[i];
		json_t *value = owner_value(owner, (enum show_column)column);
		if (json_object_set_new(json, keys->columns->items[column].key, value) != 0) {
			json_decref(json);
			json = NULL;
		}
	}
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

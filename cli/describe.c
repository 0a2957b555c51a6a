/* SPDX-License-Identifier: MIT */
#include "describe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "process.h"

#define NS_PER_SECOND UINT64_C(1000000000)

int
open_for_viewing(const char *name, tsem **sem)
{
	return tsem_open(name, TSEM_READ_ONLY | TSEM_FOREIGN, sem);
}

const char *
alive_to_text(enum tsem_alive alive)
{
	return alive == TSEM_DEAD ? "no" : alive == TSEM_ALIVE ? "yes" : "unknown";
}

void
uuid_to_text(const unsigned char uuid[16], char text[37])
{
	size_t at = 0;
	for (size_t i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text[at++] = '-';
		at += (size_t)snprintf(text + at, 3, "%02x", uuid[i]);
	}
}

void
time_to_text(int64_t seconds, char text[32])
{
	const time_t t = (time_t)seconds;
	struct tm tm;
	if (gmtime_r(&t, &tm) == NULL || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		strcpy(text, "1970-01-01T00:00:00Z"); /* only a damaged segment has such a time */
}

void
duration_to_text(uint64_t ns, char text[24])
{
	const unsigned long long s = ns / NS_PER_SECOND;
	if (s < 60)
		snprintf(text, 24, "%llu.%llus", s, (unsigned long long)(ns % NS_PER_SECOND / (NS_PER_SECOND / 10)));
	else if (s < 3600)
		snprintf(text, 24, "%llum%02llus", s / 60, s % 60);
	else if (s < 86400)
		snprintf(text, 24, "%lluh%02llum", s / 3600, s / 60 % 60);
	else
		snprintf(text, 24, "%llud%02lluh", s / 86400, s / 3600 % 24);
}

static json_t *
seconds_to_json(uint64_t ns)
{
	const uint64_t ms = ns / (NS_PER_SECOND / 1000);
	return json_real((double)ms / 1000);
}

json_t *
stat_to_json(const char *name, const struct tsem_stat *stat)
{
	char uuid[37];
	char created[32];
	char mode[8];
	uuid_to_text(stat->uuid, uuid);
	time_to_text(stat->created, created);
	snprintf(mode, sizeof(mode), "%04o", (unsigned)stat->mode);
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:s}", "name", name, "uuid", uuid,
	                 "permits", (json_int_t)stat->permits, "capacity", (json_int_t)stat->capacity, "max",
	                 (json_int_t)stat->max, "available", (json_int_t)stat->available, "held", (json_int_t)stat->held,
	                 "waiting", (json_int_t)stat->waiting, "ticket", (json_int_t)stat->ticket, "grant",
	                 (json_int_t)stat->grant, "mode", mode, "uid", (json_int_t)stat->uid, "created", created);
}

json_t *
owner_to_json(const struct tsem_owner *owner)
{
	char command[4096];
	owner_command(owner, command, sizeof(command));
	json_t *json =
		json_pack("{s:I, s:I, s:s, s:I, s:o, s:b, s:s}", "pid", (json_int_t)owner->pid, "uid", (json_int_t)owner->uid,
	              "command", command, "count", (json_int_t)owner->count, "seconds", seconds_to_json(owner->elapsed_ns),
	              "owned", owner->owned, "alive", alive_to_text(owner->alive));
	if (json == NULL)
		return NULL;
	/* Slots are not given out yet. */
	const int rc = owner->position == 0 ? json_object_set_new(json, "slot", json_null())
	                                    : json_object_set_new(json, "position", json_integer(owner->position));
	if (rc == 0)
		return json;
	json_decref(json);
	return NULL;
}

int
print_json(json_t *json)
{
	if (json == NULL)
		return -ENOMEM;
	/* Write errors show when stdout is closed. */
	json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(json);
	return 0;
}

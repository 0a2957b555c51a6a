/* SPDX-License-Identifier: MIT */
#include "view/describe.h"

#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "monotonic.h"
#include "process.h"

/* ---- values ---- */

static const char *
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
	if (t != seconds || gmtime_r(&t, &tm) == NULL || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
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

/* Remembers the last user, because consecutive rows mostly have the same one and a look-up may be slow. */
void
user_to_text(uid_t uid, char text[64])
{
	static char last[64];
	static uid_t last_uid;
	if (last[0] == '\0' || last_uid != uid) {
		const struct passwd *passwd = getpwuid(uid);
		if (passwd != NULL)
			snprintf(last, sizeof(last), "%s", passwd->pw_name);
		else
			snprintf(last, sizeof(last), "%u", (unsigned)uid);
		last_uid = uid;
	}
	strcpy(text, last);
}

/* A damaged segment may have any numbers. */
uint64_t
dead_of(const struct tsem_stat *stat, const struct reason *reason)
{
	return reason->dead < stat->held ? reason->dead : stat->held;
}

void
held_to_text(const struct tsem_stat *stat, const struct reason *reason, char text[64])
{
	const uint64_t dead = dead_of(stat, reason);
	const int length = snprintf(text, 64, "%" PRIu64 " held", stat->held);
	if (dead > 0)
		snprintf(text + length, 64 - (size_t)length, " (%" PRIu64 " by dead holders)", dead);
}

uint64_t
excess_of(const struct tsem_stat *stat)
{
	const bool may_be_posted = stat->permits == 0 || (stat->max > stat->capacity && stat->available <= stat->max);
	return may_be_posted ? 0 : stat->excess;
}

static void
group_to_text(gid_t gid, char text[64])
{
	const struct group *group = getgrgid(gid);
	if (group != NULL)
		snprintf(text, 64, "%s", group->gr_name);
	else
		snprintf(text, 64, "%u", (unsigned)gid);
}

/* ---- columns ---- */

static void
set_text(struct value *value, const char *text)
{
	value->kind = VALUE_TEXT;
	snprintf(value->text, sizeof(value->text), "%s", text);
}

static void
set_number(struct value *value, uint64_t number)
{
	value->kind = VALUE_NUMBER;
	value->number = number;
}

static void
set_boolean(struct value *value, bool yes)
{
	value->kind = VALUE_BOOLEAN;
	value->number = yes;
}

static void
set_duration(struct value *value, uint64_t ns)
{
	value->kind = VALUE_DURATION;
	value->number = ns;
}

/* What is told of the owner's process. */
static void
process_to_value(const struct tsem_owner *owner, enum show_column column, enum reader reader, struct value *value)
{
	const bool table = reader == READER_TABLE;
	switch (column) {
	case SHOW_PID:
		if (process_number(owner) != 0)
			set_number(value, (uint64_t)process_number(owner));
		else if (table)
			set_text(value, "-");
		break;
	case SHOW_NSPID:
		if (process_is_elsewhere(owner) || !table)
			set_number(value, (uint64_t)owner->pid);
		break;
	case SHOW_PIDNS:
		if (owner->pid_ns != 0)
			set_number(value, owner->pid_ns);
		break;
	case SHOW_USER:
		value->kind = VALUE_TEXT;
		user_to_text(owner->uid, value->text);
		break;
	case SHOW_UID:
		set_number(value, owner->uid);
		break;
	case SHOW_ALIVE:
		set_text(value, table && process_is_stopped(owner) ? "stopped" : alive_to_text(owner->alive));
		break;
	case SHOW_STOPPED:
		set_boolean(value, process_is_stopped(owner));
		break;
	case SHOW_FOREIGN:
		set_boolean(value, process_is_elsewhere(owner));
		break;
	case SHOW_COMMAND:
		value->kind = VALUE_TEXT;
		/* A holder that is `tsem run` has not started its command yet, or waits for another semaphore. */
		if (table && owner->position != 0)
			owner_task(owner, value->text, sizeof(value->text));
		else
			owner_command(owner, value->text, sizeof(value->text));
		break;
	default:
		break;
	}
}

static void
owner_to_value(const struct tsem_owner *owner, enum show_column column, enum reader reader, struct value *value)
{
	const bool holds = owner->position == 0;
	value->kind = VALUE_NONE;
	switch (column) {
	case SHOW_STATE:
		set_text(value, holds ? "holds" : "waits");
		break;
	case SHOW_POSITION:
		if (!holds)
			set_number(value, owner->position);
		break;
	case SHOW_COUNT:
		set_number(value, owner->count);
		break;
	case SHOW_TIME:
		set_duration(value, owner->elapsed_ns);
		break;
	case SHOW_DEADLINE:
		if (owner->remaining_ns >= 0)
			set_duration(value, (uint64_t)owner->remaining_ns);
		break;
	case SHOW_OWNED:
		set_boolean(value, owner->owned);
		break;
	case SHOW_TICKET:
		set_number(value, owner->ticket);
		break;
	case SHOW_SLOT:
		if (owner->slot != TSEM_NO_SLOT)
			set_number(value, owner->slot);
		break;
	case SHOW_SLOTS:
		value->kind = VALUE_SLOTS;
		value->owner = owner;
		break;
	default:
		process_to_value(owner, column, reader, value);
		break;
	}
}

void
participant_to_value(const struct participant *participant, enum show_column column, enum reader reader,
                     struct value *value)
{
	const struct remote *remote = participant->remote;
	if (remote != NULL && column == SHOW_HOST) {
		set_text(value, remote->host);
	} else if (remote != NULL && column == SHOW_FENCE && remote->fence != 0) {
		set_number(value, remote->fence);
	} else if (remote != NULL && column == SHOW_COMMAND) {
		set_text(value, remote->command);
	} else {
		owner_to_value(participant->owner, column, reader, value);
	}
}

static uint64_t
stat_number(const struct tsem_stat *stat, enum list_column column)
{
	switch (column) {
	case LIST_PERMITS:
		return stat->permits;
	case LIST_CAPACITY:
		return stat->capacity;
	case LIST_MAX:
		return stat->max;
	case LIST_AVAILABLE:
		return stat->available;
	case LIST_EXCESS:
		return excess_of(stat);
	case LIST_HELD:
		return stat->held;
	case LIST_WAITING:
		return stat->waiting;
	case LIST_TICKET:
		return stat->ticket;
	case LIST_GRANT:
		return stat->grant;
	case LIST_UID:
		return stat->uid;
	case LIST_GID:
		return stat->gid;
	default:
		return 0;
	}
}

static bool
is_of_files(enum list_column column)
{
	return column == LIST_MODE || column == LIST_GROUP || column == LIST_GID || column == LIST_TICKET
	       || column == LIST_GRANT;
}

void
semaphore_to_value(const struct semaphore *semaphore, enum list_column column, enum reader reader, struct value *value)
{
	const struct tsem_stat *stat = semaphore->stat;
	value->kind = VALUE_TEXT;
	if (semaphore->remote && is_of_files(column)) {
		value->kind = VALUE_NONE;
		return;
	}
	switch (column) {
	case LIST_NAME:
		set_text(value, semaphore->name);
		break;
	case LIST_MODE:
		snprintf(value->text, sizeof(value->text), "%04o", (unsigned)stat->mode);
		break;
	case LIST_USER:
		user_to_text(stat->uid, value->text);
		break;
	case LIST_GROUP:
		group_to_text(stat->gid, value->text);
		break;
	case LIST_BOUNDED:
		set_boolean(value, (stat->flags & TSEM_BOUNDED) != 0);
		break;
	case LIST_CREATED:
		time_to_text(stat->created, value->text);
		break;
	case LIST_UUID:
		uuid_to_text(stat->uuid, value->text);
		break;
	case LIST_REASON:
		set_text(value, reason_word(semaphore->reason->kind));
		break;
	case LIST_WHY:
		reason_to_text(semaphore->reason, stat, semaphore->name, &reason_full, value->text);
		break;
	default:
		set_number(value, stat_number(stat, column));
		if (column == LIST_EXCESS && value->number == 0 && reader == READER_TABLE)
			value->kind = VALUE_NONE;
		break;
	}
}

/* ---- cells ---- */

/* Such as "0,3". "..." replaces the slots that do not fit. */
static void
slots_to_text(const struct tsem_owner *owner, char text[CELL_BYTES_MAX])
{
	size_t length = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < owner->slot_count; i++) {
		if (length + sizeof(",1023...") > CELL_BYTES_MAX) {
			strcpy(text + length, "...");
			return;
		}
		length += (size_t)sprintf(text + length, "%s%" PRIu32, i > 0 ? "," : "", owner->slots[i]);
	}
}

static void
value_to_cell(const struct value *value, char text[CELL_BYTES_MAX])
{
	switch (value->kind) {
	case VALUE_NONE:
		text[0] = '\0';
		break;
	case VALUE_TEXT:
		strcpy(text, value->text);
		break;
	case VALUE_NUMBER:
		snprintf(text, CELL_BYTES_MAX, "%" PRIu64, value->number);
		break;
	case VALUE_BOOLEAN:
		strcpy(text, value->number != 0 ? "yes" : "no");
		break;
	case VALUE_DURATION:
		duration_to_text(value->number, text);
		break;
	case VALUE_SLOTS:
		slots_to_text(value->owner, text);
		break;
	}
}

void
participant_to_cell(const struct participant *participant, enum show_column column, char text[CELL_BYTES_MAX])
{
	struct value value;
	participant_to_value(participant, column, READER_TABLE, &value);
	value_to_cell(&value, text);
}

void
semaphore_to_cell(const struct semaphore *semaphore, enum list_column column, char text[CELL_BYTES_MAX])
{
	struct value value;
	semaphore_to_value(semaphore, column, READER_TABLE, &value);
	value_to_cell(&value, text);
}

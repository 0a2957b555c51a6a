/* SPDX-License-Identifier: MIT */
#include "view/describe.h"

#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "process.h"

/* ---- values ---- */

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
	const int length = snprintf(text, 64, "%" PRIu64 " held", stat->held - dead);
	if (dead > 0)
		snprintf(text + length, 64 - (size_t)length, ", %" PRIu64 " of dead holders", dead);
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

/* ---- cells ---- */

static const char *
yes_or_no(bool yes)
{
	return yes ? "yes" : "no";
}

/* Such as "0,3". "..." replaces the slots that do not fit. */
static void
slots_to_text(const struct tsem_owner *owner, char text[CELL_BYTES_MAX])
{
	size_t length = 0;
	for (uint32_t i = 0; i < owner->slot_count; i++) {
		if (length + sizeof(",1023...") > CELL_BYTES_MAX) {
			strcpy(text + length, "...");
			return;
		}
		length += (size_t)sprintf(text + length, "%s%" PRIu32, i > 0 ? "," : "", owner->slots[i]);
	}
}

static void
pid_to_cell(pid_t pid, char text[CELL_BYTES_MAX])
{
	if (pid == 0)
		strcpy(text, "-");
	else
		snprintf(text, CELL_BYTES_MAX, "%d", (int)pid);
}

/* What is told of the owner's process. */
static void
process_to_cell(const struct tsem_owner *owner, enum show_column column, char text[CELL_BYTES_MAX])
{
	switch (column) {
	case SHOW_PID:
		pid_to_cell(process_number(owner), text);
		break;
	case SHOW_NSPID:
		if (process_is_elsewhere(owner))
			pid_to_cell(owner->pid, text);
		break;
	case SHOW_PIDNS:
		if (owner->pid_ns != 0)
			snprintf(text, CELL_BYTES_MAX, "%" PRIu32, owner->pid_ns);
		break;
	case SHOW_USER:
		user_to_text(owner->uid, text);
		break;
	case SHOW_UID:
		snprintf(text, CELL_BYTES_MAX, "%u", (unsigned)owner->uid);
		break;
	case SHOW_ALIVE:
		strcpy(text, process_is_stopped(owner) ? "stopped" : alive_to_text(owner->alive));
		break;
	case SHOW_STOPPED:
		strcpy(text, yes_or_no(process_is_stopped(owner)));
		break;
	case SHOW_FOREIGN:
		strcpy(text, yes_or_no(process_is_elsewhere(owner)));
		break;
	case SHOW_COMMAND:
		/* A holder that is `tsem run` has not started its command yet, or waits for another semaphore. */
		if (owner->position == 0)
			owner_command(owner, text, CELL_BYTES_MAX);
		else
			owner_task(owner, text, CELL_BYTES_MAX);
		break;
	default:
		break;
	}
}

void
owner_to_cell(const struct tsem_owner *owner, enum show_column column, char text[CELL_BYTES_MAX])
{
	const bool holds = owner->position == 0;
	text[0] = '\0';
	switch (column) {
	case SHOW_STATE:
		strcpy(text, holds ? "holds" : "waits");
		break;
	case SHOW_POSITION:
		if (!holds)
			snprintf(text, CELL_BYTES_MAX, "%" PRIu32, owner->position);
		break;
	case SHOW_COUNT:
		snprintf(text, CELL_BYTES_MAX, "%" PRIu32, owner->count);
		break;
	case SHOW_TIME:
		duration_to_text(owner->elapsed_ns, text);
		break;
	case SHOW_DEADLINE:
		if (owner->remaining_ns >= 0)
			duration_to_text((uint64_t)owner->remaining_ns, text);
		break;
	case SHOW_OWNED:
		strcpy(text, yes_or_no(owner->owned));
		break;
	case SHOW_TICKET:
		snprintf(text, CELL_BYTES_MAX, "%" PRIu64, owner->ticket);
		break;
	case SHOW_SLOT:
		if (owner->slot != TSEM_NO_SLOT)
			snprintf(text, CELL_BYTES_MAX, "%" PRIu32, owner->slot);
		break;
	case SHOW_SLOTS:
		slots_to_text(owner, text);
		break;
	default:
		process_to_cell(owner, column, text);
		break;
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

void
stat_to_cell(const char *name, const struct tsem_stat *stat, enum reason_kind reason, enum list_column column,
             char text[CELL_BYTES_MAX])
{
	switch (column) {
	case LIST_NAME:
		snprintf(text, CELL_BYTES_MAX, "%s", name);
		return;
	case LIST_MODE:
		snprintf(text, CELL_BYTES_MAX, "%04o", (unsigned)stat->mode);
		return;
	case LIST_USER:
		user_to_text(stat->uid, text);
		return;
	case LIST_GROUP:
		group_to_text(stat->gid, text);
		return;
	case LIST_BOUNDED:
		strcpy(text, yes_or_no((stat->flags & TSEM_BOUNDED) != 0));
		return;
	case LIST_EXCESS:
		text[0] = '\0';
		if (excess_of(stat) != 0)
			snprintf(text, CELL_BYTES_MAX, "%" PRIu64, excess_of(stat));
		return;
	case LIST_CREATED:
		time_to_text(stat->created, text);
		return;
	case LIST_UUID:
		uuid_to_text(stat->uuid, text);
		return;
	case LIST_REASON:
		strcpy(text, reason_word(reason));
		return;
	default:
		snprintf(text, CELL_BYTES_MAX, "%" PRIu64, stat_number(stat, column));
	}
}

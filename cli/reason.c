/* SPDX-License-Identifier: MIT */
#include "reason.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "process.h"

/* ---- finding it ---- */

static enum holder_state
state_of(const struct tsem_owner *owner)
{
	if (owner->alive == TSEM_DEAD)
		return HOLDER_DEAD;
	if (process_is_stopped(owner))
		return HOLDER_STOPPED;
	if (owner->alive == TSEM_UNKNOWN)
		return HOLDER_UNKNOWN;
	return process_is_elsewhere(owner) ? HOLDER_ELSEWHERE : HOLDER_RUNS;
}

static void
note_holder(struct reason *reason, const struct tsem_owner *owner)
{
	const enum holder_state state = state_of(owner);
	if (reason->holders++ == 0 || state > reason->state) {
		reason->holder = *owner;
		reason->state = state;
	}
	reason->held += owner->count;
	if (state == HOLDER_DEAD)
		reason->dead += owner->count;
}

bool
reason_note(struct reason *reason, const struct tsem_owner *owner)
{
	if (owner->position != 0)
		return true;
	note_holder(reason, owner);
	return false;
}

/* A post adds to the capacity only up to a maximum, or where the creator has left all permits to posts. */
static bool
post_would_help(const struct reason *reason, const struct tsem_stat *stat)
{
	if ((stat->flags & TSEM_BOUNDED) != 0 || stat->capacity < stat->permits)
		return false;
	return stat->permits == 0 || reason->wanted <= stat->max;
}

static enum reason_kind
kind_of(const struct reason *reason, const struct tsem_stat *stat)
{
	const int64_t wanted = (int64_t)reason->wanted;
	const int64_t after_releases = stat->first_free + (int64_t)reason->held;
	if (wanted > after_releases + (int64_t)reason->anonymous) {
		if (post_would_help(reason, stat))
			return REASON_UNPOSTED;
		return stat->capacity == 0 ? REASON_DRAINED : REASON_CAPACITY;
	}
	if (wanted > after_releases)
		return REASON_TAKEN;
	if (reason->state == HOLDER_DEAD)
		return REASON_DEAD;
	if (reason->state == HOLDER_STOPPED)
		return REASON_STOPPED;
	if (reason->state == HOLDER_UNKNOWN)
		return REASON_UNKNOWN;
	if (reason->free > 0)
		return REASON_FIRST;
	return reason->state == HOLDER_ELSEWHERE ? REASON_CONTAINER : REASON_HELD;
}

static bool
must_wait(const struct tsem_stat *stat, uint64_t wanted)
{
	return stat->waiting > 0 || stat->available < wanted;
}

void
reason_conclude(struct reason *reason, const struct tsem_stat *stat, uint32_t wanted)
{
	reason->queued = stat->first_wanted > 0;
	reason->wanted = reason->queued ? stat->first_wanted : wanted;
	reason->free = stat->first_free > 0 ? (uint64_t)stat->first_free : 0;
	reason->anonymous = stat->held > reason->held ? stat->held - reason->held : 0;
	reason->kind = must_wait(stat, reason->wanted) ? kind_of(reason, stat) : REASON_NONE;
}

struct look {
	struct reason *reason;
	const struct tsem_stat *stat;
	uint32_t wanted; /* 0: every holder is noted */
};

/* The end of the enumeration. The library's errors are negative. */
enum { ENOUGH = 1 };

static int
note(const struct tsem_owner *owner, void *arg)
{
	const struct look *look = arg;
	const bool unneeded = look->wanted > 0 && !must_wait(look->stat, look->wanted);
	return unneeded || reason_note(look->reason, owner) ? ENOUGH : 0;
}

static int
look_at(tsem *sem, uint32_t wanted, struct tsem_stat *stat, struct reason *reason)
{
	struct look look = {reason, stat, wanted};
	*reason = (struct reason){.kind = REASON_NONE};
	const int rc = tsem_snapshot(sem, stat, note, &look);
	if (rc < 0)
		return rc;
	reason_conclude(reason, stat, wanted > 0 ? wanted : 1);
	return 0;
}

int
reason_of(tsem *sem, uint32_t wanted, struct tsem_stat *stat, struct reason *reason)
{
	return look_at(sem, wanted, stat, reason);
}

int
reason_of_use(tsem *sem, struct tsem_stat *stat, struct reason *reason)
{
	const int rc = look_at(sem, 0, stat, reason);
	if (rc == 0 && reason->kind == REASON_NONE && stat->held > 0)
		reason->kind = REASON_HELD;
	return rc;
}

/* ---- naming it ---- */

const char *
reason_word(enum reason_kind kind)
{
	static const char *const words[REASON_KINDS] = {
		[REASON_NONE] = "none",           [REASON_DRAINED] = "drained", [REASON_CAPACITY] = "capacity",
		[REASON_UNPOSTED] = "posts",      [REASON_TAKEN] = "taken",     [REASON_DEAD] = "dead",
		[REASON_STOPPED] = "stopped",     [REASON_UNKNOWN] = "unknown", [REASON_FIRST] = "first",
		[REASON_CONTAINER] = "container", [REASON_HELD] = "held",
	};
	return words[kind];
}

const struct reason_form reason_brief = {.brief = true, .hints = HINTS_FULL};
const struct reason_form reason_full = {.hints = HINTS_FULL, .command_max = REASON_COMMAND_MAX};

/* What the parts of a text have in common. */
struct telling {
	const struct reason *reason;
	const struct tsem_stat *stat;
	const char *name;
	const struct reason_form *form;
	char *text; /* of REASON_BYTES_MAX */
};

static void append(const struct telling *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void
append(const struct telling *t, const char *format, ...)
{
	va_list args;
	const size_t length = strlen(t->text);
	va_start(args, format);
	vsnprintf(t->text + length, REASON_BYTES_MAX - length, format, args);
	va_end(args);
}

static void
separate(const struct telling *t)
{
	if (t->text[0] != '\0')
		append(t, ", ");
}

static void hint(const struct telling *t, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* `what` the command is for. */
static void
hint(const struct telling *t, const char *what, const char *format, ...)
{
	char command[REASON_BYTES_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (t->form->hints == HINTS_FULL)
		append(t, " (%s with '%s')", what, command);
	else if (t->form->hints == HINTS_SHORT)
		append(t, " (%s)", command);
}

static void
hint_to_post(const struct telling *t, const char *what, uint64_t permits)
{
	if (permits > 1)
		hint(t, what, "tsem post -k %" PRIu64 " %s", permits, t->name);
	else
		hint(t, what, "tsem post %s", t->name);
}

/* Permits that have to be posted, even if all that are held came back. */
static uint64_t
missing(const struct telling *t)
{
	return t->reason->wanted - (uint64_t)t->stat->first_free - t->reason->held - t->reason->anonymous;
}

static void
hint_to_raise(const struct telling *t)
{
	const uint64_t permits = t->reason->wanted > t->stat->permits ? t->reason->wanted : t->stat->permits;
	hint(t, "raise the capacity", "tsem set -j %" PRIu64 " %s", permits, t->name);
}

/* Of the first waiter; or of a process that has left the queue, and asks why. */
static void
tell_request(const struct telling *t)
{
	append(t, "%s %" PRIu64 "%s", t->reason->queued ? "the first in line wants" : "the request was for",
	       t->reason->wanted,
	       t->form->compact         ? ""
	       : t->reason->wanted == 1 ? " permit"
	                                : " permits");
}

/* What a release by all holders would not be enough for. */
static void
tell_lack(const struct telling *t)
{
	const struct reason *reason = t->reason;
	const bool one = reason->anonymous == 1;
	switch (reason->kind) {
	case REASON_DRAINED:
		append(t, "drained");
		hint_to_raise(t);
		break;
	case REASON_CAPACITY:
		tell_request(t);
		append(t, " of %" PRIu32, t->stat->capacity);
		hint_to_raise(t);
		break;
	case REASON_UNPOSTED:
		append(t, "%s been posted",
		       t->stat->permits == 0 && t->stat->grant == 0 ? "no permit has" : "too few permits have");
		hint_to_post(t, "add some", missing(t));
		break;
	case REASON_TAKEN:
		append(t, "%" PRIu64 " permit%s%s", reason->anonymous,
		       t->form->compact ? one ? "" : "s"
		       : one            ? " was"
		                        : "s were",
		       t->form->compact ? " taken, not posted back" : " taken and not posted back");
		hint_to_post(t, one ? "give it back" : "give them back", reason->anonymous);
		break;
	default:
		break;
	}
}

/* Free permits in front of a queue seem to be a fault, unless the reader knows what the first waiter requests. */
static void
tell_first(const struct telling *t)
{
	const uint64_t free = t->reason->free;
	if (free == 0 || t->reason->kind == REASON_CAPACITY)
		return;
	separate(t);
	tell_request(t);
	append(t, ", %" PRIu64 " %s %s", free, free == 1 ? "is" : "are", t->reason->queued ? "kept for it" : "available");
}

/* The command that gives back the permits of a holder that a user knows to be dead. */
static void
hint_to_recover(const struct telling *t)
{
	const struct tsem_owner *holder = &t->reason->holder;
	const bool by_namespace = holder->foreign_pid && holder->pid_ns != 0;
	const pid_t pid = by_namespace || holder->pid_here == 0 ? holder->pid : holder->pid_here;
	append(t, "; if it is dead: tsem recover --owner %d ", (int)pid);
	if (by_namespace)
		append(t, "--pid-ns %" PRIu32 " ", holder->pid_ns);
	append(t, "--force %s", t->name);
}

/* A number of another container means nothing here. */
static void
tell_holders(const struct telling *t)
{
	static const char *const states[] = {
		[HOLDER_RUNS] = "",
		[HOLDER_ELSEWHERE] = "in another container",
		[HOLDER_UNKNOWN] = "which cannot be checked from here",
		[HOLDER_STOPPED] = "stopped",
		[HOLDER_DEAD] = "dead",
	};
	const struct reason *reason = t->reason;
	const struct tsem_owner *holder = &reason->holder;
	const bool unnumbered = process_is_elsewhere(holder) && holder->pid_here == 0;
	const char *state = states[reason->state];
	if (unnumbered && reason->state == HOLDER_ELSEWHERE)
		state = "";
	else if (t->form->compact && reason->state == HOLDER_UNKNOWN)
		state = "perhaps dead";
	const unsigned long long seconds = holder->elapsed_ns / NS_PER_SECOND;
	char command[REASON_COMMAND_MAX] = "?";
	separate(t);
	append(t, "held by %d%s", (int)(unnumbered ? holder->pid : process_number(holder)),
	       !unnumbered        ? ""
	       : t->form->compact ? " in a container"
	                          : " in another container");
	if (t->form->command_max > 0 && seconds > 0)
		append(t, " for %llu s", seconds);
	if (t->form->command_max > 0)
		owner_task(holder, command, t->form->command_max);
	if (strcmp(command, "?") != 0)
		append(t, " (%s)", command);
	if (state[0] != '\0')
		append(t, ", %s%s", state, reason->holders > 1 ? "," : "");
	if (reason->holders > 1)
		append(t, " and %" PRIu32 " more", reason->holders - 1);
	if (reason->state == HOLDER_STOPPED)
		hint(t, "continue it", "kill -CONT %d", (int)process_number(holder));
	if (t->form->hints != HINTS_NONE && reason->state == HOLDER_UNKNOWN)
		hint_to_recover(t);
}

/* What else is not as it was at the creation. The line above a table has the numbers of permits itself. */
static void
tell_rest(const struct telling *t)
{
	const struct tsem_stat *stat = t->stat;
	const bool lowered = stat->capacity > 0 && stat->capacity < stat->permits;
	if (lowered && stat->held > stat->capacity && !t->form->brief && t->reason->kind != REASON_CAPACITY) {
		separate(t);
		append(t, "%" PRIu64 " permits are held, %" PRIu32 " exist%s now", stat->held, stat->capacity,
		       stat->capacity == 1 ? "s" : "");
	}
	if (t->reason->anonymous > 0 && t->reason->kind != REASON_TAKEN) {
		separate(t);
		append(t, "%" PRIu64 " permit%s taken and not posted back", t->reason->anonymous,
		       t->reason->anonymous == 1 ? "" : "s");
	}
}

static bool
kind_is_of_holder(enum reason_kind kind)
{
	return kind == REASON_DEAD || kind == REASON_STOPPED || kind == REASON_UNKNOWN || kind == REASON_CONTAINER
	       || kind == REASON_HELD;
}

void
reason_to_text(const struct reason *reason, const struct tsem_stat *stat, const char *name,
               const struct reason_form *form, char text[REASON_BYTES_MAX])
{
	const struct telling t = {reason, stat, name, form, text};
	text[0] = '\0';
	if (reason->kind == REASON_NONE)
		return;
	const bool is_of_holder = kind_is_of_holder(reason->kind);
	tell_lack(&t);
	if (!form->compact || !is_of_holder)
		tell_first(&t);
	if (reason->holders > 0 && !(form->brief && reason->state == HOLDER_RUNS) && !(form->compact && !is_of_holder))
		tell_holders(&t);
	if (!form->compact)
		tell_rest(&t);
}

static int
note_unknown(const struct tsem_owner *owner, void *arg)
{
	return owner->alive == TSEM_UNKNOWN && reason_note(arg, owner) ? ENOUGH : 0;
}

void
reason_of_unknown(tsem *sem, const char *name, char text[REASON_BYTES_MAX])
{
	struct reason reason = {.kind = REASON_UNKNOWN};
	const struct telling t = {.reason = &reason, .name = name, .form = &reason_brief, .text = text};
	text[0] = '\0';
	if (tsem_owners(sem, note_unknown, &reason) >= 0 && reason.state == HOLDER_UNKNOWN)
		tell_holders(&t);
}

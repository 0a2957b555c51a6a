/* SPDX-License-Identifier: MIT */
#include "reason.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monotonic.h"
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

static const struct {
	enum reason_kind kind; /* of a request that waits for holders only */
	const char *words;
	const char *few_words;
} holder_states[] = {
	[HOLDER_RUNS] = {REASON_HELD, "", ""},
	[HOLDER_ELSEWHERE] = {REASON_CONTAINER, "in another container", ""},
	[HOLDER_UNKNOWN] = {REASON_UNKNOWN, "which cannot be checked from here", ", dead?"},
	[HOLDER_STOPPED] = {REASON_STOPPED, "stopped", ", stopped"},
	[HOLDER_DEAD] = {REASON_DEAD, "dead", ", dead"},
};

static enum reason_kind
kind_of_holders(const struct reason *reason)
{
	const enum reason_kind kind = holder_states[reason->state].kind;
	return kind > REASON_FIRST && reason->free > 0 ? REASON_FIRST : kind;
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
	return wanted > after_releases ? REASON_TAKEN : kind_of_holders(reason);
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

int
reason_of(tsem *sem, uint32_t wanted, struct tsem_stat *stat, struct reason *reason)
{
	struct look look = {reason, stat, wanted};
	*reason = (struct reason){.kind = REASON_NONE};
	const int rc = tsem_snapshot(sem, stat, note, &look);
	if (rc < 0)
		return rc;
	reason_conclude(reason, stat, wanted);
	return 0;
}

void
reason_conclude_use(struct reason *reason, const struct tsem_stat *stat)
{
	reason_conclude(reason, stat, 0);
	if (stat->held == 0)
		return;
	reason->free = 0;
	reason->kind = reason->holders > 0 ? kind_of_holders(reason) : REASON_TAKEN;
}

int
reason_of_use(tsem *sem, struct tsem_stat *stat, struct reason *reason)
{
	const int rc = reason_of(sem, 0, stat, reason);
	if (rc == 0)
		reason_conclude_use(reason, stat);
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
static const struct reason_form short_hints = {.hints = HINTS_SHORT, .command_max = REASON_COMMAND_MAX};
static const struct reason_form short_command = {.hints = HINTS_SHORT, .command_max = REASON_COMMAND_MAX / 3};
static const struct reason_form compact = {.compact = true};
const struct reason_form *const reason_forms[REASON_FORMS] = {&reason_full, &short_hints, &short_command, &compact};

/* What the parts of a text have in common. */
struct telling {
	const struct reason *reason;
	const struct tsem_stat *stat;
	const char *name;
	const struct reason_form *form;
	const char *foreign; /* in front of the name, the option that this user needs */
	char *text;          /* of REASON_BYTES_MAX */
};

/* The rule of TSEM_FOREIGN. */
static const char *
option_for(const struct tsem_stat *stat)
{
	return stat->uid == geteuid() || stat->uid == 0 ? "" : "--foreign ";
}

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
		hint(t, what, "tsem post -k %" PRIu64 " %s%s", permits, t->foreign, t->name);
	else
		hint(t, what, "tsem post %s%s", t->foreign, t->name);
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
	hint(t, "raise the capacity", "tsem set -j %" PRIu64 " %s%s", permits, t->foreign, t->name);
}

/* Of the first waiter; or of a process that has left the queue, and asks why. */
static void
tell_request(const struct telling *t)
{
	if (t->form->compact)
		append(t, "%s %" PRIu64, t->reason->queued ? "first wants" : "wanted", t->reason->wanted);
	else
		append(t, "%s %" PRIu64 " permit%s", t->reason->queued ? "the first in line wants" : "the request was for",
		       t->reason->wanted, t->reason->wanted == 1 ? "" : "s");
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
	if (t->form->compact)
		append(t, ", %" PRIu64 " kept", free);
	else
		append(t, ", %" PRIu64 " %s %s", free, free == 1 ? "is" : "are",
		       t->reason->queued ? "kept for it" : "available");
}

/* The command that gives back the permits of a holder that a user knows to be dead. */
static void
hint_to_recover(const struct telling *t)
{
	const struct tsem_owner *holder = &t->reason->holder;
	const bool by_namespace = holder->foreign_pid && holder->pid_ns != 0;
	const pid_t pid = by_namespace || holder->pid_here == 0 ? holder->pid : holder->pid_here;
	char pid_ns[32] = "";
	if (by_namespace)
		snprintf(pid_ns, sizeof(pid_ns), "--pid-ns %" PRIu32 " ", holder->pid_ns);
	if (t->form->hints != HINTS_NONE)
		append(t, " (if it is dead: 'tsem recover --owner %d %s--force %s%s')", (int)pid, pid_ns, t->foreign, t->name);
}

/* In few words: "held by 1 (container), dead?, +2". */
static void
tell_holders_compactly(const struct telling *t)
{
	const struct tsem_owner *holder = &t->reason->holder;
	const bool elsewhere = process_is_elsewhere(holder);
	append(t, "held by %d%s%s", (int)(holder->pid_here == 0 ? holder->pid : process_number(holder)),
	       elsewhere ? " (container)" : "", holder_states[t->reason->state].few_words);
	if (t->reason->holders > 1)
		append(t, ", +%" PRIu32, t->reason->holders - 1);
}

/* A number of another container means nothing here. */
static void
tell_holders(const struct telling *t)
{
	const struct reason *reason = t->reason;
	const struct tsem_owner *holder = &reason->holder;
	const bool unnumbered = process_is_elsewhere(holder) && holder->pid_here == 0;
	const char *state = unnumbered && reason->state == HOLDER_ELSEWHERE ? "" : holder_states[reason->state].words;
	const unsigned long long seconds = holder->elapsed_ns / NS_PER_SECOND;
	char command[REASON_COMMAND_MAX] = "?";
	separate(t);
	append(t, "held by %d%s", (int)(unnumbered ? holder->pid : process_number(holder)),
	       unnumbered ? " in another container" : "");
	if (reason->remote != NULL)
		append(t, " on %s", reason->remote->host);
	if (t->form->command_max > 0 && seconds > 0)
		append(t, " for %llu s", seconds);
	if (t->form->command_max > 0 && reason->remote != NULL)
		snprintf(command, t->form->command_max, "%s", reason->remote->command);
	else if (t->form->command_max > 0)
		owner_task(holder, command, t->form->command_max);
	if (strcmp(command, "?") != 0)
		append(t, " (%s)", command);
	if (state[0] != '\0')
		append(t, ", %s%s", state, reason->holders > 1 ? "," : "");
	if (reason->holders > 1)
		append(t, " and %" PRIu32 " more", reason->holders - 1);
	if (reason->state == HOLDER_STOPPED)
		hint(t, "continue it", "kill -CONT %d", (int)process_number(holder));
	if (reason->state == HOLDER_UNKNOWN)
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

void
reason_to_text(const struct reason *reason, const struct tsem_stat *stat, const char *name,
               const struct reason_form *form, char text[REASON_BYTES_MAX])
{
	const struct telling t = {reason, stat, name, form, option_for(stat), text};
	text[0] = '\0';
	if (reason->kind == REASON_NONE)
		return;
	if (form->compact && reason->kind == holder_states[reason->state].kind) {
		tell_holders_compactly(&t);
		return;
	}
	tell_lack(&t);
	if (!form->compact || text[0] == '\0')
		tell_first(&t);
	if (form->compact)
		return;
	if (reason->holders > 0 && !(form->brief && reason->state == HOLDER_RUNS))
		tell_holders(&t);
	tell_rest(&t);
}

void
reason_to_fit(const struct reason *reason, const struct tsem_stat *stat, const char *name, size_t columns,
              char text[REASON_BYTES_MAX])
{
	size_t i = 0;
	do {
		reason_to_text(reason, stat, name, reason_forms[i], text);
	} while (strlen(text) > columns && ++i < REASON_FORMS);
}

static int
note_unknown(const struct tsem_owner *owner, void *arg)
{
	return owner->alive == TSEM_UNKNOWN && reason_note(arg, owner) ? ENOUGH : 0;
}

void
reason_of_unknown(tsem *sem, const char *name, char text[REASON_BYTES_MAX])
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	struct reason reason = {.kind = REASON_UNKNOWN};
	const int rc = tsem_snapshot(sem, &stat, note_unknown, &reason);
	const struct telling t = {&reason, &stat, name, &reason_brief, option_for(&stat), text};
	text[0] = '\0';
	if (rc >= 0 && reason.state == HOLDER_UNKNOWN)
		tell_holders(&t);
}

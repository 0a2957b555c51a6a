/* SPDX-License-Identifier: MIT */
#include "reason.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "process.h"

/* ---- finding it ---- */

static enum holder_state
state_of(const struct tsem_owner *owner)
{
	if (owner->alive == TSEM_DEAD)
		return HOLDER_DEAD;
	if (process_is_elsewhere(owner))
		return HOLDER_ELSEWHERE;
	return process_is_stopped(owner) ? HOLDER_STOPPED : HOLDER_RUNS;
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
	if (owner->position == 0) {
		note_holder(reason, owner);
		return false;
	}
	reason->waiter = true;
	reason->wanted = owner->count;
	reason->ticket = owner->ticket;
	return true;
}

/* The counters are modulo 2^48. */
static int64_t
counter_difference(uint64_t a, uint64_t b)
{
	const uint64_t modulus = UINT64_C(1) << 48;
	const uint64_t difference = (a - b) & (modulus - 1);
	return difference < modulus / 2 ? (int64_t)difference : (int64_t)difference - (int64_t)modulus;
}

/*
 * The permits that the first waiter could have now; negative if more are held than the capacity. The tickets count
 * what was posted beyond the capacity, the capacity counts what waiters in front have given up.
 */
static int64_t
free_permits(const struct reason *reason, const struct tsem_stat *stat)
{
	const uint64_t ticket = reason->waiter ? reason->ticket : stat->ticket;
	const int64_t by_ticket = counter_difference(stat->grant + stat->capacity, ticket);
	const int64_t by_capacity = (int64_t)stat->capacity - (int64_t)stat->held;
	return by_ticket > by_capacity ? by_ticket : by_capacity;
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
kind_of(const struct reason *reason, const struct tsem_stat *stat, int64_t free)
{
	const int64_t wanted = reason->wanted;
	const int64_t after_releases = free + (int64_t)reason->held;
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
	if (free > 0)
		return REASON_FIRST;
	return reason->state == HOLDER_ELSEWHERE ? REASON_CONTAINER : REASON_HELD;
}

static bool
must_wait(const struct tsem_stat *stat, uint32_t wanted)
{
	return stat->waiting > 0 || stat->available < wanted;
}

void
reason_conclude(struct reason *reason, const struct tsem_stat *stat, uint32_t wanted)
{
	if (!reason->waiter)
		reason->wanted = wanted;
	const int64_t free = free_permits(reason, stat);
	reason->free = free > 0 ? (uint64_t)free : 0;
	reason->anonymous = stat->held > reason->held ? stat->held - reason->held : 0;
	reason->kind = must_wait(stat, reason->wanted) ? kind_of(reason, stat, free) : REASON_NONE;
}

struct look {
	struct reason *reason;
	const struct tsem_stat *stat;
	uint32_t wanted;
};

/* The end of the enumeration. The library's errors are negative. */
enum { ENOUGH = 1 };

static int
note(const struct tsem_owner *owner, void *arg)
{
	const struct look *look = arg;
	return !must_wait(look->stat, look->wanted) || reason_note(look->reason, owner) ? ENOUGH : 0;
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

/* ---- naming it ---- */

const char *
reason_word(enum reason_kind kind)
{
	static const char *const words[REASON_KINDS] = {
		[REASON_NONE] = "none",       [REASON_DRAINED] = "drained", [REASON_CAPACITY] = "capacity",
		[REASON_UNPOSTED] = "posts",  [REASON_TAKEN] = "taken",     [REASON_DEAD] = "dead",
		[REASON_STOPPED] = "stopped", [REASON_FIRST] = "first",     [REASON_CONTAINER] = "container",
		[REASON_HELD] = "held",
	};
	return words[kind];
}

static void __attribute__((format(printf, 2, 3))) append(char text[REASON_BYTES_MAX], const char *format, ...)
{
	va_list args;
	const size_t length = strlen(text);
	va_start(args, format);
	vsnprintf(text + length, REASON_BYTES_MAX - length, format, args);
	va_end(args);
}

static void
separate(char text[REASON_BYTES_MAX])
{
	if (text[0] != '\0')
		append(text, ", ");
}

/* Of the first waiter; or of a process that has left the queue, and asks why. */
static void
describe_request(const struct reason *reason, char text[REASON_BYTES_MAX])
{
	append(text, "%s %" PRIu32 " permit%s", reason->waiter ? "the first in line wants" : "the request was for",
	       reason->wanted, reason->wanted == 1 ? "" : "s");
}

/* What a release by all holders would not be enough for. */
static void
describe_lack(const struct reason *reason, const struct tsem_stat *stat, char text[REASON_BYTES_MAX])
{
	const bool one = reason->anonymous == 1;
	switch (reason->kind) {
	case REASON_DRAINED:
		append(text, "drained (raise the capacity with 'tsem set')");
		break;
	case REASON_CAPACITY:
		describe_request(reason, text);
		append(text, " of %" PRIu32 " (raise the capacity with 'tsem set')", stat->capacity);
		break;
	case REASON_UNPOSTED:
		append(text, "%s been posted (add some with 'tsem post')",
		       stat->permits == 0 && stat->grant == 0 ? "no permit has" : "too few permits have");
		break;
	case REASON_TAKEN:
		append(text, "%" PRIu64 " permit%s taken and not posted back (give %s back with 'tsem post')",
		       reason->anonymous, one ? " was" : "s were", one ? "it" : "them");
		break;
	default:
		break;
	}
}

/* Free permits in front of a queue seem to be a fault, unless the reader knows what the first waiter requests. */
static void
describe_first(const struct reason *reason, char text[REASON_BYTES_MAX])
{
	if (reason->free == 0 || reason->kind == REASON_CAPACITY)
		return;
	separate(text);
	describe_request(reason, text);
	append(text, ", %" PRIu64 " %s free", reason->free, reason->free == 1 ? "is" : "are");
}

/* A number of another container means nothing here, so it is not the name of the process. Returns what follows it. */
static const char *
name_holder(const struct reason *reason, char text[REASON_BYTES_MAX])
{
	static const char *const states[] = {
		[HOLDER_RUNS] = "",
		[HOLDER_ELSEWHERE] = "in another container",
		[HOLDER_STOPPED] = "stopped",
		[HOLDER_DEAD] = "dead",
	};
	const struct tsem_owner *holder = &reason->holder;
	const bool unnumbered = process_is_elsewhere(holder) && holder->pid_here == 0;
	append(text, unnumbered ? "held by a process in another container (%d there)" : "held by %d",
	       (int)(unnumbered ? holder->pid : process_number(holder)));
	return unnumbered && reason->state == HOLDER_ELSEWHERE ? "" : states[reason->state];
}

static void
describe_holders(const struct reason *reason, enum reason_detail detail, char text[REASON_BYTES_MAX])
{
	const struct tsem_owner *holder = &reason->holder;
	const bool more = detail == REASON_FULL || reason->holders > 1;
	char command[64];
	separate(text);
	const char *state = name_holder(reason, text);
	if (state[0] != '\0')
		append(text, ", %s%s", state, more ? "," : "");
	if (detail == REASON_FULL) {
		append(text, " for %.0f s", (double)holder->elapsed_ns / 1e9);
		owner_task(holder, command, sizeof(command));
		if (strcmp(command, "?") != 0)
			append(text, " (%s)", command);
	}
	if (reason->holders > 1)
		append(text, " and %" PRIu32 " more", reason->holders - 1);
}

/* What else is not as it was at the creation. */
static void
describe_rest(const struct reason *reason, const struct tsem_stat *stat, char text[REASON_BYTES_MAX])
{
	if (stat->held > stat->capacity && stat->capacity > 0 && stat->capacity < stat->permits) {
		separate(text);
		append(text, "%" PRIu64 " permits are held, %" PRIu32 " exist%s now", stat->held, stat->capacity,
		       stat->capacity == 1 ? "s" : "");
	}
	if (reason->anonymous > 0 && reason->kind != REASON_TAKEN) {
		separate(text);
		append(text, "%" PRIu64 " permit%s taken and not posted back", reason->anonymous,
		       reason->anonymous == 1 ? "" : "s");
	}
}

void
reason_to_text(const struct reason *reason, const struct tsem_stat *stat, enum reason_detail detail,
               char text[REASON_BYTES_MAX])
{
	text[0] = '\0';
	if (reason->kind == REASON_NONE)
		return;
	describe_lack(reason, stat, text);
	describe_first(reason, text);
	if (reason->holders > 0 && (detail == REASON_FULL || reason->state != HOLDER_RUNS))
		describe_holders(reason, detail, text);
	describe_rest(reason, stat, text);
}

/* SPDX-License-Identifier: MIT */
#include "self_wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "ancestors.h"
#include "message.h"
#include "names.h"

static int
our_place(const struct tsem_owner *owner, void *arg)
{
	(void)arg;
	return owner->pid_here == getpid() ? (int)owner->position : 0;
}

uint32_t
find_place(tsem *sem)
{
	const int place = tsem_owners(sem, our_place, NULL);
	return place > 0 ? (uint32_t)place : 0;
}

/* The library refuses any other count, and the command then has another message. */
static bool
is_possible(const struct tsem_stat *stat, uint32_t count)
{
	const bool unlimited = stat->permits == 0 && stat->max == 0;
	return unlimited || count <= stat->capacity || count <= stat->permits || count <= stat->max;
}

/*
 * In the queue, only the places count: of several semaphores, the process may have acquired some during this wait, and
 * it does not wait for these.
 */
static bool
has_to_wait(tsem *sem, const struct options *o, bool queued)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	if (queued)
		return find_place(sem) > 0;
	if (tsem_stat(sem, &stat) != 0 || !is_possible(&stat, o->count))
		return false;
	return stat.available < o->count || stat.waiting > 0;
}

/* If no holder's release is enough, because the capacity was lowered below the request: one that is. Else 0. */
static uint32_t
needed_capacity(tsem *sem, uint32_t count)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	if (tsem_stat(sem, &stat) != 0 || stat.capacity >= stat.permits || stat.capacity >= count)
		return 0;
	return stat.permits > count ? stat.permits : count;
}

enum { ADVICE_BYTES_MAX = 384 };

/* `run --nested` takes one name, and neither --any nor --jobserver. A farther ancestor may hold enough for it. */
static void
advise(tsem *sem, const char *name, size_t n, const struct options *o, const struct ancestor_hold *hold,
       char text[ADVICE_BYTES_MAX])
{
	struct ancestor_hold enough;
	const uint32_t capacity = needed_capacity(sem, o->count);
	const bool nested = n == 1 && !o->any && !o->jobserver && !hold->of_owner;
	const bool helps = nested && ancestors_find(sem, 0, o->count, &enough);
	if (capacity > 0)
		snprintf(text, ADVICE_BYTES_MAX, "%sraise the capacity with 'tsem set -j %" PRIu32 " %s'",
		         helps ? "use 'tsem run --nested', or " : "", capacity, name);
	else
		snprintf(text, ADVICE_BYTES_MAX, "%s",
		         helps    ? "use 'tsem run --nested', or give that back first"
		         : nested ? "give that back first, or ask for no more with 'tsem run --nested'"
		                  : "give that back first");
}

static const char *
relation_of(const struct options *o, const struct ancestor_hold *hold)
{
	if (hold->of_owner)
		return hold->pid == (pid_t)o->owner ? "its --owner" : "an ancestor of its --owner";
	return hold->pid == getpid() ? "itself" : "its ancestor";
}

static void
say(const struct options *o, const char *name, const struct ancestor_hold *hold, const char *what_to_do)
{
	complain(name, "process %d waits for process %d, %s, which holds %" PRIu64 " permit%s (%s)", (int)getpid(),
	         (int)hold->pid, relation_of(o, hold), hold->count, hold->count == 1 ? "" : "s", what_to_do);
}

enum wait_state { WAITS_NOT, WAITS, WAITS_FOR_ITSELF };

/* The permits of dead holders, and dead waiters, are no reason to wait: the wait begins with their recovery. */
static enum wait_state
look_at(tsem *sem, const struct options *o, bool queued, struct ancestor_hold *hold)
{
	if (!has_to_wait(sem, o, queued))
		return WAITS_NOT;
	if (!ancestors_find(sem, (pid_t)o->owner, 1, hold))
		return WAITS;
	if (!queued && tsem_recover(sem, NULL) == 0 && !has_to_wait(sem, o, false))
		return WAITS_NOT;
	return WAITS_FOR_ITSELF;
}

bool
self_wait_report(tsem *const sems[], size_t n, const struct options *o, bool queued)
{
	struct ancestor_hold hold;
	size_t which = n;
	size_t waited_for = 0;
	/* With --any, other holders may still admit the process unless it waits for its own permits everywhere. */
	size_t own = 0;
	for (size_t i = 0; i < n && (which == n || o->any); i++) {
		const enum wait_state state = look_at(sems[i], o, queued, &hold);
		waited_for += state != WAITS_NOT;
		own += state == WAITS_FOR_ITSELF;
		if (state == WAITS_FOR_ITSELF)
			which = i;
	}
	if (o->any && waited_for < n)
		return false;
	if (which < n && (!o->any || own == n)) {
		char name[NAME_TEXT_MAX];
		char advice[ADVICE_BYTES_MAX];
		name_at(o->name, which, name, sizeof(name));
		advise(sems[which], name, n, o, &hold, advice);
		say(o, name, &hold, advice);
	}
	return waited_for > 0;
}

void
self_wait_report_idle(tsem *sem, const struct options *o)
{
	struct ancestor_hold hold;
	if (ancestors_find(sem, 0, 1, &hold))
		say(o, o->name, &hold, "give that back first");
}

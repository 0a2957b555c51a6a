/* SPDX-License-Identifier: MIT */
#include "cycle.h"

#include <errno.h>

#include "ancestors.h"
#include "message.h"

struct search {
	tsem *wanted;
	const char *wanted_name;
	pid_t owner;                 /* of --owner */
	struct ancestor_hold ours;   /* of the semaphore that is looked at */
	struct ancestor_hold theirs; /* of `wanted` */
	size_t waiters;              /* that were looked at */
};

enum { FOUND = 1 };

/* Whether the waiter, or an ancestor of it, holds what this process waits for. Each waiter costs a look at /proc. */
static int
look_at_waiter(const struct tsem_owner *waiter, void *arg)
{
	enum { WAITERS_MAX = 16 };
	struct search *search = arg;
	if (waiter->position == 0)
		return 0;
	if (++search->waiters > WAITERS_MAX)
		return -EAGAIN;
	if (waiter->alive != TSEM_ALIVE || waiter->foreign_pid)
		return 0;
	return ancestors_find(search->wanted, waiter->pid, 1, &search->theirs) && search->theirs.of_owner ? FOUND : 0;
}

/* Otherwise another holder may give back what is waited for. */
static bool
holds_all(const struct tsem_stat *stat, const struct ancestor_hold *hold)
{
	return stat->held <= hold->count;
}

/* The counts come first: most semaphores have no waiters, and each other look reads /proc. */
static bool
closes_cycle(tsem *sem, struct search *search)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	if (tsem_stat(sem, &stat) != 0 || stat.waiting == 0)
		return false;
	search->waiters = 0;
	return ancestors_find(sem, search->owner, 1, &search->ours) && holds_all(&stat, &search->ours)
	       && tsem_owners(sem, look_at_waiter, search) == FOUND && search->theirs.pid != search->ours.pid
	       && tsem_stat(search->wanted, &stat) == 0 && holds_all(&stat, &search->theirs);
}

static int
look_at_semaphore(const char *name, void *arg)
{
	struct search *search = arg;
	tsem *sem;
	if (tsem_open(name, TSEM_READ_ONLY | TSEM_FOREIGN, &sem) < 0)
		return 0;
	const bool found = closes_cycle(sem, search);
	tsem_close(sem);
	if (!found)
		return 0;
	complain(
		search->wanted_name,
		"a cycle: process %d holds %s, and it or a child waits for %s; process %d holds %s, and it or a child waits "
		"for %s (if neither goes on, end one; 'tsem run %s,%s' acquires both without a cycle)",
		(int)search->ours.pid, name, search->wanted_name, (int)search->theirs.pid, search->wanted_name, name, name,
		search->wanted_name);
	return FOUND;
}

void
cycle_report(tsem *wanted, const char *name, const struct options *o)
{
	struct search search = {.wanted = wanted, .wanted_name = name, .owner = (pid_t)o->owner};
	tsem_list(look_at_semaphore, &search);
}

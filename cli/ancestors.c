/* SPDX-License-Identifier: MIT */
#include "ancestors.h"

#include <unistd.h>

#include "process.h"

/* This process and its ancestors, the nearest first; then another process and those of its ancestors that are new. */
enum { GENERATIONS_MAX = 256 };

struct chain {
	size_t n;
	size_t own_n; /* the first part */
	pid_t pids[GENERATIONS_MAX];
	uint64_t counts[GENERATIONS_MAX]; /* permits that each holds */
};

static bool
is_in(const struct chain *chain, pid_t pid)
{
	size_t i = 0;
	while (i < chain->n && chain->pids[i] != pid)
		i++;
	return i < chain->n;
}

static void
add_chain(struct chain *chain, pid_t pid)
{
	for (; pid > 0 && chain->n < GENERATIONS_MAX && !is_in(chain, pid); pid = process_parent(pid))
		chain->pids[chain->n++] = pid;
}

/* The number of a holder that is dead, or in another PID namespace, may be that of an ancestor by chance. */
static bool
is_certain(const struct tsem_owner *holder)
{
	return holder->alive == TSEM_ALIVE && !holder->foreign_pid;
}

static int
count_permits(const struct tsem_owner *owner, void *arg)
{
	struct chain *chain = arg;
	if (owner->position != 0)
		return 1;
	for (size_t i = 0; i < chain->n && is_certain(owner); i++) {
		if (chain->pids[i] == owner->pid)
			chain->counts[i] += owner->count;
	}
	return 0;
}

static int
add_to_hold(const struct tsem_owner *owner, void *arg)
{
	struct ancestor_hold *hold = arg;
	if (owner->position != 0)
		return 1;
	if (owner->pid != hold->pid || !is_certain(owner))
		return 0;
	hold->count += owner->count;
	for (uint32_t i = 0; i < owner->slot_count && hold->slots_n < TSEM_SLOTS_MAX; i++)
		hold->slots[hold->slots_n++] = owner->slots[i];
	return 0;
}

bool
ancestors_find(tsem *sem, pid_t owner, uint32_t least, struct ancestor_hold *hold)
{
	struct chain chain = {.n = 0};
	add_chain(&chain, getpid());
	chain.own_n = chain.n;
	add_chain(&chain, owner);
	if (tsem_owners(sem, count_permits, &chain) < 0)
		return false;
	size_t i = 0;
	while (i < chain.n && chain.counts[i] < least)
		i++;
	if (i == chain.n)
		return false;
	/* Another look: the slots are valid only within the call. */
	*hold = (struct ancestor_hold){.pid = chain.pids[i], .of_owner = i >= chain.own_n};
	return tsem_owners(sem, add_to_hold, hold) >= 0 && hold->count >= least;
}

/* SPDX-License-Identifier: MIT */
#include "cast.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beside.h"
#include "record.h"

void
cast_fault(struct cast *cast, const char *format, ...)
{
	if (cast_has_failed(cast)) /* the first one says most */
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(cast->played->fault, sizeof(cast->played->fault), format, arguments);
	va_end(arguments);
	cast->played->verdict = PLAY_FAULT;
}

/* ---- starting ---- */

/* The parent is at the mark before its vfork(). Leaves the actor at the mark where the operation begins. */
static void
start_family(struct cast *cast, unsigned i)
{
	unsigned long child_pid = 0;
	struct tracee *parent = &cast->parent[i];
	*parent = cast->actor[i];
	cast->actor[i] = (struct tracee){0};
	ptrace(PTRACE_SETOPTIONS, parent->pid, NULL, PTRACE_O_TRACEVFORK);
	tracee_pass_mark(parent);
	tracee_run(parent);
	ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &child_pid);

	struct tracee child;
	tracee_begin(&child, (pid_t)child_pid);
	ptrace(PTRACE_CONT, parent->pid, NULL, NULL);
	parent->running = true;
	tracee_run(&child);
	if ((cast->operation[i]->flags & IS_CHILD) != 0) {
		cast->actor[i] = child;
		return;
	}
	while (child.where != TRACEE_GONE)
		tracee_run(&child);
	tracee_reap(&child);
	while (parent->where != TRACEE_AT_MARK && parent->where != TRACEE_GONE)
		tracee_run(parent);
	cast->actor[i] = *parent;
	*parent = (struct tracee){0};
}

bool
cast_somebody_dies(const struct plan *plan)
{
	const unsigned flags = plan->first->flags | (plan->second == NULL ? 0 : plan->second->flags);
	return plan->fate != RESUME || (flags & (IS_CHILD | NEEDS_DEAD | NEEDS_OTHER)) != 0;
}

static enum naps
choose_naps(const struct plan *plan, const struct operation *operation)
{
	if ((operation->flags & CLOCK_JUMPS) != 0)
		return NAPS_JUMP;
	if (!cast_somebody_dies(plan))
		return NAPS_LONG;
	/* Nobody else looks for the dead then: see cast_recover(). */
	if ((operation->flags & WAITS_IDLE) != 0 && plan->second == operation)
		return NAPS_JUMP;
	return plan->second == NULL ? NAPS_AS_THEY_ARE : NAPS_SHORT;
}

void
cast_start(struct cast *cast, unsigned i)
{
	const struct plan *plan = cast->plan;
	struct actor *actor = &cast->scene->shared->actors[i];
	*actor = (struct actor){
		.sem = cast->scene->sem,
		.beside = {cast->scene->beside[0], cast->scene->beside[1]},
		.name = cast->scene->name,
		.absent = cast->scene->absent,
		.capacity = cast->scene->capacity,
		.count = (cast->operation[i]->flags & ONE_PERMIT) != 0 ? 1 : plan->count,
		.other = cast->other,
		.naps = choose_naps(plan, cast->operation[i]),
	};
	const pid_t pid = fork();
	if (pid < 0) {
		perror("fork");
		abort();
	}
	if (pid == 0)
		actor_live(actor, cast->operation[i]);
	tracee_begin(&cast->actor[i], pid);
	if (cast->actor[i].where == TRACEE_AT_MARK && (cast->operation[i]->flags & (IS_CHILD | IS_PARENT)) != 0)
		start_family(cast, i);
	if (cast->actor[i].where == TRACEE_GONE && atomic_load(&actor->phase) == PHASE_NOT_APPLICABLE)
		cast->played->verdict = PLAY_NOT_APPLICABLE;
	else if (cast->actor[i].where != TRACEE_AT_MARK || atomic_load(&actor->phase) != PHASE_BEGIN)
		cast_fault(cast, "%s died before it began, status %#x", cast->operation[i]->name, cast->actor[i].status);
}

/* ---- ending ---- */

void
cast_kill(struct cast *cast, unsigned i)
{
	const struct actor *actor = &cast->scene->shared->actors[i];
	if (cast->operation[i] == NULL || cast->actor[i].pid == 0)
		return;
	tracee_kill(&cast->actor[i], cast->plan->zombie);
	cast->killed[i] = true;
	const int64_t change = -(int64_t)cast->operation[i]->taken * actor->count;
	const bool at_end = atomic_load(&actor->phase) == PHASE_END;
	cast->told = cast->told || (actor->told && !cast->operation[i]->holds);
	if (at_end)
		cast->extra += actor->result == 0 ? change : 0;
	else if (change != 0)
		cast->maybe[i] = change;
	else if ((cast->operation[i]->flags & POSTS_FIRST) != 0)
		cast->maybe[i] = actor->count;
	if (at_end && actor->result == 0 && cast->operation[i]->holds && !actor->elsewhere
	    && (cast->operation[i]->flags & IS_CHILD) == 0)
		cast->abandoned = true;
}

void
cast_kill_parent(struct cast *cast, unsigned i)
{
	if (cast->parent[i].pid != 0)
		tracee_kill(&cast->parent[i], false);
}

bool
cast_has(const struct cast *cast, unsigned flags)
{
	return ((cast->operation[0]->flags | (cast->operation[1] == NULL ? 0 : cast->operation[1]->flags)) & flags) != 0;
}

void
cast_restore_capacity(struct cast *cast)
{
	if (cast->restored || !cast_has(cast, SETS) || cast->scene->sem == NULL)
		return;
	cast->restored = true;
	int rc = tsem_set(cast->scene->sem, cast->scene->capacity);
	if (rc != 0)
		cast_fault(cast, "the driver cannot set the capacity: %s", strerror(-rc));
	record_free_cached(cast->scene->sem);
}

void
cast_recover(struct cast *cast)
{
	const struct operation *second = cast->plan->second;
	/* Who waits until nobody holds is to find out by itself, as long as it is asleep. */
	if (second != NULL && (second->flags & WAITS_IDLE) != 0 && cast->actor[1].where == TRACEE_ASLEEP)
		return;
	tsem_recover(cast->scene->sem, NULL);
	for (int i = 0; i < BESIDE && cast_has(cast, USES_BESIDE); i++)
		tsem_recover(cast->scene->beside[i], NULL);
}

void
cast_give_back(struct cast *cast)
{
	beside_give_back(cast);
	const uint32_t drained = cast->drained;
	cast->drained = 0;
	if (drained != 0 && tsem_post(cast->scene->sem, drained, NULL) != 0)
		cast_fault(cast, "the driver's post failed");
}

void
cast_end(struct cast *cast)
{
	for (unsigned i = 0; i < 2; i++) {
		tracee_kill(&cast->actor[i], false);
		tracee_reap(&cast->actor[i]);
		tracee_kill(&cast->parent[i], false);
		tracee_reap(&cast->parent[i]);
	}
	const pid_t rest[] = {cast->other, cast->dead, cast->bystander};
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		if (rest[i] != 0)
			process_end(rest[i]);
	}
	cast->other = cast->dead = cast->bystander = 0;
}

/* SPDX-License-Identifier: MIT */
/* Letting all that live go on to their ends. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "beside.h"
#include "protocol.h"

enum { PATIENCE_SECONDS = 10 };

static void
check_result(struct cast *cast, unsigned i)
{
	const struct actor *actor = &cast->scene->shared->actors[i];
	const struct operation *operation = cast->operation[i];
	const bool alone = cast->plan->second == NULL && cast->plan->fate != KILL_PARENT;
	const bool admitted_after_all = actor->result == 0;
	const bool called_off = actor->result == -ECANCELED && cast_has(cast, CANCELS);
	const bool removed = actor->result == -EIDRM || actor->result == -ENOENT;
	if (actor->result == operation->result || called_off)
		return;
	if (alone && !cast->plan->line && !(cast->plan->full && actor->result == operation->otherwise))
		cast_fault(cast, "%s returned %s alone", operation->name, strerror(-actor->result));
	else if (!admitted_after_all && actor->result != operation->otherwise && !removed
	         && !(cast->plan->fate == KILL_PARENT && actor->result == -EPERM))
		cast_fault(cast, "%s returned %s", operation->name, strerror(-actor->result));
}

/* A hold that was adopted is given back by dying: see that it is there. */
static void
check_adopted(struct cast *cast, unsigned i)
{
	enum state_kind state = STATE_IDLE;
	if (cast->scene->shared->actors[i].result != 0)
		return;
	scene_record_of(cast->scene, cast->actor[i].pid, &state);
	if (state != STATE_HELD)
		cast_fault(cast, "%s was robbed: state %d", cast->operation[i]->name, (int)state);
}

/* From the end of its operation to its exit. False: it is not through yet. */
static void
finish(struct cast *cast, unsigned i)
{
	struct tracee *tracee = &cast->actor[i];
	const struct actor *actor = &cast->scene->shared->actors[i];
	if ((cast->operation[i]->flags & IS_CHILD) != 0)
		check_adopted(cast, i);
	const bool counts = atomic_load(&actor->phase) == PHASE_END && actor->result == 0;
	const struct operation *other = cast->operation[1 - i];
	if ((cast->operation[i]->flags & USES_BESIDE) != 0 && (other == NULL || (other->flags & USES_BESIDE) == 0))
		beside_check_held(cast, i);
	cast->told = cast->told || actor->told;
	tracee_pass_mark(tracee);
	tracee_run(tracee);
	while (tracee->where == TRACEE_ASLEEP)
		tracee_poll(tracee);
	if (tracee->where != TRACEE_GONE || atomic_load(&actor->phase) != PHASE_FINISHED)
		cast_fault(cast, "%s crashed, status %#x", cast->operation[i]->name, tracee->status);
	/* Removed by the other one: there is nothing to give back to. */
	const bool gone = actor->finish_result == -EIDRM && cast_has(cast, REMOVES);
	if (actor->finish_result != 0 && !gone)
		cast_fault(cast, "%s could not give back: %s", cast->operation[i]->name, strerror(-actor->finish_result));
	if (counts && cast->operation[i]->taken < 0 && !gone) /* a take was put back */
		cast->extra += actor->count;
	if (cast->parent[i].pid == 0 || cast->parent[i].where == TRACEE_GONE)
		return;
	/* The parent of a child that has ended reaps its hold. */
	while (cast->parent[i].where != TRACEE_GONE)
		tracee_run(&cast->parent[i]);
	if (actor->finish_result != 0 && !gone)
		cast_fault(cast, "the parent could not reap: %s", strerror(-actor->finish_result));
}

/* Everybody to the end of the operation, or to sleep. */
static void
run_all(struct cast *cast)
{
	for (unsigned i = 0; i < 2; i++) {
		struct tracee *tracee = &cast->actor[i];
		if (cast->operation[i] == NULL || cast->killed[i] || tracee->where == TRACEE_GONE)
			continue;
		if (tracee->where == TRACEE_STOPPED || tracee->where == TRACEE_ASLEEP)
			tracee_run(tracee);
		if (tracee->where == TRACEE_GONE)
			cast_fault(cast, "%s crashed, status %#x", cast->operation[i]->name, tracee->status);
	}
}

static bool
let_bystander_go(struct cast *cast)
{
	struct bystander *bystander = &cast->scene->shared->bystander;
	if (cast->bystander == 0 || !atomic_load(&bystander->admitted) || atomic_load(&bystander->may_go))
		return false;
	atomic_store(&bystander->may_go, true);
	while (waitpid(cast->bystander, NULL, 0) < 0 && errno == EINTR) {
	}
	cast->bystander = 0;
	cast->told = cast->told || bystander->told;
	if (atomic_load(&bystander->result) != 0)
		cast_fault(cast, "the bystander was robbed: %s", strerror(-atomic_load(&bystander->result)));
	return true;
}

/* Nobody has died, so whoever is enabled, or was in line when all were told to give up, has been woken. */
static void
check_sleepers(struct cast *cast)
{
	const struct operation *second = cast->plan->second;
	const bool cancelled = cast->first_in_line && (second->flags & CANCELS) != 0
	                       && atomic_load(&cast->scene->shared->actors[1].phase) >= PHASE_END;
	for (unsigned i = 0; i < 2 && !cast_somebody_dies(cast->plan); i++) {
		enum state_kind state = STATE_IDLE;
		if (cast->actor[i].where != TRACEE_ASLEEP)
			continue;
		tracee_poll(&cast->actor[i]);
		const struct record *record = scene_record_of(cast->scene, cast->actor[i].pid, &state);
		if (cast->actor[i].where != TRACEE_ASLEEP || record == NULL)
			continue;
		if (state == STATE_HELD || is_enabled(cast->scene->sem, state_value(LOAD_SEQ(&record->state)), record->count))
			cast_fault(cast, "%s sleeps on although it is enabled", cast->operation[i]->name);
		else if (i == 0 && cancelled)
			cast_fault(cast, "%s sleeps on although it was told to give up", cast->operation[i]->name);
	}
}

/* Lets one of those that are through give back. False: there is none. */
static bool
finish_one(struct cast *cast)
{
	for (unsigned i = 0; i < 2; i++) {
		if (cast->operation[i] == NULL || cast->killed[i] || cast->actor[i].where != TRACEE_AT_MARK)
			continue;
		check_result(cast, i);
		finish(cast, i);
		return true;
	}
	return let_bystander_go(cast);
}

static bool
somebody_is_left(const struct cast *cast)
{
	for (unsigned i = 0; i < 2; i++) {
		if (cast->operation[i] != NULL && !cast->killed[i] && cast->actor[i].where != TRACEE_GONE)
			return true;
	}
	return cast->bystander != 0;
}

void
cast_settle(struct cast *cast)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	const time_t limit = now.tv_sec + PATIENCE_SECONDS;
	bool first = true;
	while (somebody_is_left(cast) && !cast_has_failed(cast)) {
		run_all(cast);
		books_check_admitted(cast);
		/* The others may be in the middle of something; a sleeper is not. */
		if (first && cast->plan->fate == KILL) {
			/* A dead setter's place may have come to the front since, and nobody waits who would pass over it. */
			if (cast_has(cast, SETS))
				cast_recover(cast);
			books_check_held(cast);
		}
		first = false;
		if (cast_has_failed(cast) || finish_one(cast))
			continue;
		check_sleepers(cast);
		if (cast->drained != 0 || cast->beside_drained) {
			cast_give_back(cast);
			continue;
		}
		if (cast_has(cast, SETS) && !cast->restored) {
			cast_restore_capacity(cast);
			continue;
		}
		/* Permits of a hand-over's target do not come back while it lives. */
		if (cast->other != 0) {
			process_end(cast->other);
			cast->other = 0;
			cast_recover(cast);
			continue;
		}
		/* Of all sleepers one would look for the dead at its next tick; we do not wait for that. */
		if (cast_somebody_dies(cast->plan))
			cast_recover(cast);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > limit)
			cast_fault(cast, "somebody waits for ever");
		sched_yield();
	}
}

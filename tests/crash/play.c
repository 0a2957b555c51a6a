/* SPDX-License-Identifier: MIT */
#include "play.h"

#include <string.h>

#include "beside.h"
#include "cast.h"

static void
grant(void *arg)
{
	struct cast *cast = arg;
	cast_give_back(cast);
}

/* Brings actor `i` to where the plan wants it. */
static void
advance(struct cast *cast, unsigned i, const struct trace *trace)
{
	const struct plan *plan = cast->plan;
	struct tracee *tracee = &cast->actor[i];
	const size_t steps = i == 0 ? plan->k : plan->j;
	tracee_pass_mark(tracee);
	if (steps == TO_THE_END) {
		tracee_run(tracee);
		return;
	}
	const bool reached = trace != NULL && trace_follow(trace, tracee, steps, grant, cast);
	if (i != 0)
		return;
	cast->played->reached = reached;
	if (!reached || !plan->asleep)
		return;
	tracee_step(tracee, true);
	cast->played->sleeps = tracee->where == TRACEE_ASLEEP;
}

/* True: a system call comes next. */
static bool
note_step(struct cast *cast, struct trace *trace)
{
	const struct tracee *tracee = &cast->actor[0];
	const bool looks = tracee_is_at_system_call(tracee);
	trace_add(trace, tracee_pc(tracee), scene_changes(cast->scene) | (looks ? NOTE_LOOK : 0));
	return looks;
}

static void
step_and_learn(struct cast *cast, struct trace *trace)
{
	struct tracee *tracee = &cast->actor[0];
	tracee_pass_mark(tracee);
	scene_changes(cast->scene);
	bool looks = note_step(cast, trace);
	while (tracee->where == TRACEE_STOPPED) {
		tracee_step(tracee, looks);
		if (tracee->where == TRACEE_ASLEEP && trace->sleep_count < SLEEPS_MAX) {
			trace->sleeps[trace->sleep_count++] = trace->steps - 1;
			cast_give_back(cast);
		}
		while (tracee->where == TRACEE_ASLEEP)
			tracee_poll(tracee);
		if (tracee->where == TRACEE_STOPPED)
			looks = note_step(cast, trace);
	}
	trace_finish(trace);
}

/* False if the plan makes no sense: its verdict stands in cast->played. */
static bool
set_the_scene(struct cast *cast)
{
	struct scene *scene = cast->scene;
	const unsigned flags = cast->operation[0]->flags | (cast->operation[1] == NULL ? 0 : cast->operation[1]->flags);
	struct tsem_stat stat = {.size = sizeof(stat)};
	scene_reset(scene);
	if ((flags & NEEDS_OTHER) != 0)
		cast->other = scene_start_other();
	cast_start(cast, 0);
	if (cast->played->verdict == PLAY_FINE && cast->operation[1] != NULL)
		cast_start(cast, 1);
	if (cast->played->verdict != PLAY_FINE)
		return false;

	tsem_stat(scene->sem, &stat);
	if ((flags & NEEDS_DEAD) != 0 && !scene_leave_dead(scene, cast->plan->zombie, &cast->dead)) {
		cast->played->verdict = PLAY_NOT_APPLICABLE;
		return false;
	}
	cast->abandoned = (flags & NEEDS_DEAD) != 0 && stat.available > 0;
	/* Last, for whoever stands in line looks for the dead. */
	for (unsigned i = 0; i < 2; i++) {
		if (cast->operation[i] != NULL && (cast->operation[i]->flags & PARENT_DEAD) != 0)
			cast_kill_parent(cast, i);
	}
	if (cast->plan->full) {
		tsem_stat(scene->sem, &stat);
		if (stat.available > 0 && tsem_try_take(scene->sem, (uint32_t)stat.available) == 0)
			cast->drained = (uint32_t)stat.available;
		if (cast_has(cast, DRAINS_BESIDE))
			beside_drain(cast);
	}
	return true;
}

/* A take that was killed may have taken what the others wait for. */
static void
make_up_for_take(struct cast *cast)
{
	const struct plan *plan = cast->plan;
	for (unsigned i = 0; i < 2; i++) {
		if (!cast->killed[i] || cast->operation[i]->taken <= 0 || (plan->second == NULL && !plan->line))
			continue;
		const uint32_t count = cast->scene->shared->actors[i].count;
		if (tsem_post(cast->scene->sem, count, NULL) == 0)
			cast->extra += count;
	}
}

static void
do_fate(struct cast *cast)
{
	const struct plan *plan = cast->plan;
	if (plan->early)
		cast_give_back(cast);
	if (plan->fate == KILL || plan->fate == KILL_FAMILY)
		cast_kill(cast, 0);
	if (plan->fate == KILL_PARENT || plan->fate == KILL_FAMILY)
		cast_kill_parent(cast, 0);
	if (plan->fate == KILL_SECOND)
		cast_kill(cast, 1);
	/* Whoever was killed beside a first one that stands still is to be recovered by that one, if it can. */
	if (plan->fate == KILL || plan->fate == KILL_PARENT || plan->fate == KILL_FAMILY)
		cast_recover(cast);
	for (unsigned i = 0; i < 2; i++) {
		if (cast->killed[i])
			tracee_reap(&cast->actor[i]);
	}
	make_up_for_take(cast);
	/* Where the first one lives, it goes on first. */
	if (plan->fate == KILL || plan->fate == KILL_FAMILY)
		cast_give_back(cast);
}

/* The parent of a child that was killed reaps its hold. */
static void
let_parents_end(struct cast *cast)
{
	for (unsigned i = 0; i < 2; i++) {
		struct tracee *parent = &cast->parent[i];
		if (!cast->killed[i] || parent->pid == 0 || parent->where == TRACEE_GONE)
			continue;
		while (parent->where != TRACEE_GONE)
			tracee_run(parent);
		if (cast->scene->shared->actors[i].finish_result != 0)
			cast_fault(cast, "the parent could not reap: %s", strerror(-cast->scene->shared->actors[i].finish_result));
	}
}

static void
bring_to_end(struct cast *cast)
{
	if ((cast->operation[0]->flags & REMOVES) == 0 && cast->operation[1] == NULL && cast->bystander == 0
	    && cast->killed[0] && cast->parent[0].pid == 0)
		books_check_held(cast);
	let_parents_end(cast);
	cast_settle(cast);
	const bool failed = cast_has_failed(cast);
	cast_end(cast);
	if (failed)
		return;
	cast_give_back(cast);
	books_check_capacity(cast);
	cast_restore_capacity(cast);
	books_close(cast);
}

static void
clean_up(struct cast *cast, unsigned capacity)
{
	cast_end(cast);
	/* What a fault leaves must not taint the next play; nor what a play that was called off has prepared. */
	if (cast->scene->sem != NULL && cast->played->verdict == PLAY_FINE)
		return;
	scene_close(cast->scene);
	scene_open(cast->scene, capacity);
}

void
play(struct scene *scene, const struct plan *plan, const struct trace *first, const struct trace *second,
     struct played *played)
{
	struct cast cast = {.scene = scene, .plan = plan, .played = played, .operation = {plan->first, plan->second}};
	*played = (struct played){0};
	if (set_the_scene(&cast)) {
		if (plan->second_leads)
			advance(&cast, 1, second);
		advance(&cast, 0, first);
		if (plan->line) {
			cast.bystander_came_late =
				(plan->first->flags & SETS) != 0 && plan->second == NULL && cast.actor[0].where == TRACEE_AT_MARK;
			cast.bystander = scene_start_bystander(scene);
		}
		enum state_kind state = STATE_IDLE;
		cast.first_in_line = plan->second != NULL && plan->j == TO_THE_END
		                     && scene_record_of(scene, cast.actor[0].pid, &state) != NULL && state == STATE_QUEUED;
		if (plan->second != NULL && !plan->second_leads)
			advance(&cast, 1, second);
		books_check_admitted(&cast);
		do_fate(&cast);
		played->ambiguous = cast.maybe[0] != 0;
		bring_to_end(&cast);
	}
	clean_up(&cast, plan->capacity);
}

void
play_and_learn(struct scene *scene, const struct plan *plan, struct trace *trace, struct played *played)
{
	struct cast cast = {.scene = scene, .plan = plan, .played = played, .operation = {plan->first, plan->second}};
	*played = (struct played){0};
	if (set_the_scene(&cast)) {
		step_and_learn(&cast, trace);
		if (plan->second != NULL) {
			cast_kill(&cast, 1);
			cast_recover(&cast);
		}
		bring_to_end(&cast);
	}
	clean_up(&cast, plan->capacity);
}

/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#include <stdio.h>
#include <string.h>

static struct scene *
scene_for(struct sweep *sweep, uint32_t capacity)
{
	struct scene *scene = &sweep->scenes[capacity];
	if (scene->sem == NULL)
		scene_open(scene, capacity);
	return scene;
}

static void
report(struct sweep *sweep, const struct plan *plan, const char *fault)
{
	char text[PLAN_TEXT];
	plan_to_text(plan, text);
	atomic_fetch_add(&sweep->tally->faults, 1);
	printf("FAULT: %s: %s\n    again: %s --play %s\n", plan->first->name, fault, sweep->program, text);
	fflush(stdout);
}

bool
sweep_learn(struct sweep *sweep, const struct plan *plan, struct trace *trace)
{
	struct plan alone = *plan;
	struct played played;
	if ((plan->first->flags & NEEDS_DEAD) == 0)
		alone.second = NULL;
	alone.line = false;
	alone.fate = KILL;
	alone.k = TO_THE_END;
	play_and_learn(scene_for(sweep, plan->capacity), &alone, trace, &played);
	if (played.verdict == PLAY_FAULT)
		report(sweep, &alone, played.fault);
	if (played.verdict != PLAY_FINE)
		trace_free(trace);
	return played.verdict == PLAY_FINE;
}

bool
sweep_play(struct sweep *sweep, const struct plan *plan, const struct trace *first, const struct trace *second,
           struct played *played)
{
	play(scene_for(sweep, plan->capacity), plan, first, second, played);
	if (played->verdict == PLAY_FAULT)
		report(sweep, plan, played->fault);
	if (played->verdict == PLAY_FINE && !played->reached)
		atomic_fetch_add(&sweep->tally->astray, 1);
	return atomic_load(&sweep->tally->faults) < FAULTS_MAX;
}

/* ---- one operation by itself ---- */

/* An operation on permits that nobody is recorded for happens at one step: not before it, and always after it. */
static bool
has_gone_back(const struct plan *plan, const struct trace *trace, const struct played *played, bool *happened)
{
	/* Where it sleeps, how many steps it takes depends on the clock. */
	if (!played->ambiguous || !played->reached || plan->full || (plan->first->flags & POSTS_FIRST) != 0)
		return false;
	const bool back = *happened && !played->happened;
	*happened = played->happened;
	return back || (plan->k == 0 && played->happened)
	       || (plan->k == trace->steps && !played->happened && plan->first->result == 0);
}

/*
 * Killed behind a step that nobody sees anything of, a process leaves what it would have left before that step. Such steps
 * are tried as well; but in long loops only those of the first rounds, and one now and then, and with counts above 1 and
 * with several semaphores, where the same instructions come by again, one of some; and in a sample, one of some everywhere.
 */
static bool
is_passed_over(const struct sweep *sweep, const struct plan *plan, const struct trace *trace, size_t k)
{
	const size_t several = (plan->first->flags & USES_BESIDE) != 0 ? BESIDE + 1 : 1;
	const size_t stride = (plan->count > 1 ? WEIGHTS_STRIDE : several) * sweep->sample;
	if (sweep->full || trace_is_new(trace, k) || k == trace->steps)
		return false;
	return k % stride != sweep->sample_at % stride || (trace->times[k] > ROUNDS_MAX && k % ROUNDS_STRIDE > 1);
}

static bool
sweep_setting(struct sweep *sweep, struct plan *plan, const struct trace *trace)
{
	const unsigned index = (unsigned)(plan->first - operations);
	struct played played;
	bool happened = false;
	bool go_on = true;
	size_t tried = 0;
	for (size_t k = 0; k <= trace->steps && go_on; k++) {
		if (is_passed_over(sweep, plan, trace, k)) {
			atomic_fetch_add(&sweep->tally->passed_over, 1);
			continue;
		}
		plan->k = k;
		plan->asleep = false;
		if ((plan->first->flags & NEEDS_DEAD) == 0)
			plan->zombie = (tried & 1) != 0;
		plan->early = (tried & 2) != 0;
		tried++;
		go_on = sweep_play(sweep, plan, trace, NULL, &played);
		if (has_gone_back(plan, trace, &played, &happened))
			report(sweep, plan, "half happened");
		atomic_fetch_add(&sweep->tally->singles[index], 1);
	}
	for (size_t i = 0; i < trace->sleep_count && go_on; i++) {
		plan->k = trace->sleeps[i];
		plan->asleep = true;
		go_on = sweep_play(sweep, plan, trace, NULL, &played);
	}
	return go_on;
}

static bool
sweep_operation(struct sweep *sweep, const struct operation *operation, struct plan *plan)
{
	struct trace trace = {0};
	bool go_on = true;
	plan->first = operation;
	if (!sweep_learn(sweep, plan, &trace))
		return true;
	atomic_fetch_add(&sweep->tally->steps[operation - operations], trace.steps + 1);
	const enum fate last = (operation->flags & IS_CHILD) != 0 ? KILL_FAMILY : KILL;
	for (unsigned fate = KILL; fate <= last && go_on; fate++) {
		if (fate == RESUME || fate == KILL_SECOND)
			continue;
		plan->fate = (enum fate)fate;
		go_on = sweep_setting(sweep, plan, &trace);
	}
	trace_free(&trace);
	return go_on;
}

static const struct {
	uint32_t capacity;
	uint32_t count;
	bool full;
	bool line;
} single_settings[] = {{1, 1, false, false}, {3, 2, false, false}, {1, 1, true, false}, {3, 2, true, true}};

enum { SINGLE_SETTINGS = sizeof(single_settings) / sizeof(single_settings[0]) };

/* False when enough faults have been found. */
static bool
sweep_single(struct sweep *sweep, const struct operation *operation, size_t s)
{
	const unsigned never_full = IS_CHILD | IS_PARENT | NEEDS_OTHER | NEEDS_DEAD | CREATES | REMOVES;
	const unsigned flags = operation->flags;
	struct plan plan = {.capacity = single_settings[s].capacity, .count = single_settings[s].count, .j = TO_THE_END};
	plan.full = single_settings[s].full;
	plan.line = single_settings[s].line;
	/* Whoever judges the dead takes another way with zombies: learned, and played, with or without them. */
	plan.zombie = plan.count > 1 && (flags & NEEDS_DEAD) != 0;
	if ((sweep->only != NULL && strcmp(sweep->only, operation->name) != 0) || (flags & SECOND_ONLY) != 0
	    || (plan.full ? (flags & never_full) != 0 : (flags & NEEDS_FULL) != 0)
	    || ((flags & (CREATES | REMOVES)) != 0 && s != 0))
		return true;
	return sweep_operation(sweep, operation, &plan);
}

/* Each worker takes what comes next: learning is done once, and nobody waits for the other. */
void
sweep_singles(struct sweep *sweep)
{
	unsigned next;
	do {
		next = atomic_fetch_add(&sweep->tally->next, 1);
	} while (next < operation_count * SINGLE_SETTINGS
	         && sweep_single(sweep, &operations[next / SINGLE_SETTINGS], next % SINGLE_SETTINGS));
}

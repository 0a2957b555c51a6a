/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#include <stdio.h>
#include <string.h>

static struct fixture *
fixture_for(struct sweep *sweep, uint32_t capacity)
{
	struct fixture *fixture = &sweep->fixtures[capacity];
	if (fixture->sem == NULL)
		fixture_open(fixture, capacity);
	return fixture;
}

static void
report(struct sweep *sweep, const struct plan *plan, const char *fault)
{
	char text[PLAN_TEXT];
	plan_to_text(plan, text);
	atomic_fetch_add(&sweep->tally->faults, 1);
	printf("FAULT: %s: %s\n    replay: %s --replay %s\n", plan->first->name, fault, sweep->program, text);
	fflush(stdout);
}

bool
sweep_learn(struct sweep *sweep, const struct plan *plan, struct trace *trace)
{
	struct plan alone = *plan;
	struct result result;
	if ((plan->first->flags & NEEDS_DEAD) == 0)
		alone.second = NULL;
	alone.third = false;
	alone.fate = KILL;
	alone.k = TO_THE_END;
	run_plan_and_learn(fixture_for(sweep, plan->capacity), &alone, trace, &result);
	if (result.verdict == VERDICT_FAULT)
		report(sweep, &alone, result.fault);
	if (result.verdict != VERDICT_FINE)
		trace_free(trace);
	return result.verdict == VERDICT_FINE;
}

bool
sweep_run_plan(struct sweep *sweep, const struct plan *plan, const struct trace *first, const struct trace *second,
               struct result *result)
{
	run_plan(fixture_for(sweep, plan->capacity), plan, first, second, result);
	if (result->verdict == VERDICT_FAULT)
		report(sweep, plan, result->fault);
	if (result->verdict == VERDICT_FINE && !result->reached)
		atomic_fetch_add(&sweep->tally->diverged, 1);
	return atomic_load(&sweep->tally->faults) < FAULTS_MAX;
}

/* ---- one operation ---- */

/*
 * An operation on permits without a recorded holder happens at one step: a kill before that step leaves no effect, a
 * kill after it leaves the whole effect.
 */
static bool
has_gone_back(const struct plan *plan, const struct trace *trace, const struct result *result, bool *happened)
{
	/* The number of steps of an operation that sleeps depends on the clock. */
	if (!result->ambiguous || !result->reached || plan->full || (plan->first->flags & POSTS_FIRST) != 0)
		return false;
	const bool back = *happened && !result->happened;
	*happened = result->happened;
	return back || (plan->k == 0 && result->happened)
	       || (plan->k == trace->steps && !result->happened && plan->first->result == 0);
}

/*
 * A step that changes nothing for other processes leaves the same state as the step before it, so some of these steps
 * are enough. All are tried where the stride is 1. In long loops, only the first rounds and a few others are tried.
 * With counts above 1, with several semaphores and in another namespace, the same instructions repeat, so one step in a
 * few is tried. A sample tries one in `sample` everywhere.
 */
static bool
is_skipped(const struct sweep *sweep, const struct plan *plan, const struct trace *trace, size_t k)
{
	const size_t several = (plan->first->flags & USES_BESIDE) != 0 ? BESIDE + 1 : 1;
	const bool repeats = plan->count > 1 || plan->contained;
	const size_t stride = (repeats ? WEIGHTS_STRIDE : several) * sweep->sample;
	if (sweep->full || trace_is_new(trace, k) || k == trace->steps)
		return false;
	return k % stride != sweep->sample_at % stride || (trace->times[k] > ROUNDS_MAX && k % ROUNDS_STRIDE > 1);
}

static bool
sweep_setting(struct sweep *sweep, struct plan *plan, const struct trace *trace)
{
	const unsigned index = (unsigned)(plan->first - operations);
	struct result result;
	bool happened = false;
	bool go_on = true;
	size_t tried = 0;
	for (size_t k = 0; k <= trace->steps && go_on; k++) {
		if (is_skipped(sweep, plan, trace, k)) {
			atomic_fetch_add(&sweep->tally->skipped, 1);
			continue;
		}
		plan->k = k;
		plan->asleep = false;
		if ((plan->first->flags & NEEDS_DEAD) == 0)
			plan->zombie = (tried & 1) != 0;
		plan->early = (tried & 2) != 0;
		tried++;
		go_on = sweep_run_plan(sweep, plan, trace, NULL, &result);
		if (has_gone_back(plan, trace, &result, &happened))
			report(sweep, plan, "the operation had its effect only in part");
		atomic_fetch_add(&sweep->tally->singles[index], 1);
	}
	for (size_t i = 0; i < trace->sleep_count && go_on; i++) {
		plan->k = trace->sleeps[i];
		plan->asleep = true;
		go_on = sweep_run_plan(sweep, plan, trace, NULL, &result);
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
	const enum fate last_alone = plan->contained ? RESUME : KILL;
	const enum fate last = (operation->flags & IS_CHILD) != 0 ? KILL_FAMILY : last_alone;
	for (unsigned fate = KILL; fate <= last && go_on; fate++) {
		if ((fate == RESUME && !plan->contained) || fate == KILL_SECOND)
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
	bool third;
	bool contained;
} single_settings[] = {
	{1, 1, false, false, false}, {3, 2, false, false, false}, {1, 1, true, false, false},
	{3, 2, true, true, false},   {1, 1, false, false, true},  {1, 1, true, true, true},
};

enum { SINGLE_SETTINGS = sizeof(single_settings) / sizeof(single_settings[0]) };

/* False when enough faults have been found. */
static bool
sweep_single(struct sweep *sweep, const struct operation *operation, size_t s)
{
	const unsigned never_full = IS_CHILD | IS_PARENT | NEEDS_OTHER | NEEDS_DEAD | CREATES | REMOVES | TAKES_FIRST;
	/*
	 * Nothing shows another PID namespace that the receiver of a hold, or an owner in memory without a file, is dead.
	 * An operation that posts first, and takes anonymously, is judged by no process.
	 */
	const unsigned never_contained = NEEDS_OTHER | USES_BESIDE | POSTS_FIRST | TAKES_FIRST;
	const unsigned flags = operation->flags;
	struct plan plan = {.capacity = single_settings[s].capacity, .count = single_settings[s].count, .j = TO_THE_END};
	plan.full = single_settings[s].full;
	plan.third = single_settings[s].third;
	plan.contained = single_settings[s].contained;
	/* Recovery takes another path with zombies, so the trace is made with or without them, as in the run. */
	plan.zombie = plan.count > 1 && (flags & NEEDS_DEAD) != 0;
	if ((sweep->only != NULL && strcmp(sweep->only, operation->name) != 0) || (flags & SECOND_ONLY) != 0
	    || (plan.full ? (flags & never_full) != 0 : (flags & NEEDS_FULL) != 0)
	    || ((flags & (CREATES | REMOVES | UNLINKS)) != 0 && s != 0)
	    || (plan.contained && (!sweep->may_contain || (flags & never_contained) != 0)))
		return true;
	return sweep_operation(sweep, operation, &plan);
}

/* Most of the time goes into the traces, so a part leaves out whole settings: others of each operation in each run. */
static bool
is_in_part(const struct sweep *sweep, unsigned operation, unsigned setting)
{
	return (operation + setting + sweep->sample_at) % sweep->part == 0;
}

/* Each worker takes the next operation, so each trace is made once, and the load is even. */
void
sweep_singles(struct sweep *sweep)
{
	bool go_on = true;
	while (go_on) {
		const unsigned next = atomic_fetch_add(&sweep->tally->next, 1);
		const unsigned operation = next / SINGLE_SETTINGS;
		const unsigned setting = next % SINGLE_SETTINGS;
		if (operation >= operation_count)
			return;
		if (is_in_part(sweep, operation, setting))
			go_on = sweep_single(sweep, &operations[operation], setting);
	}
}

/* SPDX-License-Identifier: MIT */
#include "run_plan.h"

#include <string.h>

#include "beside.h"
#include "run.h"

static void
grant(void *arg)
{
	struct run *run = arg;
	run_give_back(run);
}

/* Lets executor `i` run as far as the plan says. */
static void
advance(struct run *run, unsigned i, const struct trace *trace)
{
	const struct plan *plan = run->plan;
	struct tracee *tracee = &run->executor[i];
	const size_t steps = i == 0 ? plan->k : plan->j;
	tracee_pass_mark(tracee);
	if (steps == TO_THE_END) {
		tracee_run(tracee);
		return;
	}
	const bool reached = trace != NULL && trace_follow(trace, tracee, steps, grant, run);
	if (i != 0)
		return;
	run->result->reached = reached;
	if (!reached || !plan->asleep)
		return;
	tracee_step(tracee, true);
	run->result->sleeps = tracee->where == TRACEE_ASLEEP;
}

/* Returns true if a system call comes next. */
static bool
note_step(struct run *run, struct trace *trace)
{
	const struct tracee *tracee = &run->executor[0];
	const bool is_call = tracee_is_at_system_call(tracee);
	trace_add(trace, tracee_pc(tracee), fixture_changes(run->fixture) | (is_call ? NOTE_SYSTEM_CALL : 0));
	return is_call;
}

static void
step_and_learn(struct run *run, struct trace *trace)
{
	struct tracee *tracee = &run->executor[0];
	tracee_pass_mark(tracee);
	fixture_changes(run->fixture);
	bool is_call = note_step(run, trace);
	while (tracee->where == TRACEE_STOPPED) {
		tracee_step(tracee, is_call);
		if (tracee->where == TRACEE_ASLEEP && trace->sleep_count < SLEEPS_MAX) {
			trace->sleeps[trace->sleep_count++] = trace->steps - 1;
			run_give_back(run);
		}
		while (tracee->where == TRACEE_ASLEEP)
			tracee_poll(tracee);
		if (tracee->where == TRACEE_STOPPED)
			is_call = note_step(run, trace);
	}
	trace_finish(trace);
}

/* False if the plan does not apply, or if there was a fault: see run->result. */
static bool
prepare(struct run *run)
{
	struct fixture *fixture = run->fixture;
	const unsigned flags = run->operation[0]->flags | (run->operation[1] == NULL ? 0 : run->operation[1]->flags);
	struct tsem_stat stat = {.size = sizeof(stat)};
	fixture_reset(fixture);
	if ((flags & NEEDS_OTHER) != 0)
		run->other = fixture_start_other();
	run_start_executor(run, 0);
	if (run->result->verdict == VERDICT_FINE && run->operation[1] != NULL)
		run_start_executor(run, 1);
	if (run->result->verdict != VERDICT_FINE)
		return false;

	tsem_stat(fixture->sem, &stat);
	if ((flags & NEEDS_DEAD) != 0 && !fixture_leave_dead_process(fixture, run->plan->zombie, &run->dead)) {
		run->result->verdict = VERDICT_NOT_APPLICABLE;
		return false;
	}
	run->abandoned = (flags & NEEDS_DEAD) != 0 && stat.available > 0;
	/* The parents die last, because every process that waits looks for dead owners. */
	for (unsigned i = 0; i < 2; i++) {
		if (run->operation[i] != NULL && (run->operation[i]->flags & PARENT_DEAD) != 0)
			run_kill_parent(run, i);
	}
	if (run->plan->full) {
		tsem_stat(fixture->sem, &stat);
		if (stat.available > 0 && tsem_try_take(fixture->sem, (uint32_t)stat.available) == 0)
			run->drained = (uint32_t)stat.available;
		if (run_has_flag(run, DRAINS_BESIDE))
			beside_drain(run);
	}
	return true;
}

/* A take that was killed may have taken what the others wait for, and a post may not have given it back. */
static void
post_for_killed_take(struct run *run)
{
	const struct plan *plan = run->plan;
	for (unsigned i = 0; i < 2; i++) {
		const bool may_have = run->operation[i] != NULL
		                      && (run->operation[i]->taken > 0 || (run->operation[i]->flags & TAKES_FIRST) != 0);
		if (!run->killed[i] || !may_have || (plan->second == NULL && !plan->third))
			continue;
		const uint32_t count = run->fixture->shared->executors[i].count;
		if (tsem_post(run->fixture->sem, count, NULL) == 0)
			run->extra += count;
	}
}

static void
do_fate(struct run *run)
{
	const struct plan *plan = run->plan;
	if (plan->early)
		run_give_back(run);
	if (plan->fate == KILL || plan->fate == KILL_FAMILY)
		run_kill(run, 0);
	if (plan->fate == KILL_PARENT || plan->fate == KILL_FAMILY)
		run_kill_parent(run, 0);
	if (plan->fate == KILL_SECOND)
		run_kill(run, 1);
	/* If the first executor lives, it is the one that has to recover what the dead left. */
	if (plan->fate == KILL || plan->fate == KILL_PARENT || plan->fate == KILL_FAMILY)
		run_recover(run);
	/* The lock alone shows that this executor lives. */
	if (plan->fate == RESUME && plan->contained)
		run_recover(run);
	for (unsigned i = 0; i < 2; i++) {
		if (run->killed[i])
			tracee_reap(&run->executor[i]);
	}
	post_for_killed_take(run);
	/* If the first executor lives, it goes on before the driver gives back. */
	if (plan->fate == KILL || plan->fate == KILL_FAMILY)
		run_give_back(run);
}

/* The parent of a killed child reaps the child's hold. */
static void
run_parents_to_end(struct run *run)
{
	for (unsigned i = 0; i < 2; i++) {
		struct tracee *parent = &run->parent[i];
		if (!run->killed[i] || parent->pid == 0 || parent->where == TRACEE_GONE)
			continue;
		while (parent->where != TRACEE_GONE)
			tracee_run(parent);
		if (run->fixture->shared->executors[i].finish_result != 0)
			run_fault(run, "the parent could not reap: %s",
			          strerror(-run->fixture->shared->executors[i].finish_result));
	}
}

static void
finish_run(struct run *run)
{
	if ((run->operation[0]->flags & REMOVES) == 0 && run->operation[1] == NULL && run->bystander == 0 && run->killed[0]
	    && run->parent[0].pid == 0)
		invariants_check_held(run);
	run_parents_to_end(run);
	run_settle(run);
	const bool failed = run_has_failed(run);
	run_end(run);
	if (failed)
		return;
	run_give_back(run);
	invariants_check_capacity(run);
	run_restore_capacity(run);
	invariants_check_end(run);
}

static void
clean_up(struct run *run, unsigned capacity)
{
	run_end(run);
	/* Neither a fault nor a run that was called off may affect the next run. */
	if (run->fixture->sem != NULL && run->result->verdict == VERDICT_FINE)
		return;
	fixture_close(run->fixture);
	fixture_open(run->fixture, capacity);
}

void
run_plan(struct fixture *fixture, const struct plan *plan, const struct trace *first, const struct trace *second,
         struct result *result)
{
	struct run run = {.fixture = fixture, .plan = plan, .result = result, .operation = {plan->first, plan->second}};
	*result = (struct result){0};
	if (prepare(&run)) {
		if (plan->second_leads)
			advance(&run, 1, second);
		advance(&run, 0, first);
		if (plan->third) {
			run.bystander_after_set =
				(plan->first->flags & SETS) != 0 && plan->second == NULL && run.executor[0].where == TRACEE_AT_MARK;
			run.bystander = fixture_start_bystander(fixture);
		}
		enum state_kind state = STATE_IDLE;
		run.first_queued = plan->second != NULL && plan->j == TO_THE_END
		                   && fixture_record_of(fixture, run.executor[0].pid, &state) != NULL && state == STATE_QUEUED;
		if (plan->second != NULL && !plan->second_leads)
			advance(&run, 1, second);
		invariants_check_admitted(&run);
		do_fate(&run);
		result->ambiguous = run.maybe[0] != 0;
		finish_run(&run);
	}
	clean_up(&run, plan->capacity);
}

void
run_plan_and_learn(struct fixture *fixture, const struct plan *plan, struct trace *trace, struct result *result)
{
	struct run run = {.fixture = fixture, .plan = plan, .result = result, .operation = {plan->first, plan->second}};
	*result = (struct result){0};
	if (prepare(&run)) {
		step_and_learn(&run, trace);
		if (plan->second != NULL) {
			run_kill(&run, 1);
			run_recover(&run);
		}
		finish_run(&run);
	}
	clean_up(&run, plan->capacity);
}

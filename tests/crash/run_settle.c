/* SPDX-License-Identifier: MIT */
/* Lets all live processes of a run come to their ends. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "beside.h"
#include "pid_namespace.h"
#include "protocol/protocol.h"
#include "worker.h"

enum { TIMEOUT_SECONDS = 10 };

static void
check_result(struct run *run, unsigned i)
{
	const struct executor *executor = &run->fixture->shared->executors[i];
	const struct operation *operation = run->operation[i];
	const bool alone = run->plan->second == NULL && run->plan->fate != KILL_PARENT;
	const bool admitted_after_all = executor->result == 0;
	const bool called_off = executor->result == -ECANCELED && run_has_flag(run, CANCELS);
	const bool removed = executor->result == -EIDRM || executor->result == -ENOENT;
	if (executor->result == operation->result || called_off)
		return;
	if (alone && !run->plan->third && !(run->plan->full && executor->result == operation->otherwise))
		run_fault(run, "%s returned %s without any interference", operation->name, strerror(-executor->result));
	else if (!admitted_after_all && executor->result != operation->otherwise && !removed
	         && !(run->plan->fate == KILL_PARENT && executor->result == -EPERM))
		run_fault(run, "%s returned %s", operation->name, strerror(-executor->result));
}

/* The executor gives an adopted hold back by its death, so check that it has one. */
static void
check_adopted(struct run *run, unsigned i)
{
	enum state_kind state = STATE_IDLE;
	if (run->fixture->shared->executors[i].result != 0)
		return;
	fixture_record_of(run->fixture, (pid_t)pid_namespace_number(run->executor[i].pid), &state);
	if (state != STATE_HELD)
		run_fault(run, "%s lost its hold: state %d", run->operation[i]->name, (int)state);
}

/* Lets an executor go on from the end of its operation to its exit. */
static void
finish(struct run *run, unsigned i)
{
	struct tracee *tracee = &run->executor[i];
	const struct executor *executor = &run->fixture->shared->executors[i];
	if ((run->operation[i]->flags & IS_CHILD) != 0)
		check_adopted(run, i);
	const bool counts = atomic_load(&executor->phase) == PHASE_END && executor->result == 0;
	const struct operation *other = run->operation[1 - i];
	if ((run->operation[i]->flags & USES_BESIDE) != 0 && (other == NULL || (other->flags & USES_BESIDE) == 0))
		beside_check_held(run, i);
	run->notified = run->notified || executor->notified;
	tracee_pass_mark(tracee);
	tracee_run(tracee);
	while (tracee->where == TRACEE_ASLEEP)
		tracee_poll(tracee);
	if (tracee->where != TRACEE_GONE || atomic_load(&executor->phase) != PHASE_FINISHED)
		run_fault(run, "%s crashed, status %#x", run->operation[i]->name, tracee->status);
	/* The other operation has removed the semaphore, so the executor cannot give back. */
	const bool gone = executor->finish_result == -EIDRM && run_has_flag(run, REMOVES);
	if (executor->finish_result != 0 && !gone)
		run_fault(run, "%s could not give back: %s", run->operation[i]->name, strerror(-executor->finish_result));
	if (counts && run->operation[i]->taken < 0 && !gone) /* a take gave back itself */
		run->extra += executor->count;
	if (run->parent[i].pid == 0 || run->parent[i].where == TRACEE_GONE)
		return;
	/* The parent of a child that has ended reaps the child's hold. */
	while (run->parent[i].where != TRACEE_GONE)
		tracee_run(&run->parent[i]);
	if (executor->finish_result != 0 && !gone)
		run_fault(run, "the parent could not reap: %s", strerror(-executor->finish_result));
}

/* Runs each executor until its operation ends or it sleeps. */
static void
run_all(struct run *run)
{
	for (unsigned i = 0; i < 2; i++) {
		struct tracee *tracee = &run->executor[i];
		if (run->operation[i] == NULL || run->killed[i] || tracee->where == TRACEE_GONE)
			continue;
		if (tracee->where == TRACEE_STOPPED || tracee->where == TRACEE_ASLEEP)
			tracee_run(tracee);
		if (tracee->where == TRACEE_GONE)
			run_fault(run, "%s crashed, status %#x", run->operation[i]->name, tracee->status);
	}
}

static bool
end_bystander(struct run *run)
{
	struct bystander *bystander = &run->fixture->shared->bystander;
	if (run->bystander == 0 || !atomic_load(&bystander->admitted) || atomic_load(&bystander->may_go))
		return false;
	atomic_store(&bystander->may_go, true);
	await_end(run->bystander);
	run->bystander = 0;
	run->notified = run->notified || bystander->notified;
	if (atomic_load(&bystander->result) != 0)
		run_fault(run, "the bystander lost its hold: %s", strerror(-atomic_load(&bystander->result)));
	return true;
}

/* No process has died, so an enabled waiter must be awake, and so must one that was cancelled. */
static void
check_sleepers(struct run *run)
{
	const struct operation *second = run->plan->second;
	const bool cancelled = run->first_queued && (second->flags & CANCELS) != 0
	                       && atomic_load(&run->fixture->shared->executors[1].phase) >= PHASE_END;
	for (unsigned i = 0; i < 2 && !plan_has_death(run->plan); i++) {
		enum state_kind state = STATE_IDLE;
		if (run->executor[i].where != TRACEE_ASLEEP)
			continue;
		tracee_poll(&run->executor[i]);
		const struct record *record = fixture_record_of(run->fixture, run->executor[i].pid, &state);
		if (run->executor[i].where != TRACEE_ASLEEP || record == NULL)
			continue;
		if (state == STATE_HELD || is_enabled(run->fixture->sem, state_value(LOAD_SEQ(&record->state)), record->count))
			run_fault(run, "%s sleeps on although it is enabled", run->operation[i]->name);
		else if (i == 0 && cancelled)
			run_fault(run, "%s sleeps on although it was cancelled", run->operation[i]->name);
	}
}

/* Lets one process that has ended its operation give back. False: there is none. */
static bool
finish_one(struct run *run)
{
	for (unsigned i = 0; i < 2; i++) {
		if (run->operation[i] == NULL || run->killed[i] || run->executor[i].where != TRACEE_AT_MARK)
			continue;
		check_result(run, i);
		finish(run, i);
		return true;
	}
	return end_bystander(run);
}

static bool
is_process_left(const struct run *run)
{
	for (unsigned i = 0; i < 2; i++) {
		if (run->operation[i] != NULL && !run->killed[i] && run->executor[i].where != TRACEE_GONE)
			return true;
	}
	return run->bystander != 0;
}

void
run_settle(struct run *run)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	const time_t limit = now.tv_sec + TIMEOUT_SECONDS;
	bool first = true;
	while (is_process_left(run) && !run_has_failed(run)) {
		run_all(run);
		invariants_check_admitted(run);
		/* Only now, because a process that is not asleep may be in the middle of an operation. */
		if (first && run->plan->fate == KILL) {
			/* The ticket of a dead setter may have come to the front, with no waiter left to skip it. */
			if (run_has_flag(run, SETS))
				run_recover(run);
			invariants_check_held(run);
		}
		first = false;
		if (run_has_failed(run) || finish_one(run))
			continue;
		check_sleepers(run);
		if (run->drained != 0 || run->beside_drained) {
			run_give_back(run);
			continue;
		}
		if (run_has_flag(run, SETS) && !run->restored) {
			run_restore_capacity(run);
			continue;
		}
		/* The permits of a hold that was handed over do not come back while the new owner lives. */
		if (run->other != 0) {
			process_end(run->other);
			run->other = 0;
			run_recover(run);
			continue;
		}
		/* A sleeper would look for the dead at its next tick; the driver does so at once. */
		if (plan_has_death(run->plan))
			run_recover(run);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > limit)
			run_fault(run, "a process waits for ever");
		sched_yield();
	}
}

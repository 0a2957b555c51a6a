/* SPDX-License-Identifier: MIT */
#include "run.h"

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
#include "records/record.h"

void
run_fault(struct run *run, const char *format, ...)
{
	if (run_has_failed(run)) /* the first fault says most */
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(run->result->fault, sizeof(run->result->fault), format, arguments);
	va_end(arguments);
	run->result->verdict = VERDICT_FAULT;
}

/* ---- starting ---- */

/* The parent is at the mark before its vfork(). Leaves the executor at the mark where the operation begins. */
static void
start_family(struct run *run, unsigned i)
{
	unsigned long child_pid = 0;
	struct tracee *parent = &run->parent[i];
	*parent = run->executor[i];
	run->executor[i] = (struct tracee){0};
	ptrace(PTRACE_SETOPTIONS, parent->pid, NULL, PTRACE_O_TRACEVFORK);
	tracee_pass_mark(parent);
	tracee_run(parent);
	ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &child_pid);

	struct tracee child;
	tracee_begin(&child, (pid_t)child_pid);
	ptrace(PTRACE_CONT, parent->pid, NULL, NULL);
	parent->running = true;
	tracee_run(&child);
	if ((run->operation[i]->flags & IS_CHILD) != 0) {
		run->executor[i] = child;
		return;
	}
	while (child.where != TRACEE_GONE)
		tracee_run(&child);
	tracee_reap(&child);
	while (parent->where != TRACEE_AT_MARK && parent->where != TRACEE_GONE)
		tracee_run(parent);
	run->executor[i] = *parent;
	*parent = (struct tracee){0};
}

bool
plan_has_death(const struct plan *plan)
{
	const unsigned flags = plan->first->flags | (plan->second == NULL ? 0 : plan->second->flags);
	return plan->fate != RESUME || (flags & (IS_CHILD | NEEDS_DEAD | NEEDS_OTHER)) != 0;
}

static enum sleep_mode
choose_sleep_mode(const struct plan *plan, const struct operation *operation)
{
	if ((operation->flags & CLOCK_JUMPS) != 0)
		return SLEEP_CLOCK_JUMP;
	if (!plan_has_death(plan))
		return SLEEP_UNTIL_WOKEN;
	/* No other process looks for the dead then: see run_recover(). */
	if ((operation->flags & WAITS_IDLE) != 0 && plan->second == operation)
		return SLEEP_CLOCK_JUMP;
	return plan->second == NULL ? SLEEP_UNCHANGED : SLEEP_SHORT;
}

void
run_start_executor(struct run *run, unsigned i)
{
	const struct plan *plan = run->plan;
	struct executor *executor = &run->fixture->shared->executors[i];
	*executor = (struct executor){
		.sem = run->fixture->sem,
		.beside = {run->fixture->beside[0], run->fixture->beside[1]},
		.name = run->fixture->name,
		.absent = run->fixture->absent,
		.capacity = run->fixture->capacity,
		.count = (run->operation[i]->flags & ONE_PERMIT) != 0 ? 1 : plan->count,
		.other = run->other,
		.sleep_mode = choose_sleep_mode(plan, run->operation[i]),
	};
	const pid_t pid = plan->contained && i == 0 ? fixture_fork_contained() : fork();
	if (pid < 0) {
		perror("fork");
		abort();
	}
	if (pid == 0)
		executor_main(executor, run->operation[i]);
	tracee_begin(&run->executor[i], pid);
	if (run->executor[i].where == TRACEE_AT_MARK && (run->operation[i]->flags & (IS_CHILD | IS_PARENT)) != 0)
		start_family(run, i);
	if (run->executor[i].where == TRACEE_GONE && atomic_load(&executor->phase) == PHASE_NOT_APPLICABLE)
		run->result->verdict = VERDICT_NOT_APPLICABLE;
	else if (run->executor[i].where != TRACEE_AT_MARK || atomic_load(&executor->phase) != PHASE_BEGIN)
		run_fault(run, "%s died before it began, status %#x", run->operation[i]->name, run->executor[i].status);
}

/* ---- ending ---- */

void
run_kill(struct run *run, unsigned i)
{
	const struct executor *executor = &run->fixture->shared->executors[i];
	if (run->operation[i] == NULL || run->executor[i].pid == 0)
		return;
	tracee_kill(&run->executor[i], run->plan->zombie);
	run->killed[i] = true;
	const int64_t change = -(int64_t)run->operation[i]->taken * executor->count;
	const bool at_end = atomic_load(&executor->phase) == PHASE_END;
	run->notified = run->notified || (executor->notified && !run->operation[i]->holds);
	if (at_end)
		run->extra += executor->result == 0 ? change : 0;
	else if (change != 0)
		run->maybe[i] = change;
	else if ((run->operation[i]->flags & (POSTS_FIRST | TAKES_FIRST)) != 0)
		run->maybe[i] = executor->count;
	if (!at_end && (run->operation[i]->flags & TAKES_FIRST) != 0)
		run->extra -= executor->count;
	if (at_end && executor->result == 0 && run->operation[i]->holds && !executor->elsewhere
	    && (run->operation[i]->flags & IS_CHILD) == 0)
		run->abandoned = true;
}

void
run_kill_parent(struct run *run, unsigned i)
{
	if (run->parent[i].pid != 0)
		tracee_kill(&run->parent[i], false);
}

bool
run_has_flag(const struct run *run, unsigned flags)
{
	return ((run->operation[0]->flags | (run->operation[1] == NULL ? 0 : run->operation[1]->flags)) & flags) != 0;
}

void
run_restore_capacity(struct run *run)
{
	if (run->restored || !run_has_flag(run, SETS) || run->fixture->sem == NULL)
		return;
	run->restored = true;
	int rc = tsem_set(run->fixture->sem, run->fixture->capacity);
	if (rc != 0)
		run_fault(run, "the driver cannot set the capacity: %s", strerror(-rc));
	record_free_cached(run->fixture->sem);
}

void
run_recover(struct run *run)
{
	const struct operation *second = run->plan->second;
	/* A process that sleeps until the semaphore is idle has to find the dead by itself. */
	if (second != NULL && (second->flags & WAITS_IDLE) != 0 && run->executor[1].where == TRACEE_ASLEEP)
		return;
	tsem_recover(run->fixture->sem, NULL);
	for (int i = 0; i < BESIDE && run_has_flag(run, USES_BESIDE); i++)
		tsem_recover(run->fixture->beside[i], NULL);
}

void
run_give_back(struct run *run)
{
	beside_give_back(run);
	const uint32_t drained = run->drained;
	run->drained = 0;
	if (drained != 0 && tsem_post(run->fixture->sem, drained, NULL) != 0)
		run_fault(run, "the driver's post failed");
}

void
run_end(struct run *run)
{
	for (unsigned i = 0; i < 2; i++) {
		tracee_kill(&run->executor[i], false);
		tracee_reap(&run->executor[i]);
		tracee_kill(&run->parent[i], false);
		tracee_reap(&run->parent[i]);
	}
	const pid_t rest[] = {run->other, run->dead, run->bystander};
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		if (rest[i] != 0)
			process_end(rest[i]);
	}
	run->other = run->dead = run->bystander = 0;
}

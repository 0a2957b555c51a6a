/* SPDX-License-Identifier: MIT */
#include "command_run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

const char *const action_names[ACTIONS] = {"none", "kill-command", "kill-child", "kill-both", "term",
                                           "int",  "hup",          "stop",       "orphan",    "error"};

void
run_fault(struct run *run, const char *format, ...)
{
	va_list args;
	if (run->result->fault[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(run->result->fault, FAULT_TEXT, format, args);
	va_end(args);
}

/* ---- at a boundary ---- */

static void
log_boundary(const struct run *run, pid_t thread, const struct boundary *boundary)
{
	static const char *const roles[ROLES] = {"command", "child", "other"};
	char text[CALL_TEXT];
	if (run->log == NULL)
		return;
	call_to_text(thread, &boundary->call, text);
	fprintf(run->log, "%-7s %4u %6d %s %s\n", roles[boundary->role], boundary->index, (int)thread,
	        boundary->call.is_exit ? "<" : ">", text);
}

static void
send(struct run *run, enum role role, int number)
{
	const struct processes *processes = &run->fixture.processes;
	if (processes_has_live(processes, role))
		kill(processes->pid[role], number);
}

/* Returns false if the member is to stay stopped. */
static bool
do_action(struct run *run, struct member *member)
{
	switch (run->point->action) {
	case ACTION_KILL_COMMAND:
		send(run, ROLE_COMMAND, SIGKILL);
		return true;
	case ACTION_KILL_CHILD:
		send(run, ROLE_CHILD, SIGKILL);
		return true;
	case ACTION_KILL_BOTH:
		if (run->fixture.first != NULL) {
			kill(run->fixture.first->pid, SIGKILL); /* and with it all processes of its namespace */
			return true;
		}
		send(run, ROLE_COMMAND, SIGKILL);
		send(run, ROLE_CHILD, SIGKILL);
		return true;
	case ACTION_TERM:
		send(run, ROLE_COMMAND, SIGTERM);
		return true;
	case ACTION_INT:
		send(run, ROLE_COMMAND, SIGINT);
		return true;
	case ACTION_HUP:
		send(run, ROLE_COMMAND, SIGHUP);
		return true;
	case ACTION_ORPHAN:
		send(run, ROLE_COMMAND, SIGKILL);
		run->held = member->pid;
		return false;
	case ACTION_STOP:
		run->held = member->pid;
		return false;
	case ACTION_ERROR:
		member->error = run->point->error;
		return true;
	default:
		return true;
	}
}

static bool
at_boundary(void *arg, struct member *member, const struct boundary *boundary)
{
	struct run *run = arg;
	struct result *result = run->result;
	const struct point *point = run->point;
	log_boundary(run, member->pid, boundary);
	if ((point->situation->flags & LINKED) != 0 && !boundary->call.is_exit && call_opens_unnamed(&boundary->call))
		member->error = EOPNOTSUPP;
	if (run->over)
		return true;
	if (result->boundaries != NULL && result->boundary_count < BOUNDARIES_MAX)
		result->boundaries[result->boundary_count++] = *boundary;
	if (point->action == ACTION_NONE || result->reached || boundary->role != point->role
	    || boundary->index != point->index)
		return true;
	if (point->action == ACTION_ERROR && !call_may_fail(&boundary->call, point->error))
		return true; /* the run took another path, because of its timing */
	result->reached = true;
	result->at = *boundary;
	if (run->log != NULL)
		fprintf(run->log, "        ---- %s ----\n", action_names[point->action]);
	return do_action(run, member);
}

/* ---- other commands while a member is stopped ---- */

static int
run_other(struct run *run, const char *const words[])
{
	char text[256];
	if (run->result->fault[0] != '\0')
		return -1; /* after one fault, another command that hangs would only cost time */
	const int status = fixture_run(&run->fixture, words, text);
	if (run->log != NULL)
		fprintf(run->log, "        meanwhile: tsem %s: %d\n", words[0], status);
	if (status < 0)
		run_fault(run, "'tsem %s' hangs while a process is stopped: %s", words[0], text);
	else if (status != 0 && status != 75 && status != 125)
		run_fault(run, "'tsem %s' exits with %d while a process is stopped", words[0], status);
	return status;
}

/* Whether a live process holds the only permit of the only semaphore, and keeps it meanwhile. */
static bool
is_taken(const struct run *run)
{
	const struct fixture *fixture = &run->fixture;
	const struct situation *situation = fixture->situation;
	if (situation->permits > 1 || (situation->flags & SECOND) != 0 || situation->effect == EFFECT_REMOVES
	    || situation->effect == EFFECT_SETS)
		return false;
	const bool holds = (situation->flags & DEAD_HOLDER) == 0 && fixture->holder != NULL && !fixture->holder->ended;
	return holds || ((situation->flags & RUNS) != 0 && processes_child_runs(&fixture->processes));
}

static void
run_others(struct run *run)
{
	const bool taken = is_taken(run);
	const unsigned flags = run->point->situation->flags;
	int status = run_other(run, (const char *const[]){"run", "-n", "{1}", "{work}", "0", NULL});
	if (status == 0 && taken)
		run_fault(run, "'run -n' succeeds although the permit is held");
	if (status > 0 && (flags & FREE) != 0)
		run_fault(run, "'run -n' exits with %d although nothing has the permit", status);
	run_other(run, (const char *const[]){"show", "{1}", NULL});
	run_other(run, (const char *const[]){"recover", "{1}", NULL});
	if (run->point->action == ACTION_ORPHAN)
		return;
	const char *const permits = run->point->situation->permits == 2 ? "2" : "1";
	run_other(run, (const char *const[]){"run", "-j", permits, "-w", "50ms", "{1}", "{work}", "0", NULL});
	status = run_other(run, (const char *const[]){"remove", "{1}", NULL});
	run->removed = status == 0;
	if (status == 0 && taken)
		run_fault(run, "'remove' succeeds although the permit is held");
	if (status > 0 && run->point->situation->effect == EFFECT_REMOVES)
		run->removed = run_other(run, (const char *const[]){"remove", "-f", "{1}", NULL}) == 0;
	status = run_other(run, (const char *const[]){"create", "-j", permits, "{1}", NULL});
	if (status == 0 && run->point->situation->effect == EFFECT_REMOVES)
		fixture_start_newcomer(&run->fixture);
}

/* ---- the run ---- */

static const int TIMEOUT_SECONDS = 30;

/* Called when the family sleeps: does what it may wait for. False: there is nothing left to do. */
static bool
unblock(struct run *run)
{
	struct fixture *fixture = &run->fixture;
	if ((run->point->situation->flags & HOLDER) != 0 && !fixture->holder->ended) {
		fixture_release(fixture, fixture->holder);
		return true;
	}
	if (fixture->input < 0)
		return false;
	if (processes_child_works(&fixture->processes)) {
		run->worked = true;
		invariants_check_running(run);
	}
	fixture_end_input(fixture);
	return true;
}

static void
drive(struct run *run)
{
	struct processes *processes = &run->fixture.processes;
	double deadline = processes->waited + TIMEOUT_SECONDS;
	while (!processes_are_gone(processes) && run->result->fault[0] == '\0') {
		if (run->held != 0 && !run->others_ran) {
			run->others_ran = true;
			run_others(run);
			processes_resume(processes, run->held);
			deadline = processes->waited + TIMEOUT_SECONDS;
		}
		if (!processes_await(processes, 2) && processes_are_asleep(processes))
			unblock(run);
		if (processes->waited > deadline)
			run_fault(run, "the command hangs");
	}
}

void
run_point(const struct tools *tools, const struct point *point, FILE *log, struct result *result)
{
	struct run run = {.point = point, .result = result, .log = log};
	result->reached = false;
	result->at = (struct boundary){0};
	result->fault[0] = '\0';
	result->boundary_count = 0;
	fixture_open(&run.fixture, tools, point->situation);
	run.fixture.processes.at_boundary = at_boundary;
	run.fixture.processes.arg = &run;
	fixture_start(&run.fixture, point->situation->words);
	drive(&run);
	if (result->fault[0] == '\0')
		invariants_check_end(&run);
	if (!fixture_close(&run.fixture))
		run_fault(&run, "a process is left");
}

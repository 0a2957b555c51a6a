/* SPDX-License-Identifier: MIT */
#include "command_play.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "worker.h"

const char *const action_names[ACTIONS] = {"none", "kill-command", "kill-child", "kill-both", "term",
                                           "int",  "hup",          "stop",       "orphan",    "error"};

void
play_fault(struct play *play, const char *format, ...)
{
	va_list args;
	if (play->played->fault[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(play->played->fault, FAULT_TEXT, format, args);
	va_end(args);
}

/* ---- at a boundary ---- */

static void
log_boundary(const struct play *play, pid_t thread, const struct boundary *boundary)
{
	static const char *const roles[ROLES] = {"command", "child", "other"};
	char text[CALL_TEXT];
	if (play->log == NULL)
		return;
	call_to_text(thread, &boundary->call, text);
	fprintf(play->log, "%-7s %4u %6d %s %s\n", roles[boundary->role], boundary->index, (int)thread,
	        boundary->call.is_exit ? "<" : ">", text);
}

static void
send(struct play *play, enum role role, int number)
{
	const struct stage *stage = &play->scene.stage;
	if (stage_lives(stage, role))
		kill(stage->pid[role], number);
}

/* False: the member is to stand still. */
static bool
act(struct play *play, struct member *member)
{
	switch (play->point->action) {
	case ACTION_KILL_COMMAND:
		send(play, ROLE_COMMAND, SIGKILL);
		return true;
	case ACTION_KILL_CHILD:
		send(play, ROLE_CHILD, SIGKILL);
		return true;
	case ACTION_KILL_BOTH:
		send(play, ROLE_COMMAND, SIGKILL);
		send(play, ROLE_CHILD, SIGKILL);
		return true;
	case ACTION_TERM:
		send(play, ROLE_COMMAND, SIGTERM);
		return true;
	case ACTION_INT:
		send(play, ROLE_COMMAND, SIGINT);
		return true;
	case ACTION_HUP:
		send(play, ROLE_COMMAND, SIGHUP);
		return true;
	case ACTION_ORPHAN:
		send(play, ROLE_COMMAND, SIGKILL);
		play->held = member->pid;
		return false;
	case ACTION_STOP:
		play->held = member->pid;
		return false;
	case ACTION_ERROR:
		member->error = play->point->error;
		return true;
	default:
		return true;
	}
}

static bool
at_boundary(void *arg, struct member *member, const struct boundary *boundary)
{
	struct play *play = arg;
	struct played *played = play->played;
	const struct point *point = play->point;
	log_boundary(play, member->pid, boundary);
	if ((point->situation->flags & LINKED) != 0 && !boundary->call.is_exit && call_opens_unnamed(&boundary->call))
		member->error = EOPNOTSUPP;
	if (play->over)
		return true;
	if (played->boundaries != NULL && played->boundary_count < BOUNDARIES_MAX)
		played->boundaries[played->boundary_count++] = *boundary;
	if (point->action == ACTION_NONE || played->reached || boundary->role != point->role
	    || boundary->index != point->index)
		return true;
	if (point->action == ACTION_ERROR && !call_may_fail(&boundary->call, point->error))
		return true; /* it has gone another way, as the clock would have it */
	played->reached = true;
	played->at = *boundary;
	if (play->log != NULL)
		fprintf(play->log, "        ---- %s ----\n", action_names[point->action]);
	return act(play, member);
}

/* ---- other commands, while one stands still ---- */

static int
run_other(struct play *play, const char *const words[])
{
	char text[256];
	if (play->played->fault[0] != '\0')
		return -1; /* what hangs once costs time enough */
	const int status = scene_run(&play->scene, words, text);
	if (play->log != NULL)
		fprintf(play->log, "        beside: tsem %s: %d\n", words[0], status);
	if (status < 0)
		play_fault(play, "'tsem %s' hangs while it stands still", words[0]);
	else if (status != 0 && status != 75 && status != 125)
		play_fault(play, "'tsem %s' exits with %d while it stands still", words[0], status);
	return status;
}

/* The only permit of the only semaphore is held by a process that lives, and lives on meanwhile. */
static bool
is_taken(const struct play *play)
{
	const struct scene *scene = &play->scene;
	const struct situation *situation = scene->situation;
	if (situation->permits > 1 || (situation->flags & SECOND) != 0 || situation->effect == EFFECT_REMOVES
	    || situation->effect == EFFECT_SETS)
		return false;
	const bool holds = (situation->flags & DEAD_HOLDER) == 0 && scene->holder != NULL && !scene->holder->ended;
	return holds || ((situation->flags & RUNS) != 0 && stage_child_runs(&scene->stage));
}

static void
run_others(struct play *play)
{
	const bool taken = is_taken(play);
	const unsigned flags = play->point->situation->flags;
	int status = run_other(play, (const char *const[]){"run", "-n", "{1}", "{work}", "0", NULL});
	if (status == 0 && taken)
		play_fault(play, "'run -n' succeeds although the permit is held");
	if (status > 0 && (flags & FREE) != 0)
		play_fault(play, "'run -n' exits with %d although nothing has the permit", status);
	run_other(play, (const char *const[]){"show", "{1}", NULL});
	run_other(play, (const char *const[]){"recover", "{1}", NULL});
	if (play->point->action == ACTION_ORPHAN)
		return;
	const char *const permits = play->point->situation->permits == 2 ? "2" : "1";
	run_other(play, (const char *const[]){"run", "-j", permits, "-w", "50ms", "{1}", "{work}", "0", NULL});
	status = run_other(play, (const char *const[]){"remove", "{1}", NULL});
	play->removed = status == 0;
	if (status == 0 && taken)
		play_fault(play, "'remove' succeeds although the permit is held");
	if (status > 0 && play->point->situation->effect == EFFECT_REMOVES)
		play->removed = run_other(play, (const char *const[]){"remove", "-f", "{1}", NULL}) == 0;
	status = run_other(play, (const char *const[]){"create", "-j", permits, "{1}", NULL});
	if (status == 0 && play->point->situation->effect == EFFECT_REMOVES)
		scene_start_newcomer(&play->scene);
}

/* ---- the play ---- */

enum { PATIENCE_SECONDS = 30 };

/* The family sleeps: what it waits for comes next. False: it waits for nothing that is known. */
static bool
go_on(struct play *play)
{
	struct scene *scene = &play->scene;
	if ((play->point->situation->flags & HOLDER) != 0 && !scene->holder->ended) {
		scene_release(scene, scene->holder);
		return true;
	}
	if (scene->input < 0)
		return false;
	if (stage_child_works(&scene->stage)) {
		play->worked = true;
		books_check_work(play);
	}
	scene_end_input(scene);
	return true;
}

static void
direct(struct play *play)
{
	struct stage *stage = &play->scene.stage;
	double deadline = seconds_now() + PATIENCE_SECONDS;
	while (!stage_is_gone(stage) && play->played->fault[0] == '\0') {
		if (play->held != 0 && !play->others_ran) {
			play->others_ran = true;
			run_others(play);
			stage_let_go(stage, play->held);
			deadline = seconds_now() + PATIENCE_SECONDS;
		}
		if (!stage_await(stage, 2) && stage_is_quiet(stage))
			go_on(play);
		if (seconds_now() > deadline)
			play_fault(play, "it hangs");
	}
}

void
play(const struct tools *tools, const struct point *point, FILE *log, struct played *played)
{
	struct play play = {.point = point, .played = played, .log = log};
	played->reached = false;
	played->at = (struct boundary){0};
	played->fault[0] = '\0';
	played->boundary_count = 0;
	scene_open(&play.scene, tools, point->situation);
	play.scene.stage.at_boundary = at_boundary;
	play.scene.stage.arg = &play;
	scene_start(&play.scene, point->situation->words);
	direct(&play);
	if (played->fault[0] == '\0')
		books_close(&play);
	if (!scene_close(&play.scene))
		play_fault(&play, "a process is left");
}

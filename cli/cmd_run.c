/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ancestors.h"
#include "background.h"
#include "cmd.h"
#include "command.h"
#include "group.h"
#include "jobserver/flags.h"
#include "jobserver/jobserver.h"
#include "refusal.h"
#include "spawn.h"
#include "waiting.h"

static bool
is_recovered(const struct holds *holds)
{
	bool recovered = false;
	for (size_t i = 0; i < holds->n; i++)
		recovered = recovered || tsem_hold_recovered(&holds->all[i]);
	return recovered;
}

static void
set_environment(const struct options *o, const char *name, const struct holds *holds)
{
	static uint32_t slots[TSEM_SLOTS_MAX];
	size_t n = 0;
	for (size_t i = 0; i < holds->n; i++) {
		const size_t room = TSEM_SLOTS_MAX - n;
		const size_t has = tsem_hold_slots(&holds->all[i], slots + n, room);
		n += has < room ? has : room;
	}
	command_set_permits(o, name, o->count, slots, n);
	command_set_recovered(is_recovered(holds));
}

/*
 * `unused`: the command did not start, so the next holder must still learn that an earlier one died, and a semaphore
 * that was made for it goes. True: one has gone.
 */
static bool
give_back(struct group *group, const struct holds *holds, bool abandoned, bool unused)
{
	for (size_t i = 0; i < holds->n; i++) {
		if (unused && !abandoned)
			give_back_unused(&holds->all[i]);
		else
			tsem_reap(&holds->all[i], abandoned ? TSEM_ABANDONED : 0);
	}
	return unused && group_remove_created(group);
}

/* The status of a child that has ended, and whose holds are given back. `removed`: by give_back(). */
static int
status_of_child(const struct options *o, const char *command, const struct spawned *spawned, const siginfo_t *end,
                bool removed)
{
	if (spawned->adopt_error == -EXDEV)
		die(o->name, "the command would start in a new PID namespace (use 'unshare --fork')");
	if (spawned->adopt_error == -EPERM)
		die(o->name, "the permit was lost before the command started (try again)");
	if (spawned->adopt_error < 0)
		die_error(o->name, spawned->adopt_error);
	if (spawned->repair_error < 0 || spawned->repair_failed)
		die_of_repair(o, spawned->repair_error);
	if (spawned->exec_error != 0)
		return command_not_executed(o, command, spawned->exec_error, removed ? o->name : NULL);
	return command_status(o, end);
}

/*
 * Runs the command as the owner of the holds, and gives them back as soon as it ends. `repair`, if not NULL, runs first
 * under the same holds: one process owns them throughout.
 */
static int
run_command(const struct options *o, struct group *group, char **repair, char **command, const struct holds *holds,
            struct jobserver *jobserver)
{
	struct spawned memory;
	struct spawned *spawned = &memory;
	siginfo_t end;
	sigset_t mask;
	spawn_block_signals(&mask);
	spawn_deliver_pending_signals(&mask);
	const int rc = repair == NULL ? spawn_command(command, &mask, holds, spawned)
	                              : spawn_repair_and_command(repair, command, &mask, holds, &spawned);
	if (rc < 0) {
		if (jobserver != NULL)
			jobserver_close(jobserver, 0);
		give_back(group, holds, false, true);
		die_of_fork(o, rc);
	}

	if (jobserver != NULL)
		jobserver_serve(jobserver, spawned->pid, &end);
	else
		spawn_wait(spawned->pid, &end);
	const bool abandoned = end.si_code != CLD_EXITED || spawned->repair_failed;
	const bool unused = spawned->adopt_error != 0 || spawned->repair_error != 0 || spawned->exec_error != 0;
	if (jobserver != NULL)
		jobserver_close(jobserver, abandoned ? TSEM_ABANDONED : 0);
	const bool removed = give_back(group, holds, abandoned, unused);
	waitpid(spawned->pid, NULL, 0);
	return status_of_child(o, command[0], spawned, &end, removed);
}

static _Noreturn void
die_of_jobserver(const struct options *o, int error)
{
	if (error == -ENOMEM)
		die_error(o->name, error);
	die(o->name, "cannot make the pipes of a jobserver: %s (it needs %s, and room in 'ulimit -n')", strerror(-error),
	    o->jobserver_style == JOBSERVER_FIFO ? "/dev/pts" : "/proc");
}

/* Becomes the command: then this process, which owns the holds, gives them back by its end. */
static int
execute_here(const struct options *o, struct group *group, const struct holds *holds, char **command)
{
	execvp(command[0], command);
	const int error = errno;
	return command_not_executed(o, command[0], error, give_back(group, holds, false, true) ? o->name : NULL);
}

static int
run_with(const struct options *o, struct group *group, const struct request *request, char **command)
{
	const struct holds holds = {.all = request->holds, .n = granted(request)};
	background_handed_in();
	set_environment(o, request->any ? group->names[request->which] : o->name, &holds);
	if (o->no_fork)
		return execute_here(o, group, &holds, command);
	struct jobserver jobserver;
	if (o->jobserver) {
		const int rc = jobserver_open(&jobserver, o->name, group->sems[0], o->jobserver_style);
		if (rc < 0) {
			give_back(group, &holds, false, true);
			die_of_jobserver(o, rc);
		}
	}
	char **repair = o->on_recovered != NULL && is_recovered(&holds) ? command_repair_words(o) : NULL;
	return run_command(o, group, repair, command, &holds, o->jobserver ? &jobserver : NULL);
}

/*
 * Becomes the command, because there is nothing to give back. So the hold of this process itself, if that is the one,
 * lasts as long as the command.
 */
static int
become_command(const struct options *o, struct group *group, const struct ancestor_hold *hold, char **command)
{
	command_set_permits(o, o->name, hold->count, hold->slots, hold->slots_n);
	group_close(group);
	return command_become(o, command, hold->pid);
}

static tsem_hold *
allocate_holds(const struct options *o, size_t n)
{
	tsem_hold *holds = calloc(n, sizeof(*holds));
	if (holds == NULL)
		die_error(o->name, -ENOMEM);
	return holds;
}

/* If the semaphore is removed during the wait, -j creates it again. */
static int
acquire_and_run(const struct options *given, char **command)
{
	for (;;) {
		struct options own = *given;
		const struct options *o = &own;
		struct group group;
		static struct ancestor_hold ancestor; /* not on the stack, whose pages each waiting job has of its own */
		group_open(o, &group);
		resolve_count(&own, group.sems[0]);
		if (o->nested && ancestors_find(group.sems[0], 0, o->count, &ancestor))
			return become_command(o, &group, &ancestor, command);
		tsem_hold *holds = allocate_holds(o, group.n);
		struct request request = {.n = group.n, .sems = group.sems, .any = o->any, .holds = holds};
		const int rc = wait_for_permits(o, &request);
		const bool again = rc == -EIDRM && o->has_permits;
		if (rc < 0 && !again)
			group_remove_created(&group);
		int status = EXIT_DONE;
		if (rc == 0)
			status = run_with(o, &group, &request, command);
		else if (!again)
			status = status_of_wait(o, &request, rc);
		free(holds);
		group_close(&group);
		if (!again)
			return status;
	}
}

static void
prepare_jobserver(const struct options *o)
{
	const char *outer = getenv("TSEM_JOBSERVER");
	if (strchr(o->name, ',') != NULL)
		die(o->name, "--jobserver needs one semaphore, because its tokens are permits of it (give one name)");
	if (o->count != 1)
		die(o->name, "-k and --jobserver exclude each other (each token is one permit)");
	if (outer != NULL && strcmp(outer, o->name) == 0)
		die(o->name,
		    "already under this jobserver (run the command without tsem: it finds the jobserver in MAKEFLAGS)");
	if (o->shell_command == NULL)
		jobserver_adapt_make(o->name, o->command);
}

int
cmd_run(const struct options *o)
{
	char **command = command_words(o);
	check_run_options(o);
	if (o->jobserver)
		prepare_jobserver(o);
	return o->background ? background_start(o, acquire_and_run, command) : acquire_and_run(o, command);
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <paths.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ancestors.h"
#include "cmd.h"
#include "termination.h"
#include "group.h"
#include "jobserver/flags.h"
#include "jobserver/jobserver.h"
#include "spawn.h"
#include "waiting.h"

/* Dies of an interactive signal as the command did, so that a shell loop around this process stops as well. */
static void
die_as_command(int number)
{
	const struct rlimit no_core = {0};
	if (number != SIGINT && number != SIGQUIT)
		return;
	setrlimit(RLIMIT_CORE, &no_core); /* the command's own core is enough */
	die_of_signal(number);
}

static int
status_of_command(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return info->si_status;
	die_as_command(info->si_status);
	return EXIT_SIGNAL_BASE + info->si_status;
}

/* ---- the environment of the command ---- */

/* TSEM_SLOTS lists the slots of all holds, such as "0,3". */
static void
set_slots(const uint32_t *slots, size_t n)
{
	static char text[TSEM_SLOTS_MAX * 5];
	size_t length = 0;
	unsetenv("TSEM_SLOT");
	unsetenv("TSEM_SLOTS");
	for (size_t i = 0; i < n && length + 6 < sizeof(text); i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%u", length > 0 ? "," : "", slots[i]);
	if (length == 0)
		return;
	setenv("TSEM_SLOTS", text, 1);
	text[strcspn(text, ",")] = '\0';
	setenv("TSEM_SLOT", text, 1);
}

static bool
is_recovered(const struct holds *holds)
{
	bool recovered = false;
	for (size_t i = 0; i < holds->n; i++)
		recovered = recovered || tsem_hold_recovered(&holds->all[i]);
	return recovered;
}

static void
set_permits(const char *name, uint64_t count, const uint32_t *slots, size_t n)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, count);
	setenv("TSEM_NAME", name, 1);
	setenv("TSEM_COUNT", text, 1);
	set_slots(slots, n);
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
	set_permits(name, o->count, slots, n);
	if (is_recovered(holds))
		setenv("TSEM_RECOVERED", "1", 1);
	else
		unsetenv("TSEM_RECOVERED");
}

/* ---- the command ---- */

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

static const char *
advice_on_exec(int error)
{
	switch (error) {
	case ENOENT:
		return "check its name and PATH";
	case E2BIG:
		return "use fewer arguments and environment variables";
	case ENOMEM:
	case ENFILE:
	case EAGAIN:
		return "end some programs";
	default:
		return "check that it is executable";
	}
}

/* `forgotten`: the semaphore was made for this command only, so its name may be the command; or NULL. */
static int
fail_to_execute(const struct options *o, const char *command, int error, const char *forgotten)
{
	const bool shell = strpbrk(command, " \t\n;|&<>$`") != NULL;
	const char *advice = shell ? "-c runs a shell command: tsem run NAME -c COMMAND" : advice_on_exec(error);
	if (forgotten != NULL && !shell && (error == ENOENT || error == EACCES))
		complain(o->name, "cannot run '%s': %s (%s; '%s' was taken as the name: tsem run -j N NAME -- COMMAND)",
		         command, strerror(error), advice, forgotten);
	else
		complain(o->name, "cannot run '%s': %s (%s)", command, strerror(error), advice);
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

static _Noreturn void
die_of_fork(const struct options *o, int error)
{
	if (error == -ENOMEM)
		die_error(o->name, error);
	die(o->name, "cannot start another process: %s (end some processes, or raise 'ulimit -u')", strerror(-error));
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
	if (spawned->repair_error < 0)
		die_of_fork(o, spawned->repair_error);
	if (spawned->repair_failed)
		die(o->name, "the command of --on-recovered failed (the main command was not run)");
	if (spawned->exec_error != 0)
		return fail_to_execute(o, command, spawned->exec_error, removed ? o->name : NULL);
	return status_of_command(end);
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

static int
run_with(const struct options *o, struct group *group, const struct request *request, char **command)
{
	const struct holds holds = {.all = request->holds, .n = granted(request)};
	set_environment(o, request->any ? group->names[request->which] : o->name, &holds);
	struct jobserver jobserver;
	if (o->jobserver) {
		const int rc = jobserver_open(&jobserver, o->name, group->sems[0], o->jobserver_style);
		if (rc < 0) {
			give_back(group, &holds, false, true);
			die_of_jobserver(o, rc);
		}
	}
	char *repair[] = {(char[]){_PATH_BSHELL}, (char[]){"-c"}, (char *)(uintptr_t)o->on_recovered, NULL};
	return run_command(o, group, o->on_recovered != NULL && is_recovered(&holds) ? repair : NULL, command, &holds,
	                   o->jobserver ? &jobserver : NULL);
}

/*
 * Becomes the command, because there is nothing to give back. So the hold of this process itself, if that is the one,
 * lasts as long as the command. TSEM_RECOVERED stays: the ancestor was told.
 */
static int
become_command(const struct options *o, struct group *group, const struct ancestor_hold *hold, char **command)
{
	set_permits(o->name, hold->count, hold->slots, hold->slots_n);
	if (o->verbose && hold->pid == getpid())
		complain(o->name, "process %d runs the command under its own permits (--nested)", (int)getpid());
	else if (o->verbose)
		complain(o->name, "process %d runs the command under the permits of process %d (--nested)", (int)getpid(),
		         (int)hold->pid);
	group_close(group);
	execvp(command[0], command);
	return fail_to_execute(o, command[0], errno, NULL);
}

/* If the semaphore is removed during the wait, -j creates it again. */
static int
acquire_and_run(const struct options *o, char **command)
{
	for (;;) {
		struct group group;
		struct ancestor_hold ancestor;
		tsem_hold holds[TSEM_SEMAPHORES_MAX];
		group_open(o, &group);
		if (o->nested && ancestors_find(group.sems[0], 0, o->count, &ancestor))
			return become_command(o, &group, &ancestor, command);
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
		group_close(&group);
		if (!again)
			return status;
	}
}

static void
check_nested(const struct options *o)
{
	if (strchr(o->name, ',') != NULL)
		die(o->name, "--nested needs a single semaphore (give one name)");
	if (o->any)
		die(o->name, "--nested and --any exclude each other (use one of them)");
	if (o->jobserver)
		die(o->name, "--nested and --jobserver exclude each other (a jobserver needs a permit of its own)");
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
	if (o->shell_command == NULL && o->command[0] == NULL)
		die(o->name, "run needs a command (tsem run %s COMMAND, or see 'tsem run --help')", o->name);
	if (o->shell_command != NULL && o->command[0] != NULL)
		die(o->name, "unexpected word '%s' after -c (put the whole command into its argument)", o->command[0]);
	if (o->nested)
		check_nested(o);
	if (o->jobserver)
		prepare_jobserver(o);

	char *shell = getenv("SHELL");
	char *command[] = {shell != NULL && shell[0] != '\0' ? shell : (char[]){_PATH_BSHELL}, (char[]){"-c"},
	                   (char *)(uintptr_t)o->shell_command, NULL};
	return acquire_and_run(o, o->shell_command != NULL ? command : o->command);
}

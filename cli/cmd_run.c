/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <paths.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "spawn.h"
#include "waiting.h"

/* Dies of an interactive signal as the command did, so that the shell loop around us stops, too. */
static void
die_as_command(int number)
{
	const struct rlimit no_core = {0};
	sigset_t set;
	if (number != SIGINT && number != SIGQUIT)
		return;
	setrlimit(RLIMIT_CORE, &no_core); /* the command has dumped one already, if it was to */
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int
status_of_command(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	die_as_command(WTERMSIG(status));
	return EXIT_SIGNAL_BASE + WTERMSIG(status);
}

static void
set_environment(const struct options *o)
{
	char count[16];
	snprintf(count, sizeof(count), "%u", o->count);
	setenv("TSEM_NAME", o->name, 1);
	setenv("TSEM_COUNT", count, 1);
}

/* Runs the command as the owner of the hold, and gives the hold back the moment it has ended. */
static int
run_command(const struct options *o, char **command, tsem_hold *hold)
{
	struct spawned spawned;
	sigset_t mask;
	set_environment(o);
	spawn_block_signals(&mask);
	spawn_let_pending_signals_end_us(&mask);
	int rc = spawn_command(command, &mask, hold, &spawned);
	if (rc < 0) {
		tsem_release(hold);
		return complain(o->name, "cannot start another process: %s (end some, or raise 'ulimit -u')", strerror(-rc));
	}

	const int status = spawn_wait(spawned.pid);
	tsem_reap(hold, 0);
	if (spawned.adopt_error == -EXDEV)
		return complain(o->name, "the command would get a PID or time namespace of its own (use 'unshare --fork')");
	if (spawned.adopt_error < 0)
		return complain(o->name, "the permit was lost before the command started: %s (try again)",
		                strerror(-spawned.adopt_error));
	if (spawned.exec_error != 0) {
		const bool missing = spawned.exec_error == ENOENT;
		complain(o->name, "cannot run '%s': %s (%s)", command[0], strerror(spawned.exec_error),
		         missing ? "check its name and PATH" : "check that it is executable");
		return missing ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
	}
	return status_of_command(status);
}

/* Waits for the permits; a semaphore that is removed meanwhile is created anew if -j says how. */
static int
acquire_and_run(const struct options *o, char **command)
{
	for (;;) {
		tsem *sem;
		tsem_hold hold;
		int status = open_for_use(o, &sem);
		if (status >= 0)
			return status;
		const int rc = wait_for_permits(sem, o, &hold);
		if (rc == 0)
			status = run_command(o, command, &hold);
		else if (rc != -EIDRM || !o->has_permits)
			status = explain_wait(sem, o, rc);
		tsem_close(sem);
		if (status >= 0)
			return status;
	}
}

int
cmd_run(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	int status = options_parse(verb, argc, argv, &o);
	if (status >= 0)
		return status;
	if (o.shell_command == NULL) {
		if (o.command[0] == NULL)
			return complain(o.name, "run what? (tsem run %s COMMAND, or see 'tsem run --help')", o.name);
		return acquire_and_run(&o, o.command);
	}
	if (o.command[0] != NULL)
		return complain(o.name, "unexpected word '%s' behind -c (put the whole command into its argument)",
		                o.command[0]);

	char *shell = getenv("SHELL");
	char *command[] = {shell != NULL && shell[0] != '\0' ? shell : (char[]){_PATH_BSHELL}, (char[]){"-c"},
	                   (char *)(uintptr_t)o.shell_command, NULL};
	return acquire_and_run(&o, command);
}

/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "message.h"
#include "termination.h"
#include "tsem.h"

char **
command_words(const struct options *o)
{
	static char sh[] = _PATH_BSHELL;
	static char flag[] = "-c";
	static char *words[] = {sh, flag, NULL, NULL};
	char *shell = getenv("SHELL");
	if (o->shell_command == NULL && o->command[0] == NULL)
		die(o->name, "run needs a command (tsem run %s COMMAND, or see 'tsem run --help')", o->name);
	if (o->shell_command != NULL && o->command[0] != NULL)
		die(o->name, "unexpected word '%s' after -c (put the whole command into its argument)", o->command[0]);
	if (o->shell_command == NULL)
		return o->command;
	if (shell != NULL && shell[0] != '\0')
		words[0] = shell;
	words[2] = (char *)(uintptr_t)o->shell_command;
	return words;
}

/* ---- its environment ---- */

/*
 * TSEM_SLOTS lists the slots of all holds, such as "0,3". `variable`, if not NULL, is the same, and empty if there are
 * none: a command that uses all cards unless it is told which ones must not use the cards of others.
 */
static void
set_slots(const uint32_t *slots, size_t n, const char *variable)
{
	static char text[TSEM_SLOTS_MAX * 5];
	size_t length = 0;
	unsetenv("TSEM_SLOT");
	unsetenv("TSEM_SLOTS");
	for (size_t i = 0; i < n && length + 6 < sizeof(text); i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%u", length > 0 ? "," : "", slots[i]);
	if (variable != NULL)
		setenv(variable, text, 1);
	if (length == 0)
		return;
	setenv("TSEM_SLOTS", text, 1);
	text[strcspn(text, ",")] = '\0';
	setenv("TSEM_SLOT", text, 1);
}

void
command_set_permits(const struct options *o, const char *name, uint64_t count, const uint32_t *slots, size_t n)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, count);
	setenv("TSEM_NAME", name, 1);
	setenv("TSEM_COUNT", text, 1);
	set_slots(slots, n, o->slot_env);
}

void
command_set_recovered(bool recovered)
{
	if (recovered)
		setenv("TSEM_RECOVERED", "1", 1);
	else
		unsetenv("TSEM_RECOVERED");
}

void
command_set_fence(int64_t fence)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRId64, fence);
	setenv("TSEM_FENCE", text, 1);
}

/* ---- its end ---- */

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

int
command_status(const struct options *o, const siginfo_t *end)
{
	if (end->si_code == CLD_EXITED)
		return end->si_status;
	if (!o->background)
		die_as_command(end->si_status);
	return EXIT_SIGNAL_BASE + end->si_status;
}

/* tsem cannot see whether the shell knows the word as a function or an alias. */
static const char *
advice_on_missing(const char *command)
{
	static char text[512];
	if (strchr(command, '/') != NULL || command[0] == '\0')
		return "check its name";
	if (command[0] == '-' || strpbrk(command, "'\"\\*?[]{}()!#~=%") != NULL)
		return "check its name and PATH";
	snprintf(text, sizeof(text),
	         "check its name and PATH; if it is a function of bash: export -f %.200s; tsem run NAME bash -c %.200s",
	         command, command);
	return text;
}

static const char *
advice_on_exec(const char *command, int error)
{
	switch (error) {
	case ENOENT:
		return advice_on_missing(command);
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

int
command_not_executed(const struct options *o, const char *command, int error, const char *forgotten)
{
	const bool shell = strpbrk(command, " \t\n;|&<>$`") != NULL;
	const char *advice = shell ? "-c runs a shell command: tsem run NAME -c COMMAND" : advice_on_exec(command, error);
	if (forgotten != NULL && !shell && (error == ENOENT || error == EACCES))
		complain(o->name, "cannot run '%s': %s (%s; '%s' was taken as the name: tsem run -j N NAME -- COMMAND)",
		         command, strerror(error), advice, forgotten);
	else
		complain(o->name, "cannot run '%s': %s (%s)", command, strerror(error), advice);
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

char **
command_repair_words(const struct options *o)
{
	static char sh[] = _PATH_BSHELL;
	static char flag[] = "-c";
	static char *words[] = {sh, flag, NULL, NULL};
	words[2] = (char *)(uintptr_t)o->on_recovered;
	return words;
}

void
die_of_repair(const struct options *o, int error)
{
	if (error < 0)
		die_of_fork(o, error);
	die(o->name, "the command of --on-recovered failed (the main command was not run)");
}

int
command_become(const struct options *o, char **command, pid_t holder)
{
	if (o->verbose && holder == getpid())
		complain(o->name, "process %d runs the command under its own permits (--nested)", (int)getpid());
	else if (o->verbose)
		complain(o->name, "process %d runs the command under the permits of process %d (--nested)", (int)getpid(),
		         (int)holder);
	execvp(command[0], command);
	return command_not_executed(o, command[0], errno, NULL);
}

void
die_of_fork(const struct options *o, int error)
{
	if (error == -ENOMEM || error == -EMFILE)
		die_error(o->name, error);
	die(o->name, "cannot start another process: %s (end some processes, or raise 'ulimit -u')", strerror(-error));
}

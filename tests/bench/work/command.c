/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const struct command all_commands[] = {
	{.name = "tsem run", .words = {"tsem", "run", "%s", "--"}},
	{.name = "tsem run -F", .dies = true, .words = {"tsem", "run", "-F", "%s", "--"}},
	{.name = "flock", .words = {"flock", "%p"}},
	{.name = "setlock", .words = {"setlock", "%p"}},
	{.name = "GNU sem", .slow = true, .words = {"sem", "--will-cite", "--id", "bench", "-j1", "--fg"}},
	{.name = NULL},
};

static char directory[PATH_MAX - 64];
static char semaphore[64];
static const char *tsem_path;

static void
run_and_forget(const char *const *words)
{
	const struct command command = {.name = words[0]};
	command_wait(&command, command_start(&command, words, NULL));
}

void
commands_begin(const struct options *options)
{
	const char *parent = getenv("TMPDIR");
	tsem_path = options->tsem;
	snprintf(directory, sizeof(directory), "%s/bench.XXXXXX", parent != NULL ? parent : "/tmp");
	if (mkdtemp(directory) == NULL)
		die(directory);
	snprintf(semaphore, sizeof(semaphore), "bench-%ld", (long)getpid());
	/* GNU sem has its files below these. */
	setenv("HOME", directory, 1);
	setenv("PARALLEL_HOME", directory, 1);
	setenv("TMPDIR", directory, 1);
	run_and_forget((const char *const[]){"tsem", "create", semaphore, NULL});
}

void
commands_recover(void)
{
	run_and_forget((const char *const[]){"tsem", "recover", semaphore, NULL});
}

void
commands_end(void)
{
	run_and_forget((const char *const[]){"tsem", "remove", "-f", semaphore, NULL});
	run_and_forget((const char *const[]){"rm", "-rf", directory, NULL});
}

const char *
commands_path(const char *name)
{
	static char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static bool
is_installed(const char *program)
{
	char *path = strdup(getenv("PATH"));
	bool found = strcmp(program, "tsem") == 0;
	for (char *place = strtok(path, ":"); place != NULL && !found; place = strtok(NULL, ":")) {
		char file[PATH_MAX];
		snprintf(file, sizeof(file), "%s/%s", place, program);
		found = access(file, X_OK) == 0;
	}
	free(path);
	return found;
}

bool
command_is_there(const struct command *command, const struct options *options)
{
	if (options->only != NULL && strstr(options->only, command->name) == NULL)
		return false;
	if (is_installed(command->words[0]))
		return true;
	say_missing(command->name, 0, "not installed");
	return false;
}

static const char *
expand(const char *word)
{
	static char lock[PATH_MAX];
	if (strcmp(word, "%s") == 0)
		return semaphore;
	if (strcmp(word, "%p") != 0)
		return word;
	snprintf(lock, sizeof(lock), "%s/lock", directory);
	return lock;
}

pid_t
command_start(const struct command *command, const char *const *words, const char *const *job)
{
	char *argv[2 * WORDS_MAX] = {NULL};
	size_t n = 0;
	/* posix_spawn() does not change the words, although its type says so. */
	for (size_t i = 0; words[i] != NULL && n < WORDS_MAX; i++)
		argv[n++] = (char *)(uintptr_t)expand(words[i]);
	for (size_t i = 0; job != NULL && job[i] != NULL && n < 2 * WORDS_MAX - 1; i++)
		argv[n++] = (char *)(uintptr_t)job[i];

	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	pid_t pid;
	const char *program = strcmp(argv[0], "tsem") == 0 ? tsem_path : argv[0];
	errno = posix_spawnp(&pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (errno != 0)
		die(command->name);
	return pid;
}

void
command_wait(const struct command *command, pid_t pid)
{
	int status;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		die(command->name);
	if (WEXITSTATUS(status) != 0)
		fprintf(stderr, "bench: %s ended with %d\n", command->name, WEXITSTATUS(status));
}

/* SPDX-License-Identifier: MIT */
#include "command_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pid_namespace.h"

/* ---- the situations ---- */

/* clang-format off */
const struct situation situations[] = {
	{"create", {"create", "-j", "2", "{1}"}, 0, 0, EFFECT_CREATES, 0, 0},
	{"create-linked", {"create", "{1}"}, 0, LINKED, EFFECT_CREATES, 0, 0},
	{"create-exists", {"create", "{1}"}, 1, FREE, EFFECT_NONE, 0, 125},
	{"create-exist-ok", {"create", "--exist-ok", "{1}"}, 1, FREE, EFFECT_NONE, 0, 0},
	{"take", {"take", "{1}"}, 1, 0, EFFECT_TAKES, 0, 0},
	{"take-waits", {"take", "-w", "100", "{1}"}, 1, HOLDER, EFFECT_TAKES, 0, 0},
	{"take-fails", {"take", "-n", "{1}"}, 1, HOLDER_STAYS, EFFECT_NONE, 0, 75},
	{"take-recovers", {"take", "-n", "{1}"}, 1, DEAD_HOLDER | MAY_FAIL, EFFECT_TAKES, 0, 0},
	{"post", {"post", "-p", "{1}"}, 1, TAKEN, EFFECT_POSTS, 0, 0},
	{"post-wakes", {"post", "{1}"}, 1, TAKEN | WAITER, EFFECT_POSTS, 0, 0},
	{"acquire", {"acquire", "--owner", "{pid}", "{1}"}, 1, OWNER, EFFECT_HOLDS, 0, 0},
	{"acquire-waits", {"acquire", "--owner", "{pid}", "-w", "100", "{1}"}, 1, OWNER | HOLDER, EFFECT_HOLDS, 0, 0},
	{"acquire-fails", {"acquire", "--owner", "{pid}", "-n", "{1}"}, 1, OWNER | HOLDER_STAYS, EFFECT_NONE, 0, 75},
	{"release", {"release", "--owner", "{pid}", "{1}"}, 1, OWNER | OWNED, EFFECT_RELEASES, 0, 0},
	{"run", {"run", "{1}", "{work}", "7"}, 1, RUNS, EFFECT_NONE, 0, 7},
	{"run-waits", {"run", "-w", "100", "{1}", "{work}", "7"}, 1, RUNS | HOLDER, EFFECT_NONE, 0, 7},
	{"run-fails", {"run", "-n", "{1}", "{work}", "7"}, 1, RUNS | HOLDER_STAYS, EFFECT_NONE, 0, 75},
	{"run-recovers", {"run", "-n", "{1}", "{work}", "7"}, 1, RUNS | DEAD_HOLDER | MAY_FAIL, EFFECT_NONE, 0, 7},
	{"run-creates", {"run", "-j", "1", "{1}", "{work}", "7"}, 0, RUNS, EFFECT_CREATES, 0, 7},
	{"run-several", {"run", "{1},{2}", "{work}", "7"}, 1, RUNS | SECOND, EFFECT_NONE, 0, 7},
	{"run-any", {"run", "--any", "{1},{2}", "{work}", "7"}, 1, RUNS | SECOND | HOLDER_STAYS, EFFECT_NONE, 0, 7},
	{"run-repairs", {"run", "--on-recovered", ":", "{1}", "{work}", "7"}, 1, RUNS | DEAD_HOLDER, EFFECT_NONE, 0, 7},
	{"run-shell", {"run", "{1}", "-c", "exec {work} 7"}, 1, RUNS, EFFECT_NONE, 0, 7},
	{"run-contained", {"run", "{1}", "{work}", "7"}, 1, RUNS | CONTAINED, EFFECT_NONE, 0, 7},
	{"run-contained-waits", {"run", "-w", "100", "{1}", "{work}", "7"}, 1, RUNS | CONTAINED | HOLDER, EFFECT_NONE, 0, 7},
	{"run-no-fork", {"run", "-F", "{1}", "{work}", "7"}, 1, 0, EFFECT_NONE, 0, 7},
	{"run-bg", {"run", "--bg", "{1}", "{work}", "7"}, 1, BACKGROUND, EFFECT_NONE, 0, 0},
	{"run-bg-log", {"run", "--bg", "--log", "/dev/null", "{1}", "{work}", "7"}, 1, BACKGROUND, EFFECT_NONE, 0, 0},
	{"run-bg-waits", {"run", "--bg", "{1}", "{work}", "7"}, 1, BACKGROUND | HOLDER, EFFECT_NONE, 0, 0},
	{"run-missing", {"run", "{1}", "/nowhere"}, 1, 0, EFFECT_NONE, 0, 127},
	{"run-jobserver", {"run", "--jobserver", "{1}", "{work}", "7", "job"}, 2, RUNS, EFFECT_NONE, 0, 7},
	{"run-jobserver-fifo", {"run", "--jobserver", "--jobserver-style", "fifo", "{1}", "{work}", "7", "job"}, 2, RUNS, EFFECT_NONE, 0, 7},
	{"run-jobserver-waits", {"run", "--jobserver", "{1}", "{work}", "7"}, 1, RUNS, EFFECT_NONE, 0, 7},
	{"show", {"show", "{1}"}, 1, HOLDER_STAYS | WAITER, EFFECT_NONE, 0, 0},
	{"show-json", {"show", "-J", "--stats", "{1}"}, 1, FREE, EFFECT_NONE, 0, 0},
	{"list", {"list"}, 1, SECOND | FREE, EFFECT_NONE, 0, 0},
	{"list-json", {"list", "-J"}, 1, HOLDER_STAYS, EFFECT_NONE, 0, 0},
	{"top", {"top", "-b", "-i", "2", "-d", "10ms"}, 1, HOLDER_STAYS | WAITER, EFFECT_NONE, 0, 0},
	{"top-one", {"top", "-b", "-i", "1", "{1}"}, 1, HOLDER_STAYS | WAITER, EFFECT_NONE, 0, 0},
	{"set-up", {"set", "-j", "3", "{1}"}, 1, HOLDER_STAYS | WAITER, EFFECT_SETS, 3, 0},
	{"set-down", {"set", "-j", "1", "{1}"}, 3, HOLDER_STAYS, EFFECT_SETS, 1, 0},
	{"set-zero", {"set", "-j", "0", "{1}"}, 1, HOLDER_STAYS | WAITER, EFFECT_SETS, 0, 0},
	{"wait", {"wait", "{1}"}, 1, HOLDER, EFFECT_NONE, 0, 0},
	{"wait-holders", {"wait", "--holders", "{1}"}, 1, DEAD_HOLDER, EFFECT_NONE, 0, 0},
	{"wait-fails", {"wait", "-n", "{1}"}, 1, HOLDER_STAYS, EFFECT_NONE, 0, 75},
	{"cancel", {"cancel", "{1}"}, 1, HOLDER_STAYS | WAITER, EFFECT_NONE, 0, 0},
	{"cancel-owner", {"cancel", "--owner", "{waiter}", "{1}"}, 1, HOLDER_STAYS | WAITER, EFFECT_NONE, 0, 0},
	{"recover", {"recover", "{1}"}, 1, DEAD_HOLDER | FREE, EFFECT_NONE, 0, 0},
	{"recover-owner", {"recover", "--owner", "{holder}", "{1}"}, 1, DEAD_HOLDER | FREE | MAY_FAIL, EFFECT_NONE, 0, 0},
	{"remove", {"remove", "{1}"}, 2, 0, EFFECT_REMOVES, 0, 0},
	{"remove-recovers", {"remove", "{1}"}, 1, DEAD_HOLDER, EFFECT_REMOVES, 0, 0},
	{"remove-in-use", {"remove", "{1}"}, 1, HOLDER_STAYS | WAITER, EFFECT_NONE, 0, 125},
	{"remove-force", {"remove", "-f", "{1}"}, 1, HOLDER_STAYS, EFFECT_REMOVES, 0, 0},
	{"remove-force-queue", {"remove", "-f", "{1}"}, 1, HOLDER_STAYS | WAITER, EFFECT_REMOVES, 0, 0},
};
/* clang-format on */

const size_t situation_count = sizeof(situations) / sizeof(situations[0]);

/* ---- companions ---- */

static int
hold(int fd, const void *arg)
{
	tsem *sem;
	tsem_hold hold;
	char byte = 'h';
	if (tsem_open(arg, 0, &sem) != 0 || tsem_acquire(sem, 1, NULL, &hold) != 0 || write(fd, &byte, 1) != 1)
		return 99;
	if (read(fd, &byte, 1) < 0)
		return 99;
	const int rc = tsem_release(&hold);
	return rc == 0 || rc == -EIDRM ? 0 : 99;
}

/* Exits with the status that the command would have. */
static int
wait_in_queue(int fd, const void *arg)
{
	tsem *sem;
	tsem_hold hold;
	(void)fd;
	if (tsem_open(arg, 0, &sem) != 0)
		return 99;
	const int rc = tsem_acquire(sem, 1, NULL, &hold);
	if (rc == 0)
		tsem_release(&hold);
	return rc == 0 ? 0 : rc == -ECANCELED ? 75 : rc == -EIDRM ? 125 : 99;
}

static int
stay(int fd, const void *arg)
{
	char byte;
	(void)arg;
	return (int)read(fd, &byte, 1);
}

/* The kernel reaps its orphans. */
static int
stay_as_first(int fd, const void *arg)
{
	signal(SIGCHLD, SIG_IGN);
	return stay(fd, arg);
}

static void
fail(const char *state, int rc)
{
	fprintf(stderr, "command sweep: %s: %s\n", state, strerror(-rc));
	abort();
}

static struct companion *
start_holder(struct fixture *fixture)
{
	char byte;
	struct companion *holder = companion_fork(&fixture->processes, hold, fixture->tools->names[0]);
	if (read(holder->fd, &byte, 1) != 1)
		fail("the holder", -EIO);
	return holder;
}

static struct companion *
start_waiter(struct fixture *fixture)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	struct companion *waiter = companion_fork(&fixture->processes, wait_in_queue, fixture->tools->names[0]);
	while (tsem_stat(fixture->old[0], &stat) == 0 && stat.waiting == 0)
		sched_yield();
	return waiter;
}

static struct companion *
start_namespace(struct fixture *fixture)
{
	pid_namespace_enter(0);
	struct companion *first = companion_fork(&fixture->processes, stay_as_first, NULL);
	pid_namespace_leave();
	return first;
}

static void
give_to_owner(struct fixture *fixture)
{
	tsem_hold hold;
	int rc = tsem_acquire(fixture->old[0], 1, NULL, &hold);
	if (rc == 0)
		rc = tsem_hand_over(&hold, fixture->owner->pid);
	if (rc < 0)
		fail("the owner", rc);
}

enum { TIMEOUT_SECONDS = 30 };

/* ---- the fixture ---- */

/* In a directory of its own, a sweep removes every file, so that no point finds what an earlier one left. */
static void
remove_all_files(void)
{
	DIR *directory = opendir("/dev/shm");
	const struct dirent *entry;
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory != NULL)
		closedir(directory);
}

static void
remove_files(const struct tools *tools)
{
	if (tools->alone) {
		remove_all_files();
		return;
	}
	for (int i = 0; i < 2; i++) {
		char path[80];
		snprintf(path, sizeof(path), "/dev/shm/tsem.%s", tools->names[i]);
		unlink(path);
	}
}

void
fixture_open(struct fixture *fixture, const struct tools *tools, const struct situation *situation)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = situation->permits};
	const unsigned flags = situation->flags;
	*fixture = (struct fixture){.tools = tools, .situation = situation, .input = -1};
	remove_files(tools);
	const size_t n = situation->permits == 0 ? 0 : (flags & SECOND) != 0 ? 2 : 1;
	for (size_t i = 0; i < n; i++) {
		const int rc = tsem_create(tools->names[i], &config, &fixture->old[i]);
		if (rc < 0)
			fail("tsem_create", rc);
	}
	if ((flags & (HOLDER | HOLDER_STAYS | DEAD_HOLDER)) != 0)
		fixture->holder = start_holder(fixture);
	if ((flags & DEAD_HOLDER) != 0)
		companion_kill(&fixture->processes, fixture->holder);
	if ((flags & OWNER) != 0)
		fixture->owner = companion_fork(&fixture->processes, stay, NULL);
	if ((flags & CONTAINED) != 0)
		fixture->first = start_namespace(fixture);
	if ((flags & OWNED) != 0)
		give_to_owner(fixture);
	if ((flags & TAKEN) != 0)
		tsem_try_take(fixture->old[0], 1);
	if ((flags & WAITER) != 0)
		fixture->waiter = start_waiter(fixture);
	for (size_t i = 0; i < n; i++) {
		fixture->before[i].size = sizeof(fixture->before[i]);
		tsem_stat(fixture->old[i], &fixture->before[i]);
	}
}

static void
pid_to_word(const struct companion *companion, char word[16])
{
	snprintf(word, 16, "%d", companion == NULL ? 0 : (int)companion->pid);
}

/* Replaces the names in braces. */
static char *
expand(const struct fixture *fixture, const char *word)
{
	enum { NAMES = 6 };
	char owner[16];
	char holder[16];
	char waiter[16];
	pid_to_word(fixture->owner, owner);
	pid_to_word(fixture->holder, holder);
	pid_to_word(fixture->waiter, waiter);
	const struct tools *tools = fixture->tools;
	const char *const from[NAMES] = {"{1}", "{2}", "{pid}", "{holder}", "{waiter}", "{work}"};
	const char *const to[NAMES] = {tools->names[0], tools->names[1], owner, holder, waiter, tools->work};
	char text[4096] = "";
	while (*word != '\0') {
		size_t i = 0;
		while (i < NAMES && strncmp(word, from[i], strlen(from[i])) != 0)
			i++;
		const bool known = i < NAMES;
		const size_t length = strlen(text);
		snprintf(text + length, sizeof(text) - length, "%.*s", known ? (int)strlen(to[i]) : 1, known ? to[i] : word);
		word += known ? strlen(from[i]) : 1;
	}
	return strdup(text);
}

static void
expand_words(const struct fixture *fixture, const char *const words[], char *argv[WORDS_MAX + 2])
{
	size_t n = 0;
	argv[n++] = strdup(fixture->tools->tsem);
	for (size_t i = 0; i < WORDS_MAX && words[i] != NULL; i++)
		argv[n++] = expand(fixture, words[i]);
	argv[n] = NULL;
}

static void
free_words(char *argv[])
{
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
}

void
fixture_start(struct fixture *fixture, const char *const words[])
{
	char *argv[WORDS_MAX + 2];
	int input[2];
	if (pipe2(input, O_CLOEXEC) != 0 || ftruncate(fixture->tools->out, 0) != 0
	    || ftruncate(fixture->tools->err, 0) != 0)
		fail("pipe2", -errno);
	expand_words(fixture, words, argv);
	if (fixture->first != NULL)
		pid_namespace_enter(fixture->first->pid);
	processes_start(&fixture->processes, argv, (const int[]){input[0], fixture->tools->out, fixture->tools->err});
	if (fixture->first != NULL)
		pid_namespace_leave();
	free_words(argv);
	close(input[0]);
	fixture->input = input[1];
}

void
fixture_end_input(struct fixture *fixture)
{
	if (fixture->input >= 0)
		close(fixture->input);
	fixture->input = -1;
}

void
fixture_start_newcomer(struct fixture *fixture)
{
	fixture->newcomer = start_holder(fixture);
}

bool
fixture_release(struct fixture *fixture, struct companion *holder)
{
	const char byte = 'r';
	return write(holder->fd, &byte, 1) == 1 && companion_end(&fixture->processes, holder, TIMEOUT_SECONDS)
	       && holder->status == 0;
}

bool
fixture_close(struct fixture *fixture)
{
	fixture_end_input(fixture);
	const bool alone = processes_end_all(&fixture->processes);
	for (size_t i = 0; i < 2; i++)
		tsem_close(fixture->old[i]);
	remove_files(fixture->tools);
	return alone;
}

/* ---- the state of a semaphore ---- */

void
read_text(int fd, char *text, size_t size)
{
	const ssize_t n = pread(fd, text, size - 1, 0);
	text[n < 0 ? 0 : n] = '\0';
}

int
fixture_run(struct fixture *fixture, const char *const words[], char text[256])
{
	const struct tools *tools = fixture->tools;
	char *argv[WORDS_MAX + 2];
	if (ftruncate(tools->other_out, 0) != 0 || ftruncate(tools->other_err, 0) != 0)
		fail("ftruncate", -errno);
	expand_words(fixture, words, argv);
	struct companion *companion =
		companion_run(&fixture->processes, argv, (const int[]){tools->null, tools->other_out, tools->other_err});
	free_words(argv);
	const bool ended = companion_end(&fixture->processes, companion, TIMEOUT_SECONDS);
	if (!ended)
		processes_describe(companion->pid, text);
	companion_kill(&fixture->processes, companion);
	if (!ended)
		return -1;
	read_text(tools->other_out, text, 256);
	return WIFEXITED(companion->status) ? WEXITSTATUS(companion->status) : 128 + WTERMSIG(companion->status);
}

bool
fixture_stat(const char *name, struct tsem_stat *stat)
{
	tsem *sem;
	*stat = (struct tsem_stat){.size = sizeof(*stat)};
	if (tsem_open(name, TSEM_READ_ONLY, &sem) != 0)
		return false;
	const int rc = tsem_stat(sem, stat);
	tsem_close(sem);
	return rc == 0;
}

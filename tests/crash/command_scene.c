/* SPDX-License-Identifier: MIT */
#include "command_scene.h"

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
	{"recover", {"recover", "{1}"}, 1, DEAD_HOLDER | FREE, EFFECT_NONE, 0, 0},
	{"remove", {"remove", "{1}"}, 2, 0, EFFECT_REMOVES, 0, 0},
	{"remove-recovers", {"remove", "{1}"}, 1, DEAD_HOLDER, EFFECT_REMOVES, 0, 0},
	{"remove-in-use", {"remove", "{1}"}, 1, HOLDER_STAYS | WAITER, EFFECT_NONE, 0, 125},
	{"remove-force", {"remove", "-f", "{1}"}, 1, HOLDER_STAYS, EFFECT_REMOVES, 0, 0},
	{"remove-force-line", {"remove", "-f", "{1}"}, 1, HOLDER_STAYS | WAITER, EFFECT_REMOVES, 0, 0},
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

/* Exits as the command would. */
static int
wait_in_line(int fd, const void *arg)
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

static void
fail(const char *state, int rc)
{
	fprintf(stderr, "command sweep: %s: %s\n", state, strerror(-rc));
	abort();
}

static struct companion *
start_holder(struct scene *scene)
{
	char byte;
	struct companion *holder = companion_fork(&scene->stage, hold, scene->tools->names[0]);
	if (read(holder->fd, &byte, 1) != 1)
		fail("the holder", -EIO);
	return holder;
}

static struct companion *
start_waiter(struct scene *scene)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	struct companion *waiter = companion_fork(&scene->stage, wait_in_line, scene->tools->names[0]);
	while (tsem_stat(scene->old[0], &stat) == 0 && stat.waiting == 0)
		sched_yield();
	return waiter;
}

static void
give_to_owner(struct scene *scene)
{
	tsem_hold hold;
	int rc = tsem_acquire(scene->old[0], 1, NULL, &hold);
	if (rc == 0)
		rc = tsem_hand_over(&hold, scene->owner->pid);
	if (rc < 0)
		fail("the owner", rc);
}

enum { PATIENCE_SECONDS = 30 };

/* ---- the scene ---- */

/* In a directory of its own: all of them, or what one point left would be found at the next. */
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
scene_open(struct scene *scene, const struct tools *tools, const struct situation *situation)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = situation->permits};
	const unsigned flags = situation->flags;
	*scene = (struct scene){.tools = tools, .situation = situation, .input = -1};
	remove_files(tools);
	const size_t n = situation->permits == 0 ? 0 : (flags & SECOND) != 0 ? 2 : 1;
	for (size_t i = 0; i < n; i++) {
		const int rc = tsem_create(tools->names[i], &config, &scene->old[i]);
		if (rc < 0)
			fail("tsem_create", rc);
	}
	if ((flags & (HOLDER | HOLDER_STAYS | DEAD_HOLDER)) != 0)
		scene->holder = start_holder(scene);
	if ((flags & DEAD_HOLDER) != 0)
		companion_kill(&scene->stage, scene->holder);
	if ((flags & OWNER) != 0)
		scene->owner = companion_fork(&scene->stage, stay, NULL);
	if ((flags & OWNED) != 0)
		give_to_owner(scene);
	if ((flags & TAKEN) != 0)
		tsem_try_take(scene->old[0], 1);
	if ((flags & WAITER) != 0)
		scene->waiter = start_waiter(scene);
	for (size_t i = 0; i < n; i++) {
		scene->before[i].size = sizeof(scene->before[i]);
		tsem_stat(scene->old[i], &scene->before[i]);
	}
}

/* Replaces what stands in braces. */
static char *
expand(const struct scene *scene, const char *word)
{
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", scene->owner == NULL ? 0 : (int)scene->owner->pid);
	const char *const from[] = {"{1}", "{2}", "{pid}", "{work}"};
	const char *const to[] = {scene->tools->names[0], scene->tools->names[1], pid, scene->tools->work};
	char text[4096] = "";
	while (*word != '\0') {
		size_t i = 0;
		while (i < 4 && strncmp(word, from[i], strlen(from[i])) != 0)
			i++;
		const size_t length = strlen(text);
		snprintf(text + length, sizeof(text) - length, "%.*s", i < 4 ? (int)strlen(to[i]) : 1, i < 4 ? to[i] : word);
		word += i < 4 ? strlen(from[i]) : 1;
	}
	return strdup(text);
}

static void
expand_words(const struct scene *scene, const char *const words[], char *argv[WORDS_MAX + 2])
{
	size_t n = 0;
	argv[n++] = strdup(scene->tools->tsem);
	for (size_t i = 0; i < WORDS_MAX && words[i] != NULL; i++)
		argv[n++] = expand(scene, words[i]);
	argv[n] = NULL;
}

static void
free_words(char *argv[])
{
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
}

void
scene_start(struct scene *scene, const char *const words[])
{
	char *argv[WORDS_MAX + 2];
	int input[2];
	if (pipe2(input, O_CLOEXEC) != 0 || ftruncate(scene->tools->out, 0) != 0 || ftruncate(scene->tools->err, 0) != 0)
		fail("pipe2", -errno);
	expand_words(scene, words, argv);
	stage_start(&scene->stage, argv, (const int[]){input[0], scene->tools->out, scene->tools->err});
	free_words(argv);
	close(input[0]);
	scene->input = input[1];
}

void
scene_end_input(struct scene *scene)
{
	if (scene->input >= 0)
		close(scene->input);
	scene->input = -1;
}

void
scene_start_newcomer(struct scene *scene)
{
	scene->newcomer = start_holder(scene);
}

bool
scene_release(struct scene *scene, struct companion *holder)
{
	const char byte = 'r';
	return write(holder->fd, &byte, 1) == 1 && companion_end(&scene->stage, holder, PATIENCE_SECONDS)
	       && holder->status == 0;
}

bool
scene_close(struct scene *scene)
{
	scene_end_input(scene);
	const bool alone = stage_clear(&scene->stage);
	for (size_t i = 0; i < 2; i++)
		tsem_close(scene->old[i]);
	remove_files(scene->tools);
	return alone;
}

/* ---- looking on ---- */

void
read_text(int fd, char *text, size_t size)
{
	const ssize_t n = pread(fd, text, size - 1, 0);
	text[n < 0 ? 0 : n] = '\0';
}

int
scene_run(struct scene *scene, const char *const words[], char text[256])
{
	const struct tools *tools = scene->tools;
	char *argv[WORDS_MAX + 2];
	if (ftruncate(tools->other_out, 0) != 0 || ftruncate(tools->other_err, 0) != 0)
		fail("ftruncate", -errno);
	expand_words(scene, words, argv);
	struct companion *companion =
		companion_run(&scene->stage, argv, (const int[]){tools->null, tools->other_out, tools->other_err});
	free_words(argv);
	const bool ended = companion_end(&scene->stage, companion, PATIENCE_SECONDS);
	companion_kill(&scene->stage, companion);
	read_text(tools->other_out, text, 256);
	if (!ended)
		return -1;
	return WIFEXITED(companion->status) ? WEXITSTATUS(companion->status) : 128 + WTERMSIG(companion->status);
}

bool
scene_stat(const char *name, struct tsem_stat *stat)
{
	tsem *sem;
	*stat = (struct tsem_stat){.size = sizeof(*stat)};
	if (tsem_open(name, TSEM_READ_ONLY, &sem) != 0)
		return false;
	const int rc = tsem_stat(sem, stat);
	tsem_close(sem);
	return rc == 0;
}

/* SPDX-License-Identifier: MIT */
/* What must be so when the command has ended, or has died. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "command_play.h"

enum { EXIT_NOT_ACQUIRED = 75, EXIT_TSEM_FAILED = 125, EXIT_CANNOT_EXECUTE, EXIT_NOT_FOUND, EXIT_SIGNAL_BASE };

/* How the command came to its end, as far as what it promises depends on it. */
enum outcome { DONE, REFUSED, DIED };

static const char *
name_of(const struct play *play, unsigned i)
{
	return play->scene.tools->names[i];
}

static bool
has(const struct play *play, unsigned flag)
{
	return (play->point->situation->flags & flag) != 0;
}

/* Permits that processes of the scene hold, which live. */
static unsigned
count_holders(const struct play *play)
{
	const struct companion *holder = play->scene.holder;
	return holder != NULL && !holder->ended ? 1 : 0;
}

/* ---- at work ---- */

static uint64_t
count_held(const struct play *play)
{
	uint64_t held = 0;
	struct tsem_stat stat;
	for (unsigned i = 0; i < 2; i++)
		held += scene_stat(name_of(play, i), &stat) ? stat.held : 0;
	return held;
}

/* Promise 6: while the command lives, its permits are held, whether tsem lives or not. */
void
books_check_work(struct play *play)
{
	char text[256];
	const bool killed = !stage_lives(&play->scene.stage, ROLE_COMMAND);
	const unsigned holders = count_holders(play);
	const unsigned own = strchr(play->point->situation->words[1], ',') != NULL ? 2 : 1;
	if (play->removed)
		return;
	if (killed) {
		scene_run(&play->scene, (const char *const[]){"recover", "{1}", NULL}, text);
		/* Of a jobserver, that which no job uses comes back. */
		const bool serves = strcmp(play->point->situation->words[1], "--jobserver") == 0;
		if (text[0] != '0' && !has(play, DEAD_HOLDER) && !serves)
			play_fault(play, "'recover' gives back permits although the command lives: %s", text);
	}
	if (count_held(play) < holders + own)
		play_fault(play, "the command runs, and %llu permits are held instead of %u",
		           (unsigned long long)count_held(play), holders + own);
	if (killed && play->scene.before[0].capacity <= 1
	    && scene_run(&play->scene, (const char *const[]){"run", "-n", "{1}", "{work}", "0", NULL}, text)
	           != EXIT_NOT_ACQUIRED)
		play_fault(play, "'run -n' does not exit with 75 although the command lives");
}

/* ---- how it ended ---- */

static int
signal_of(enum action action)
{
	switch (action) {
	case ACTION_TERM:
		return SIGTERM;
	case ACTION_INT:
		return SIGINT;
	case ACTION_HUP:
		return SIGHUP;
	case ACTION_NONE:
	case ACTION_ERROR:
		return 0;
	default:
		return SIGKILL;
	}
}

static bool
may_exit_with(const struct play *play, int status)
{
	const struct situation *situation = play->point->situation;
	const int number = signal_of(play->point->action);
	const bool runs = strcmp(situation->words[0], "run") == 0;
	if (status == situation->status)
		return true;
	switch (play->point->action) {
	case ACTION_KILL_CHILD:
	case ACTION_TERM:
	case ACTION_INT:
	case ACTION_HUP:
		return runs && status == EXIT_SIGNAL_BASE + number;
	case ACTION_STOP:
		return status == 0 || status == EXIT_NOT_ACQUIRED || status == EXIT_TSEM_FAILED;
	case ACTION_ERROR:
		return status == EXIT_TSEM_FAILED || (status == EXIT_NOT_ACQUIRED && has(play, MAY_FAIL))
		       || (runs && (status == EXIT_CANNOT_EXECUTE || status == EXIT_NOT_FOUND));
	default:
		return false;
	}
}

static bool
may_die_of(const struct play *play, int number)
{
	return number != 0 && number == signal_of(play->point->action) && play->point->action != ACTION_KILL_CHILD
	       && play->point->action != ACTION_STOP;
}

/* Whether the call that was made to fail was one of those that begin so. */
static bool
has_failed(const struct play *play, const char *call)
{
	return play->point->action == ACTION_ERROR && play->played->reached
	       && strncmp(call_name(play->played->at.call.number), call, strlen(call)) == 0;
}

static bool
is_message(const char *line)
{
	const size_t length = strcspn(line, "\n");
	return strncmp(line, "tsem: ", 6) == 0 && length > 6 && line[length] == '\n';
}

static void
check_messages(struct play *play, const char *text, bool wanted)
{
	unsigned lines = 0;
	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
		lines++;
		if (!is_message(line)) {
			play_fault(play, "no message of its own form on standard error: %s", text);
			return;
		}
	}
	if (wanted && lines != 1 && !has_failed(play, "write"))
		play_fault(play, "it fails, and prints %u messages: %s", lines, text);
}

/* These commands go on without what they cannot have, and mention it. */
static bool
may_mention(const struct play *play)
{
	const char *const *words = play->point->situation->words;
	return (play->point->action == ACTION_ERROR || play->point->action == ACTION_STOP)
	       && (strcmp(words[0], "list") == 0 || strcmp(words[0], "top") == 0 || strcmp(words[1], "--jobserver") == 0);
}

/* Judges the end of the command, and returns what its status says. */
static enum outcome
check_end(struct play *play)
{
	const struct stage *stage = &play->scene.stage;
	const int status = stage->status[ROLE_COMMAND];
	char text[1024];
	read_text(play->scene.tools->err, text, sizeof(text));
	if (WIFSIGNALED(status)) {
		if (!may_die_of(play, WTERMSIG(status)))
			play_fault(play, "it dies of signal %d", WTERMSIG(status));
		check_messages(play, text, false);
		return DIED;
	}
	const int code = WEXITSTATUS(status);
	if (!may_exit_with(play, code))
		play_fault(play, "it exits with %d: %s", code, text);
	const bool failed = code == EXIT_TSEM_FAILED || code == EXIT_CANNOT_EXECUTE || code == EXIT_NOT_FOUND;
	check_messages(play, text, failed);
	if (!failed && text[0] != '\0' && !may_mention(play))
		play_fault(play, "it exits with %d, and prints a message: %s", code, text);
	if (failed && strstr(text, "the operation itself is done") != NULL)
		return DONE;
	return failed || code == EXIT_NOT_ACQUIRED ? REFUSED : DONE;
}

/* ---- what it has changed ---- */

/* The anonymous permits that may be missing now. */
static void
expect_taken(const struct play *play, enum outcome outcome, uint64_t *least, uint64_t *most)
{
	const enum effect effect = play->point->situation->effect;
	*least = *most = effect == EFFECT_POSTS ? 1 : 0;
	if (effect == EFFECT_TAKES && outcome == DONE)
		*least = *most = 1;
	if (effect == EFFECT_POSTS && outcome == DONE)
		*least = *most = 0;
	if ((effect == EFFECT_TAKES || effect == EFFECT_POSTS) && (outcome == DIED || play->held != 0)) {
		*least = 0;
		*most = 1;
	}
}

static void
check_capacity(struct play *play, enum outcome outcome, uint32_t capacity)
{
	const struct situation *situation = play->point->situation;
	const uint32_t old = play->scene.before[0].capacity;
	if (play->removed)
		return;
	if (situation->effect != EFFECT_SETS) {
		if (old != 0 && capacity != old)
			play_fault(play, "the capacity is %u instead of %u", capacity, old);
		return;
	}
	if ((outcome == DONE && capacity != situation->to) || (outcome == REFUSED && capacity != old)
	    || (capacity != old && capacity != situation->to))
		play_fault(play, "the capacity is %u, from %u to %u", capacity, old, situation->to);
}

/* Promise 3: no waiter waits for ever. */
static void
check_waiter(struct play *play, enum outcome outcome, const struct tsem_stat *stat, bool exists)
{
	const struct scene *scene = &play->scene;
	const enum effect effect = play->point->situation->effect;
	const bool cancels = strcmp(play->point->situation->words[0], "cancel") == 0;
	int expected = -1;
	if (!exists)
		expected = EXIT_TSEM_FAILED;
	else if (cancels && outcome == DONE)
		expected = EXIT_NOT_ACQUIRED;
	else if ((effect == EFFECT_POSTS && stat->grant != scene->before[0].grant)
	         || (effect == EFFECT_SETS && stat->capacity > scene->before[0].capacity))
		expected = 0;
	if (expected < 0)
		return;
	if (!companion_end(&play->scene.stage, scene->waiter, 30)) {
		play_fault(play, "the waiter waits on");
		return;
	}
	const int status = WIFEXITED(scene->waiter->status) ? WEXITSTATUS(scene->waiter->status) : 128;
	if (status != expected && play->held == 0)
		play_fault(play, "the waiter exits with %d instead of %d", status, expected);
}

/* The holder and the waiter come to their end, which has to be a good one. */
static void
end_companions(struct play *play)
{
	struct scene *scene = &play->scene;
	if (count_holders(play) > 0 && !scene_release(scene, scene->holder))
		play_fault(play, "the holder could not release");
	if (scene->newcomer != NULL && !scene_release(scene, scene->newcomer))
		play_fault(play, "the holder of the next semaphore could not release");
	struct tsem_stat stat;
	if (scene->waiter != NULL && has(play, HOLDER_STAYS) && scene_stat(name_of(play, 0), &stat) && stat.capacity > 0
	    && !companion_end(&scene->stage, scene->waiter, 30))
		play_fault(play, "the waiter waits on");
	if (scene->waiter != NULL)
		companion_kill(&scene->stage, scene->waiter);
}

/* ---- holds for another process ---- */

static void
check_owner(struct play *play, enum outcome outcome)
{
	struct scene *scene = &play->scene;
	const enum effect effect = play->point->situation->effect;
	struct tsem_stat stat;
	char text[256];
	if (scene->owner == NULL)
		return;
	scene_run(scene, (const char *const[]){"recover", "{1}", NULL}, text);
	if (scene_stat(name_of(play, 0), &stat) && outcome != DIED && play->held == 0) {
		const uint64_t others = count_holders(play);
		const bool holds = effect == EFFECT_HOLDS ? outcome == DONE : effect == EFFECT_RELEASES && outcome != DONE;
		if (stat.held != others + holds)
			play_fault(play, "%llu permits are held instead of %llu", (unsigned long long)stat.held,
			           (unsigned long long)(others + holds));
	}
	companion_kill(&scene->stage, scene->owner);
}

/* ---- at the end ---- */

/* A handle from before must not admit when the name is gone: the next semaphore of that name knows nothing of it. */
static void
check_old_handle(struct play *play)
{
	tsem_hold hold;
	if (play->scene.old[0] == NULL)
		return;
	const int rc = tsem_try_acquire(play->scene.old[0], 1, &hold);
	if (rc != -EIDRM)
		play_fault(play, "the name is gone, and tsem_try_acquire() on a handle from before says %d", rc);
	if (rc == 0)
		tsem_release(&hold);
}

static void
check_absence(struct play *play, enum outcome outcome)
{
	const enum effect effect = play->point->situation->effect;
	const bool may_be_gone = (effect == EFFECT_REMOVES && outcome != REFUSED)
	                         || (effect == EFFECT_CREATES && outcome != DONE) || play->held != 0;
	if (!may_be_gone)
		play_fault(play, "the semaphore is gone");
	check_old_handle(play);
}

static void
check_presence(struct play *play, enum outcome outcome)
{
	const struct situation *situation = play->point->situation;
	if (play->held != 0)
		return;
	if (situation->effect == EFFECT_REMOVES && outcome == DONE)
		play_fault(play, "the semaphore is still there");
	if (situation->effect == EFFECT_CREATES && outcome == REFUSED && strcmp(situation->words[0], "create") == 0)
		play_fault(play, "it failed, and left a semaphore behind");
}

static void
check_balance(struct play *play, const char *name, uint64_t least, uint64_t most)
{
	struct tsem_stat stat;
	char text[256];
	if (!scene_stat(name, &stat))
		return;
	if (stat.waiting != 0)
		play_fault(play, "%u are in line although no process is left", stat.waiting);
	if (stat.available + stat.held != stat.capacity)
		play_fault(play, "%llu available and %llu held are not the capacity %u", (unsigned long long)stat.available,
		           (unsigned long long)stat.held, stat.capacity);
	if (stat.held < least || stat.held > most)
		play_fault(play, "%llu permits are missing; there should be %llu to %llu", (unsigned long long)stat.held,
		           (unsigned long long)least, (unsigned long long)most);
	const int expected = stat.available > 0 ? 0 : EXIT_NOT_ACQUIRED;
	const int status = scene_run(&play->scene, (const char *const[]){"run", "-n", name, "{work}", "0", NULL}, text);
	if (status != expected)
		play_fault(play, "'run -n' exits with %d instead of %d", status, expected);
}

/*
 * A creator that has to make a file with a temporary name leaves it when it is killed. The next creator that has to do the
 * same has to remove it.
 */
static void
create_another(struct play *play)
{
	struct scene *scene = &play->scene;
	char text[256];
	play->over = true;
	scene_start(scene, (const char *const[]){"create", "{2}", NULL});
	while (!stage_is_gone(&scene->stage))
		stage_await(&scene->stage, 100);
	scene_end_input(scene);
	if (scene->stage.status[ROLE_COMMAND] != 0
	    || scene_run(scene, (const char *const[]){"remove", "{2}", NULL}, text) != 0)
		play_fault(play, "the next 'tsem create' fails");
}

/* No other name is left. */
static void
check_files(struct play *play, bool exists)
{
	/* A file that cannot be removed has to stay. */
	const bool looks = play->scene.tools->alone && !has_failed(play, "unlink");
	DIR *directory = looks ? opendir("/dev/shm") : NULL;
	const struct dirent *entry;
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		const char *name = entry->d_name;
		const bool is_own = strncmp(name, "tsem.", 5) == 0
		                    && ((strcmp(name + 5, name_of(play, 0)) == 0
		                         && (exists || play->point->situation->effect == EFFECT_REMOVES))
		                        || (strcmp(name + 5, name_of(play, 1)) == 0 && has(play, SECOND)));
		if (!is_own && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
			play_fault(play, "a file is left: /dev/shm/%s", name);
	}
	if (directory != NULL)
		closedir(directory);
}

/* The permits of a command that ended by itself are back before another process looks for the dead. */
static void
check_at_once(struct play *play, enum outcome outcome, const struct tsem_stat *stat)
{
	const uint64_t holders = count_holders(play);
	if (has(play, RUNS) && outcome != DIED && play->held == 0 && stat->held != holders && !has(play, DEAD_HOLDER))
		play_fault(play, "it has ended, and %llu permits are still held", (unsigned long long)(stat->held - holders));
}

void
books_close(struct play *play)
{
	struct tsem_stat stat;
	char text[256];
	uint64_t least;
	uint64_t most;
	const enum outcome outcome = check_end(play);
	bool exists = scene_stat(name_of(play, 0), &stat);
	if (!exists && play->scene.newcomer != NULL && strcmp(play->point->situation->words[1], "-f") != 0)
		play_fault(play, "it has removed the next semaphore of that name, which is in use");
	if (exists)
		check_at_once(play, outcome, &stat);
	check_owner(play, outcome);
	if (play->scene.waiter != NULL && !play->removed)
		check_waiter(play, outcome, &stat, exists);
	end_companions(play);
	for (unsigned i = 0; i < 2; i++) {
		struct tsem_stat one;
		const char *const words[] = {"recover", name_of(play, i), NULL};
		if (scene_stat(name_of(play, i), &one) && scene_run(&play->scene, words, text) != 0)
			play_fault(play, "'recover' fails");
	}
	exists = scene_stat(name_of(play, 0), &stat);
	if (exists) {
		check_presence(play, outcome);
		check_capacity(play, outcome, stat.capacity);
		expect_taken(play, outcome, &least, &most);
		check_balance(play, name_of(play, 0), least, most);
	} else {
		check_absence(play, outcome);
	}
	check_balance(play, name_of(play, 1), 0, 0);
	if (has(play, LINKED))
		create_another(play);
	check_files(play, exists);
}

/* SPDX-License-Identifier: MIT */
/* What must hold when the command has ended or died. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command_run.h"
#include "rest.h"

enum { EXIT_NOT_ACQUIRED = 75, EXIT_TSEM_FAILED = 125, EXIT_CANNOT_EXECUTE, EXIT_NOT_FOUND, EXIT_SIGNAL_BASE };

/* How the command ended: this decides what it must have done. */
enum outcome { DONE, REFUSED, DIED };

static const char *
name_of(const struct run *run, unsigned i)
{
	return run->fixture.tools->names[i];
}

static bool
has(const struct run *run, unsigned flag)
{
	return (run->point->situation->flags & flag) != 0;
}

/* The permits that live processes of the fixture hold. */
static unsigned
count_holders(const struct run *run)
{
	const struct companion *holder = run->fixture.holder;
	return holder != NULL && !holder->ended ? 1 : 0;
}

/* ---- while the command of `tsem run` works ---- */

static uint64_t
count_held(const struct run *run)
{
	uint64_t held = 0;
	struct tsem_stat stat;
	for (unsigned i = 0; i < 2; i++)
		held += fixture_stat(name_of(run, i), &stat) ? stat.held : 0;
	return held;
}

/* Promise 6: while the command lives, its permits are held, whether tsem lives or not. */
void
invariants_check_running(struct run *run)
{
	char text[256];
	const bool killed = !processes_has_live(&run->fixture.processes, ROLE_COMMAND);
	const unsigned holders = count_holders(run);
	const unsigned own = strchr(run->point->situation->words[1], ',') != NULL ? 2 : 1;
	if (run->removed)
		return;
	if (killed) {
		fixture_run(&run->fixture, (const char *const[]){"recover", "{1}", NULL}, text);
		/* A jobserver's permits come back if no job uses them. */
		const bool serves = strcmp(run->point->situation->words[1], "--jobserver") == 0;
		if (text[0] != '0' && !has(run, DEAD_HOLDER) && !serves)
			run_fault(run, "'recover' gives back permits although the command lives: %s", text);
	}
	if (count_held(run) < holders + own)
		run_fault(run, "the command runs, and %llu permits are held instead of %u", (unsigned long long)count_held(run),
		          holders + own);
	if (killed && run->fixture.before[0].capacity <= 1
	    && fixture_run(&run->fixture, (const char *const[]){"run", "-n", "{1}", "{work}", "0", NULL}, text)
	           != EXIT_NOT_ACQUIRED)
		run_fault(run, "'run -n' does not exit with 75 although the command lives");
}

/* ---- how the command ended ---- */

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
may_exit_with(const struct run *run, int status)
{
	const struct situation *situation = run->point->situation;
	const int number = signal_of(run->point->action);
	const bool runs = strcmp(situation->words[0], "run") == 0;
	if (status == situation->status)
		return true;
	switch (run->point->action) {
	case ACTION_KILL_CHILD:
		return runs && status == (has(run, BACKGROUND) ? EXIT_TSEM_FAILED : EXIT_SIGNAL_BASE + number);
	case ACTION_TERM:
	case ACTION_INT:
	case ACTION_HUP:
		return runs && status == EXIT_SIGNAL_BASE + number;
	case ACTION_STOP:
		return status == 0 || status == EXIT_NOT_ACQUIRED || status == EXIT_TSEM_FAILED;
	case ACTION_ERROR:
		return status == EXIT_TSEM_FAILED || (status == EXIT_NOT_ACQUIRED && has(run, MAY_FAIL))
		       || (runs && (status == EXIT_CANNOT_EXECUTE || status == EXIT_NOT_FOUND));
	default:
		return false;
	}
}

static bool
may_die_of(const struct run *run, int number)
{
	return number != 0 && number == signal_of(run->point->action) && run->point->action != ACTION_KILL_CHILD
	       && run->point->action != ACTION_STOP;
}

/* Whether the point made a call fail whose name begins so. */
static bool
has_failed(const struct run *run, const char *call)
{
	return run->point->action == ACTION_ERROR && run->result->reached
	       && strncmp(call_name(run->result->at.call.number), call, strlen(call)) == 0;
}

static bool
is_message(const char *line)
{
	const size_t length = strcspn(line, "\n");
	return strncmp(line, "tsem: ", 6) == 0 && length > 6 && line[length] == '\n';
}

static void
check_messages(struct run *run, const char *text, bool wanted)
{
	unsigned lines = 0;
	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
		lines++;
		if (!is_message(line)) {
			run_fault(run, "standard error has a line that is no message of tsem: %s", text);
			return;
		}
	}
	if (wanted && lines != 1 && !has_failed(run, "write"))
		run_fault(run, "the command fails, and prints %u messages: %s", lines, text);
}

/* These commands go on without what they could not get, and print a message about it. */
static bool
may_mention(const struct run *run)
{
	const char *const *words = run->point->situation->words;
	return (run->point->action == ACTION_ERROR || run->point->action == ACTION_STOP)
	       && (strcmp(words[0], "list") == 0 || strcmp(words[0], "top") == 0 || strcmp(words[1], "--jobserver") == 0);
}

/* The dynamic loader fails before the program begins that the command has become, and has messages of its own. */
static bool
loader_has_failed(const struct run *run, int status, const char *text)
{
	return run->point->action == ACTION_ERROR && status == EXIT_NOT_FOUND
	       && strstr(text, ": error while loading shared libraries: ") != NULL;
}

/* Checks how the command ended, and returns it. */
static enum outcome
check_end(struct run *run)
{
	const struct processes *processes = &run->fixture.processes;
	const int status = processes->status[ROLE_COMMAND];
	char text[1024];
	read_text(run->fixture.tools->err, text, sizeof(text));
	if (WIFSIGNALED(status)) {
		if (!may_die_of(run, WTERMSIG(status)))
			run_fault(run, "the command dies of signal %d", WTERMSIG(status));
		check_messages(run, text, false);
		return DIED;
	}
	const int code = WEXITSTATUS(status);
	if (loader_has_failed(run, code, text))
		return REFUSED;
	if (!may_exit_with(run, code))
		run_fault(run, "the command exits with %d: %s", code, text);
	const bool failed = code == EXIT_TSEM_FAILED || code == EXIT_CANNOT_EXECUTE || code == EXIT_NOT_FOUND;
	check_messages(run, text, failed);
	if (!failed && text[0] != '\0' && !may_mention(run))
		run_fault(run, "the command exits with %d, and prints a message: %s", code, text);
	if (failed && strstr(text, "the operation itself is done") != NULL)
		return DONE;
	return failed || code == EXIT_NOT_ACQUIRED ? REFUSED : DONE;
}

/* ---- what the command has changed ---- */

/* How many anonymous permits may be missing now. */
static void
expect_taken(const struct run *run, enum outcome outcome, uint64_t *least, uint64_t *most)
{
	const enum effect effect = run->point->situation->effect;
	*least = *most = effect == EFFECT_POSTS ? 1 : 0;
	if (effect == EFFECT_TAKES && outcome == DONE)
		*least = *most = 1;
	if (effect == EFFECT_POSTS && outcome == DONE)
		*least = *most = 0;
	if ((effect == EFFECT_TAKES || effect == EFFECT_POSTS) && (outcome == DIED || run->held != 0)) {
		*least = 0;
		*most = 1;
	}
}

static void
check_capacity(struct run *run, enum outcome outcome, uint32_t capacity)
{
	const struct situation *situation = run->point->situation;
	const uint32_t old = run->fixture.before[0].capacity;
	if (run->removed)
		return;
	if (situation->effect != EFFECT_SETS) {
		if (old != 0 && capacity != old)
			run_fault(run, "the capacity is %u instead of %u", capacity, old);
		return;
	}
	if ((outcome == DONE && capacity != situation->to) || (outcome == REFUSED && capacity != old)
	    || (capacity != old && capacity != situation->to))
		run_fault(run, "the capacity is %u, from %u to %u", capacity, old, situation->to);
}

/* Promise 3: no waiter waits for ever. */
static void
check_waiter(struct run *run, enum outcome outcome, const struct tsem_stat *stat, bool exists)
{
	const struct fixture *fixture = &run->fixture;
	const enum effect effect = run->point->situation->effect;
	const bool cancels = strcmp(run->point->situation->words[0], "cancel") == 0;
	int expected = -1;
	if (!exists)
		expected = EXIT_TSEM_FAILED;
	else if (cancels && outcome == DONE)
		expected = EXIT_NOT_ACQUIRED;
	else if ((effect == EFFECT_POSTS && stat->grant != fixture->before[0].grant)
	         || (effect == EFFECT_SETS && stat->capacity > fixture->before[0].capacity))
		expected = 0;
	if (expected < 0)
		return;
	if (!companion_end(&run->fixture.processes, fixture->waiter, 30)) {
		run_fault(run, "the waiter still waits");
		return;
	}
	const int status = WIFEXITED(fixture->waiter->status) ? WEXITSTATUS(fixture->waiter->status) : 128;
	if (status != expected && run->held == 0)
		run_fault(run, "the waiter exits with %d instead of %d", status, expected);
}

/* Ends the holder and the waiter, which must succeed. */
static void
end_companions(struct run *run)
{
	struct fixture *fixture = &run->fixture;
	if (count_holders(run) > 0 && !fixture_release(fixture, fixture->holder))
		run_fault(run, "the holder could not release");
	if (fixture->newcomer != NULL && !fixture_release(fixture, fixture->newcomer))
		run_fault(run, "the holder of the next semaphore could not release");
	struct tsem_stat stat;
	if (fixture->waiter != NULL && has(run, HOLDER_STAYS) && fixture_stat(name_of(run, 0), &stat) && stat.capacity > 0
	    && !companion_end(&fixture->processes, fixture->waiter, 30))
		run_fault(run, "the waiter still waits");
	if (fixture->waiter != NULL)
		companion_kill(&fixture->processes, fixture->waiter);
}

/* ---- holds for another process ---- */

static void
check_owner(struct run *run, enum outcome outcome)
{
	struct fixture *fixture = &run->fixture;
	const enum effect effect = run->point->situation->effect;
	struct tsem_stat stat;
	char text[256];
	if (fixture->owner == NULL)
		return;
	fixture_run(fixture, (const char *const[]){"recover", "{1}", NULL}, text);
	if (fixture_stat(name_of(run, 0), &stat) && outcome != DIED && run->held == 0) {
		const uint64_t others = count_holders(run);
		const bool holds = effect == EFFECT_HOLDS ? outcome == DONE : effect == EFFECT_RELEASES && outcome != DONE;
		if (stat.held != others + holds)
			run_fault(run, "%llu permits are held instead of %llu", (unsigned long long)stat.held,
			          (unsigned long long)(others + holds));
	}
	companion_kill(&fixture->processes, fixture->owner);
}

/* ---- when all processes have ended ---- */

static void
check_absence(struct run *run, enum outcome outcome)
{
	const enum effect effect = run->point->situation->effect;
	const bool may_be_gone = (effect == EFFECT_REMOVES && outcome != REFUSED)
	                         || (effect == EFFECT_CREATES && outcome != DONE) || run->held != 0;
	if (!may_be_gone)
		run_fault(run, "the semaphore is gone");
	const int rc = run->fixture.old[0] == NULL ? -EIDRM : try_removed(run->fixture.old[0]);
	if (rc != -EIDRM)
		run_fault(run, "the name is gone, and an old handle admits: %d", rc);
}

static void
check_presence(struct run *run, enum outcome outcome)
{
	const struct situation *situation = run->point->situation;
	if (run->held != 0)
		return;
	if (situation->effect == EFFECT_REMOVES && outcome == DONE)
		run_fault(run, "the semaphore is still there");
	if (situation->effect == EFFECT_CREATES && outcome == REFUSED && strcmp(situation->words[0], "create") == 0)
		run_fault(run, "the command failed, and left a semaphore");
}

static void
check_balance(struct run *run, const char *name, uint64_t least, uint64_t most)
{
	struct tsem_stat stat;
	char text[256];
	if (!fixture_stat(name, &stat))
		return;
	if (!is_at_rest(&stat, stat.capacity - most, stat.capacity - least, text))
		run_fault(run, "all processes have ended: %s", text);
	const int expected = stat.available > 0 ? 0 : EXIT_NOT_ACQUIRED;
	const int status = fixture_run(&run->fixture, (const char *const[]){"run", "-n", name, "{work}", "0", NULL}, text);
	if (status != expected)
		run_fault(run, "'run -n' exits with %d instead of %d: %s", status, expected, text);
}

/*
 * A creator that cannot make files without a name leaves a temporary one when it is killed. The next such creator must
 * remove it.
 */
static void
create_another(struct run *run)
{
	struct fixture *fixture = &run->fixture;
	char text[256];
	run->over = true;
	fixture_start(fixture, (const char *const[]){"create", "{2}", NULL});
	while (!processes_are_gone(&fixture->processes))
		processes_await(&fixture->processes, 100);
	fixture_end_input(fixture);
	if (fixture->processes.status[ROLE_COMMAND] != 0
	    || fixture_run(fixture, (const char *const[]){"remove", "{2}", NULL}, text) != 0)
		run_fault(run, "the next 'tsem create' fails");
}

#define JOBS_PREFIX "tsem-jobs." /* of the file of the jobs that `tsem run --bg` has handed in */

/* A background job that was started, and that nothing has happened to, succeeds, whatever happens to its caller. */
static void
check_job(struct run *run)
{
	const struct point *point = run->point;
	const bool spared = point->action != ACTION_KILL_CHILD && point->action != ACTION_KILL_BOTH
	                    && (point->action != ACTION_ERROR || point->role != ROLE_CHILD);
	char text[256] = "no file";
	int pid = 0;
	int status = -1;
	if (!has(run, BACKGROUND) || !run->fixture.tools->alone || !spared || run->removed
	    || run->fixture.processes.pid[ROLE_CHILD] == 0)
		return;
	glob_t files = {0};
	if (glob("/dev/shm/" JOBS_PREFIX "*", 0, NULL, &files) == 0) {
		const int fd = open(files.gl_pathv[0], O_RDONLY | O_CLOEXEC);
		read_text(fd, text, sizeof(text));
		close(fd);
	}
	globfree(&files);
	sscanf(text, "%d %d", &pid, &status);
	if (pid != run->fixture.processes.pid[ROLE_CHILD] || status != 7)
		run_fault(run, "the job has not exited with 7: %s", text);
}

/* No other file is left. */
static void
check_files(struct run *run, bool exists)
{
	/* unlink() was made to fail, so a file may be left */
	const bool looks = run->fixture.tools->alone && !has_failed(run, "unlink");
	DIR *directory = looks ? opendir("/dev/shm") : NULL;
	const struct dirent *entry;
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		const char *name = entry->d_name;
		const bool is_own =
			strncmp(name, "tsem.", 5) == 0
			&& ((strcmp(name + 5, name_of(run, 0)) == 0 && (exists || run->point->situation->effect == EFFECT_REMOVES))
		        || (strcmp(name + 5, name_of(run, 1)) == 0 && has(run, SECOND)));
		if (!is_own && !(has(run, BACKGROUND) && strncmp(name, JOBS_PREFIX, strlen(JOBS_PREFIX)) == 0)
		    && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
			run_fault(run, "a file is left: /dev/shm/%s", name);
	}
	if (directory != NULL)
		closedir(directory);
}

/* The permits of a command that was not killed are back before another process looks for the dead. */
static void
check_at_once(struct run *run, enum outcome outcome, const struct tsem_stat *stat)
{
	const uint64_t holders = count_holders(run);
	if (has(run, RUNS) && outcome != DIED && run->held == 0 && stat->held != holders && !has(run, DEAD_HOLDER))
		run_fault(run, "the command has ended, and %llu permits are still held",
		          (unsigned long long)(stat->held - holders));
}

void
invariants_check_end(struct run *run)
{
	struct tsem_stat stat;
	char text[256];
	uint64_t least;
	uint64_t most;
	const enum outcome outcome = check_end(run);
	bool exists = fixture_stat(name_of(run, 0), &stat);
	if (!exists && run->fixture.newcomer != NULL && strcmp(run->point->situation->words[1], "-f") != 0)
		run_fault(run, "the command has removed the next semaphore of that name, which is in use");
	if (exists)
		check_at_once(run, outcome, &stat);
	check_owner(run, outcome);
	if (run->fixture.waiter != NULL && !run->removed)
		check_waiter(run, outcome, &stat, exists);
	end_companions(run);
	for (unsigned i = 0; i < 2; i++) {
		struct tsem_stat one;
		const char *const words[] = {"recover", name_of(run, i), NULL};
		if (fixture_stat(name_of(run, i), &one) && fixture_run(&run->fixture, words, text) != 0)
			run_fault(run, "'recover' fails: %s", text);
	}
	exists = fixture_stat(name_of(run, 0), &stat);
	if (exists) {
		check_presence(run, outcome);
		check_capacity(run, outcome, stat.capacity);
		expect_taken(run, outcome, &least, &most);
		check_balance(run, name_of(run, 0), least, most);
	} else {
		check_absence(run, outcome);
	}
	check_balance(run, name_of(run, 1), 0, 0);
	if (has(run, LINKED))
		create_another(run);
	check_job(run);
	check_files(run, exists);
}

/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TESTS_MAX = 160, NAMES_MAX = 512, NAME_ROOM = 64, PATH_ROOM = 300 };

static char names[NAMES_MAX][NAME_ROOM];
static size_t names_used;
static pid_t cleaner; /* the process that removes the files: children inherit the list */

/* Async-signal-safe: it also runs in the handler of the deadline. */
static void
remove_names(void)
{
	static const char head[] = "/dev/shm/tsem.";
	if (getpid() != cleaner)
		return;
	for (size_t i = 0; i < names_used; i++) {
		char path[PATH_ROOM];
		memcpy(path, head, sizeof(head) - 1);
		memcpy(path + sizeof(head) - 1, names[i], NAME_ROOM);
		if (unlink(path) != 0 && errno == EISDIR)
			rmdir(path);
	}
}

static void
ended_early(int signal_number)
{
	static const char message[] = "\nBail out! ended by its deadline or by SIGTERM\n";
	remove_names();
	if (write(STDOUT_FILENO, message, sizeof(message) - 1) < 0)
		_exit(99);
	_exit(128 + signal_number);
}

static void
bound_time(unsigned seconds)
{
	cleaner = getpid();
	atexit(remove_names);
	signal(SIGALRM, ended_early);
	signal(SIGTERM, ended_early);
	alarm(3 * seconds); /* some machines are that much slower */
}

/* ---- the tests of the program ---- */

static struct CMUnitTest tests[TESTS_MAX];
static int lines[TESTS_MAX];
static size_t tests_registered;

void
register_test(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up, CMFixtureFunction tear_down,
              const void *initial_state, int line)
{
	size_t at = tests_registered++;
	if (at == TESTS_MAX)
		abort();
	/* The compiler may call constructors in any order. */
	for (; at > 0 && lines[at - 1] > line; at--) {
		tests[at] = tests[at - 1];
		lines[at] = lines[at - 1];
	}
	tests[at] = (struct CMUnitTest){name, test, set_up, tear_down, (void *)(uintptr_t)initial_state};
	lines[at] = line;
}

/* The environment variable has the names of tests that cannot pass on this platform, one in each line. */
static bool
is_left_out(const char *name)
{
	const char *all = getenv("TSEM_TESTS_LEFT_OUT");
	const size_t length = strlen(name);
	for (const char *at = all; at != NULL && (at = strstr(at, name)) != NULL; at++) {
		if ((at == all || at[-1] == '\n') && (at[length] == '\n' || at[length] == '\0'))
			return true;
	}
	return false;
}

static void
leave_out(void **state)
{
	(void)state;
	SKIP("TSEM_TESTS_LEFT_OUT names it");
}

int
run_all_tests(unsigned seconds)
{
	bound_time(seconds);
	for (size_t i = 0; i < tests_registered; i++) {
		if (is_left_out(tests[i].name))
			tests[i] = (struct CMUnitTest){.name = tests[i].name, .test_func = leave_out};
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

__attribute__((weak)) int
main(void)
{
	return run_all_tests(110);
}

/* ---- names and semaphores ---- */

const char *
fresh_name_after(const char *beginning)
{
	unsigned random;
	if (names_used == NAMES_MAX || getrandom(&random, sizeof(random), 0) != sizeof(random))
		abort();
	char *name = names[names_used++];
	if (snprintf(name, NAME_ROOM, "%stest.%d.%zu.%08x", beginning, (int)getpid(), names_used, random) >= NAME_ROOM)
		abort();
	return name;
}

const char *
fresh_name(void)
{
	return fresh_name_after("");
}

const char *
file_of(const char *name)
{
	static char path[PATH_ROOM];
	snprintf(path, sizeof(path), "/dev/shm/tsem.%s", name);
	return path;
}

tsem *
new_semaphore_named(const char *name, uint32_t permits, uint32_t max)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = permits, .max = max};
	tsem *sem = NULL;
	const int rc = tsem_create(name, &config, &sem);
	if (rc != 0)
		fail_msg("tsem_create(%s): %s", name, strerror(-rc));
	return sem;
}

tsem *
new_semaphore(uint32_t permits, uint32_t max)
{
	return new_semaphore_named(fresh_name(), permits, max);
}

tsem *
open_semaphore(const char *name)
{
	tsem *sem = NULL;
	const int rc = tsem_open(name, 0, &sem);
	if (rc != 0)
		fail_msg("tsem_open(%s): %s", name, strerror(-rc));
	return sem;
}

struct tsem_stat
stat_of(tsem *sem)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	const int rc = tsem_stat(sem, &stat);
	if (rc != 0)
		fail_msg("tsem_stat: %s", strerror(-rc));
	return stat;
}

void
expect_at_rest(tsem *sem, uint32_t capacity)
{
	const struct tsem_stat stat = stat_of(sem);
	assert_int_equal(stat.available, capacity);
	assert_int_equal(stat.held, 0);
	assert_int_equal(stat.waiting, 0);
	assert_int_equal(stat.ticket, stat.grant);
}

/* With cmocka's handlers, which jump back into the list of tests, the child would run the next test. */
static void
die_of_faults(void)
{
	static const int faults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGALRM, SIGTERM};
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		signal(faults[i], SIG_DFL);
}

/* Without the parent's exit handlers; but with coverage, one of these writes the counters. */
static _Noreturn void
leave(int status)
{
#ifdef TSEM_COVERAGE
	exit(status);
#else
	_exit(status);
#endif
}

pid_t
start_child(int (*body)(void *arg), void *arg)
{
	const pid_t parent = getpid();
	fflush(stdout);
	const pid_t pid = fork();
	if (pid < 0)
		fail_msg("fork: %s", strerror(errno));
	if (pid == 0) {
		die_of_faults();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(98);
		leave(body(arg));
	}
	return pid;
}

int
stay_until_killed(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return 0;
}

int
take_one(void *sem)
{
	return -tsem_take(sem, 1, NULL);
}

int
acquire_one(void *sem)
{
	tsem_hold hold;
	return -tsem_acquire(sem, 1, NULL, &hold);
}

int
hold_until_killed(void *sem)
{
	tsem_hold hold;
	return tsem_acquire(sem, 1, NULL, &hold) == 0 ? stay_until_killed(NULL) : 1;
}

void *
shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail_msg("mmap of %zu bytes: %s", size, strerror(errno));
	return memory;
}

int
end_of_child(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			fail_msg("waitpid: %s", strerror(errno));
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void
kill_child(pid_t pid)
{
	kill(pid, SIGKILL);
	end_of_child(pid);
}

void
await_zombie(pid_t pid)
{
	siginfo_t info;
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0) {
		if (errno != EINTR)
			fail_msg("waitid: %s", strerror(errno));
	}
}

struct timespec
deadline_in(long milliseconds)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += milliseconds / 1000;
	ts.tv_nsec += milliseconds % 1000 * 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

bool
deadline_has_passed(const struct timespec *deadline)
{
	const struct timespec now = deadline_in(0);
	return now.tv_sec > deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

void
pause_a_moment(void)
{
	const struct timespec moment = {.tv_nsec = 500000};
	nanosleep(&moment, NULL);
}

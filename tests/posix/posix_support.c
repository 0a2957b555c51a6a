/* SPDX-License-Identifier: MIT */
#include "posix_support.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- names ---- */

static const char prefix[] = "posix.";

const char *
fresh_posix_name(void)
{
	enum { NAMES_MAX = 400, ROOM = 64 };
	static char names[NAMES_MAX][ROOM];
	static size_t used;
	if (used == NAMES_MAX)
		abort();
	char *name = names[used++];
	snprintf(name, ROOM, "/%s", fresh_name_after(prefix) + sizeof(prefix) - 1);
	return name;
}

const char *
tsem_name_of(const char *posix)
{
	static char name[300];
	snprintf(name, sizeof(name), "%s%s", prefix, posix[0] == '/' ? posix + 1 : posix);
	return name;
}

tsem *
look_at(const char *posix)
{
	tsem *look = NULL;
	const int rc = tsem_open(tsem_name_of(posix), TSEM_FOREIGN | TSEM_READ_ONLY, &look);
	if (rc != 0)
		fail_msg("tsem_open(%s): %s", tsem_name_of(posix), strerror(-rc));
	return look;
}

uint32_t
waiting_for(const char *posix)
{
	tsem *look;
	struct tsem_stat stat = {.size = sizeof(stat)};
	if (tsem_open(tsem_name_of(posix), TSEM_FOREIGN | TSEM_READ_ONLY, &look) != 0)
		return UINT32_MAX;
	const int rc = tsem_stat(look, &stat);
	tsem_close(look);
	return rc == 0 ? stat.waiting : UINT32_MAX;
}

static int
add_owned(const struct tsem_owner *owner, void *sum)
{
	if (owner->position == 0)
		*(uint32_t *)sum += owner->count;
	return 0;
}

uint32_t
owned_permits(tsem *look)
{
	uint32_t sum = 0;
	const int rc = tsem_owners(look, add_owned, &sum);
	if (rc != 0)
		fail_msg("tsem_owners: %s", strerror(-rc));
	return sum;
}

/* ---- semaphores ---- */

sem_t *
new_posix(const char *posix, unsigned value)
{
	sem_t *sem = sem_open(posix, O_CREAT | O_EXCL, 0600, value);
	if (sem == SEM_FAILED)
		fail_msg("sem_open(%s): %s", posix, strerror(errno));
	return sem;
}

sem_t *
open_posix(const char *posix)
{
	sem_t *sem = sem_open(posix, 0);
	if (sem == SEM_FAILED)
		fail_msg("sem_open(%s): %s", posix, strerror(errno));
	return sem;
}

int
value_of(sem_t *sem)
{
	int value = INT_MIN;
	return sem_getvalue(sem, &value) == 0 ? value : INT_MIN;
}

bool
with_holds(void)
{
	return getenv("TSEM_POSIX_HOLDS") != NULL;
}

/* ---- calls that block ---- */

struct timespec
time_from_now(clockid_t clock, long milliseconds)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	ts.tv_sec += milliseconds / 1000;
	ts.tv_nsec += milliseconds % 1000 * 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

enum { HOUR_MS = 3600000 };

static int
wait_plainly(sem_t *sem)
{
	return sem_wait(sem);
}

static int
wait_for_an_hour(sem_t *sem)
{
	const struct timespec deadline = time_from_now(CLOCK_REALTIME, HOUR_MS);
	return sem_timedwait(sem, &deadline);
}

static int
wait_for_an_hour_of_clock(sem_t *sem, clockid_t clock)
{
	const struct timespec deadline = time_from_now(clock, HOUR_MS);
	return sem_clockwait(sem, clock, &deadline);
}

static int
wait_for_an_hour_realtime(sem_t *sem)
{
	return wait_for_an_hour_of_clock(sem, CLOCK_REALTIME);
}

static int
wait_for_an_hour_monotonic(sem_t *sem)
{
	return wait_for_an_hour_of_clock(sem, CLOCK_MONOTONIC);
}

const struct blocking_call blocking_calls[BLOCKING_CALLS] = {
	{"sem_wait()", wait_plainly},
	{"sem_timedwait()", wait_for_an_hour},
	{"sem_clockwait(CLOCK_REALTIME)", wait_for_an_hour_realtime},
	{"sem_clockwait(CLOCK_MONOTONIC)", wait_for_an_hour_monotonic},
};

/* ---- processes ---- */

pid_t
start_in_pid_namespace(int (*body)(void *arg), void *arg)
{
	const int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	if (own < 0 || unshare(CLONE_NEWPID) != 0) {
		close(own);
		return -1;
	}
	const pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(body(arg));
	}
	assert_true(pid > 0);
	assert_int_equal(setns(own, CLONE_NEWPID), 0); /* for later children */
	close(own);
	return pid;
}

enum { BOUND_S = 60 };

struct bounded {
	int (*body)(void *arg);
	void *arg;
};

static int
run_until_alarm(void *arg)
{
	const struct bounded *bounded = arg;
	alarm(BOUND_S);
	return bounded->body(bounded->arg);
}

pid_t
start_bounded(int (*body)(void *arg), void *arg)
{
	struct bounded bounded = {body, arg};
	return start_child(run_until_alarm, &bounded);
}

int
run_bounded(int (*body)(void *arg), void *arg)
{
	return end_of_child(start_bounded(body, arg));
}

struct waiter *this_waiter;

static int
wait_and_stay(void *arg)
{
	struct waiter *waiter = arg;
	this_waiter = waiter;
	CHECK(waiter->prepare == NULL || waiter->prepare(waiter) == 0);
	errno = 0;
	waiter->rc = waiter->wait(waiter->sem);
	waiter->error = errno;
	waiter->is_back = true;
	AWAIT(waiter->may_end);
	return 0;
}

struct waiter *
new_waiter_prepared(sem_t *sem, int (*wait)(sem_t *sem), int (*prepare)(struct waiter *waiter))
{
	struct waiter *waiter = shared_memory(sizeof(*waiter));
	waiter->sem = sem;
	waiter->wait = wait;
	waiter->prepare = prepare;
	waiter->pid = start_bounded(wait_and_stay, waiter);
	return waiter;
}

struct waiter *
new_waiter(sem_t *sem, int (*wait)(sem_t *sem))
{
	return new_waiter_prepared(sem, wait, NULL);
}

/* The letter after the name of the program, which is in brackets. */
static char
state_of(pid_t pid)
{
	char path[64], line[512] = "";
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return '?';
	const size_t length = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[length] = '\0';
	const char *bracket = strrchr(line, ')');
	return bracket == NULL || bracket[1] == '\0' ? '?' : bracket[2];
}

void
await_sleep(pid_t pid)
{
	EVENTUALLY(state_of(pid) == 'S');
}

void
expect_success(struct waiter *waiter)
{
	EVENTUALLY(waiter->is_back);
	if (waiter->rc != 0)
		fail_msg("the call failed with %s", strerror(waiter->error));
}

void
expect_failure(struct waiter *waiter, int error)
{
	EVENTUALLY(waiter->is_back);
	assert_int_equal(waiter->rc, -1);
	assert_int_equal(waiter->error, error);
}

void
end_waiter(struct waiter *waiter)
{
	waiter->may_end = true;
	assert_int_equal(end_of_child(waiter->pid), 0);
	munmap(waiter, sizeof(*waiter));
}

void
kill_waiter(struct waiter *waiter)
{
	kill_child(waiter->pid);
	munmap(waiter, sizeof(*waiter));
}

void
stop_child(pid_t pid)
{
	int status = 0;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	while (waitpid(pid, &status, WUNTRACED) < 0) {
		if (errno != EINTR)
			fail_msg("waitpid: %s", strerror(errno));
	}
	assert_true(WIFSTOPPED(status));
}

/* SPDX-License-Identifier: MIT */
#include "jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "message.h"
#include "monotonic.h"

#define DIRECTORY "/dev/shm"
#define PREFIX "tsem-jobs."

enum {
	LINE_BYTES = 15, /* "PID STATUS\n", in columns of 10 and 3 */
	STATUS_AT = 11,
	PATH_BYTES = sizeof(DIRECTORY) + 2 * NAME_MAX,
};

static int own_fd = -1;
static off_t own_line;

/* ---- the file ---- */

/* What the files of this user's sessions begin with. A session's number means nothing in another PID namespace. */
static void
prefix(char text[NAME_MAX])
{
	struct stat ns = {.st_ino = 0};
	stat("/proc/self/ns/pid", &ns);
	snprintf(text, NAME_MAX, PREFIX "%u.%ju.", (unsigned)geteuid(), (uintmax_t)ns.st_ino);
}

static void
path_of(const char *name, pid_t session, char path[PATH_BYTES])
{
	char begin[NAME_MAX];
	prefix(begin);
	snprintf(path, PATH_BYTES, DIRECTORY "/%s%d.%s", begin, (int)session, name);
}

/* Opens the file; -ENOENT. Another user may have made one of that name. */
static int
open_file(const char *name, const char *path, int flags)
{
	struct stat st;
	const int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		die(name, "cannot open '%s' for the jobs of this session: %s (remove that file)", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		die(name, "'%s', for the jobs of this session, belongs to another user (remove that file)", path);
	return fd;
}

static bool
is_removed(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

/* ---- sessions that have ended ---- */

static bool
session_lives(pid_t session)
{
	bool lives = getsid(session) == session;
	DIR *proc = lives ? NULL : opendir("/proc");
	const struct dirent *entry;
	while (proc != NULL && !lives && (entry = readdir(proc)) != NULL) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		lives = pid > 0 && getsid(pid) == session;
	}
	if (proc != NULL)
		closedir(proc);
	return lives;
}

void
jobs_remove_leftovers(void)
{
	char begin[NAME_MAX];
	DIR *directory = opendir(DIRECTORY);
	const struct dirent *entry;
	prefix(begin);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		if (strncmp(entry->d_name, begin, strlen(begin)) != 0
		    || session_lives((pid_t)strtol(entry->d_name + strlen(begin), NULL, 10)))
			continue;
		const int fd = openat(dirfd(directory), entry->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(dirfd(directory), entry->d_name, 0);
		if (fd >= 0)
			close(fd);
	}
	if (directory != NULL)
		closedir(directory);
}

/* ---- a job ---- */

void
jobs_enter(const char *name, pid_t session)
{
	char path[PATH_BYTES];
	path_of(name, session, path);
	for (;;) {
		own_fd = open_file(name, path, O_CREAT);
		while (flock(own_fd, LOCK_SH) != 0) {
			if (errno != EINTR)
				die_error(name, -errno);
		}
		if (!is_removed(own_fd))
			return;
		close(own_fd); /* `wait --status` has just collected the jobs before */
	}
}

void
jobs_hand_in(const char *name)
{
	char line[LINE_BYTES + 1];
	snprintf(line, sizeof(line), "%10d %-3s\n", (int)getpid(), "");
	/* Appended: other jobs do the same. The line is then overwritten at its place, which needs no more room. */
	const int flags = fcntl(own_fd, F_GETFL);
	fcntl(own_fd, F_SETFL, flags | O_APPEND);
	if (write(own_fd, line, LINE_BYTES) != LINE_BYTES)
		die_error(name, -ENOSPC);
	own_line = lseek(own_fd, 0, SEEK_CUR) - LINE_BYTES;
	fcntl(own_fd, F_SETFL, flags);
}

void
jobs_end(int status)
{
	char line[LINE_BYTES + 1];
	snprintf(line, sizeof(line), "%10d %-3d\n", (int)getpid(), status);
	if (pwrite(own_fd, line, LINE_BYTES, own_line) != LINE_BYTES)
		return; /* it counts as killed */
}

/* ---- the wait ---- */

int
jobs_open(const char *name)
{
	char path[PATH_BYTES];
	path_of(name, getsid(0), path);
	return open_file(name, path, 0);
}

static void
do_nothing(int number)
{
	(void)number;
}

/* The timer goes on, because the first signal may come before flock() sleeps. */
static int
lock_until(int fd, const struct timespec *deadline)
{
	enum { AGAIN_US = 50000 };
	const struct sigaction action = {.sa_handler = do_nothing};
	const uint64_t now = monotonic_ns();
	const uint64_t until = (uint64_t)deadline->tv_sec * NS_PER_SECOND + (uint64_t)deadline->tv_nsec;
	const uint64_t us = until > now ? (until - now) / 1000 + 1 : 1;
	const struct itimerval timer = {
		.it_value = {.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)},
		.it_interval = {.tv_usec = AGAIN_US},
	};
	const struct itimerval none = {.it_value = {.tv_sec = 0}};
	struct sigaction old;
	sigset_t alarm, mask;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigaction(SIGALRM, &action, &old);
	sigprocmask(SIG_UNBLOCK, &alarm, &mask);
	setitimer(ITIMER_REAL, &timer, NULL);
	const int rc = flock(fd, LOCK_EX) == 0 ? 0 : monotonic_ns() >= until ? -ETIMEDOUT : -errno;
	setitimer(ITIMER_REAL, &none, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGALRM, &old, NULL);
	return rc;
}

int
jobs_wait(int fd, const struct timespec *deadline)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (deadline != NULL)
		return lock_until(fd, deadline);
	return flock(fd, LOCK_EX) == 0 ? 0 : -errno;
}

int
jobs_collect(int fd, const char *name)
{
	char path[PATH_BYTES];
	char line[LINE_BYTES + 1] = "";
	int first = EXIT_DONE;
	for (off_t at = 0; first == EXIT_DONE && pread(fd, line, LINE_BYTES, at) == LINE_BYTES; at += LINE_BYTES) {
		const char *status = line + STATUS_AT;
		/* Without one, the job was killed before it could say. */
		first = *status == ' ' ? EXIT_SIGNAL_BASE + SIGKILL : (int)strtol(status, NULL, 10);
	}
	path_of(name, getsid(0), path);
	if (!is_removed(fd)) /* by another `wait --status`, after which there may be a new file */
		unlink(path);
	close(fd);
	return first;
}

/* SPDX-License-Identifier: MIT */
#include "jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "monotonic.h"
#include "tsem.h"

#define DIRECTORY "/dev/shm"

enum {
	LINE_BYTES = 15, /* "PID STATUS\n", in columns of 10 and 3 */
	STATUS_AT = 11,
	NOT_HANDED_IN = '-', /* in place of the status */
	RUNNING = ' ',
	NAME_BYTES = NAME_MAX + 1,
	PATH_BYTES = sizeof(DIRECTORY) + NAME_BYTES,
};

/* The file of the caller's session. A process is a job of it, or waits for its jobs. */
static struct {
	char path[PATH_BYTES];
	int fd;
	off_t line; /* of this job */
} jobs = {.fd = -1};

/* ---- sessions ---- */

/*
 * Numbers of processes, and of PID namespaces, come again. So a session is told apart by its leader; by the first
 * process of the namespace if the leader is outside. 0: that process has ended.
 */
static uint64_t
leader_of(pid_t session)
{
	tsem_process leader;
	uint64_t all = 0;
	if (tsem_find_process(session != 0 ? session : 1, &leader) < 0)
		return 0;
	for (size_t i = 0; i < sizeof(leader.private_words) / sizeof(leader.private_words[0]); i++)
		all ^= leader.private_words[i];
	return all;
}

static bool
has_processes(pid_t session)
{
	bool found = false;
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	while (proc != NULL && !found && (entry = readdir(proc)) != NULL) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		found = pid > 0 && getsid(pid) == session;
	}
	if (proc != NULL)
		closedir(proc);
	return found;
}

/* ---- the names of the files ---- */

/* What the names begin with in this PID namespace: the numbers of a session mean nothing in another one. */
static void
put_prefix(char text[NAME_BYTES])
{
	struct stat ns = {.st_ino = 0};
	stat("/proc/self/ns/pid", &ns);
	snprintf(text, NAME_BYTES, "tsem-jobs.%x.%jx.", (unsigned)geteuid(), (uintmax_t)ns.st_ino);
}

/* Calls `act` for each file of this user whose name begins with `prefix`, until it returns true. */
static void
for_each_file(const char *prefix, bool (*act)(int directory, const char *file, size_t prefix_length, void *arg),
              void *arg)
{
	const size_t length = strlen(prefix);
	DIR *directory = opendir(DIRECTORY);
	const struct dirent *entry;
	struct stat st;
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		if (strncmp(entry->d_name, prefix, length) == 0
		    && fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == geteuid()
		    && act(dirfd(directory), entry->d_name, length, arg))
			break;
	}
	if (directory != NULL)
		closedir(directory);
}

struct wanted {
	const char *name;
	char file[NAME_BYTES];
};

static bool
is_wanted(int directory, const char *file, size_t prefix_length, void *arg)
{
	struct wanted *wanted = arg;
	const char *name = strchr(file + prefix_length, '.');
	(void)directory;
	if (name == NULL || strcmp(name + 1, wanted->name) != 0)
		return false;
	snprintf(wanted->file, sizeof(wanted->file), "%s", file);
	return true;
}

/* If the leader of the session has ended, the file has its identity all the same. */
static void
find_path(const char *name, pid_t session)
{
	struct wanted wanted = {.name = name};
	char prefix[NAME_BYTES];
	const uint64_t leader = leader_of(session);
	put_prefix(prefix);
	const size_t length = strlen(prefix);
	snprintf(prefix + length, sizeof(prefix) - length, "%x.", (unsigned)session);
	if (leader == 0)
		for_each_file(prefix, is_wanted, &wanted);
	if (wanted.file[0] != '\0')
		snprintf(jobs.path, sizeof(jobs.path), DIRECTORY "/%s", wanted.file);
	else
		snprintf(jobs.path, sizeof(jobs.path), DIRECTORY "/%.60s%" PRIx64 ".%s", prefix, leader, name);
}

/* ---- sessions that have ended ---- */

static bool
remove_leftover(int directory, const char *file, size_t prefix_length, void *arg)
{
	char *end;
	const pid_t session = (pid_t)strtol(file + prefix_length, &end, 16);
	const uint64_t leader = leader_of(session);
	const bool lives = leader != 0 ? leader == strtoull(end + (*end != '\0'), NULL, 16) : has_processes(session);
	(void)arg;
	const int fd = lives ? -1 : openat(directory, file, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(directory, file, 0);
	if (fd >= 0)
		close(fd);
	return false;
}

void
jobs_remove_leftovers(void)
{
	char prefix[NAME_BYTES];
	put_prefix(prefix);
	for_each_file(prefix, remove_leftover, NULL);
}

/* ---- the file ---- */

/* False: there is none. Another user may have made one of that name. */
static bool
open_file(const char *name, int flags)
{
	struct stat st;
	const char *path = jobs.path;
	const int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
	const int error = errno;
	if (fd < 0 && error == ENOENT)
		return false;
	if (fd < 0 && lstat(path, &st) != 0)
		die(name, "cannot make '%s' for the jobs of this session: %s", path, strerror(error));
	if ((fd >= 0 && fstat(fd, &st) != 0) || st.st_uid != geteuid() || !S_ISREG(st.st_mode))
		die(name, "'%s' is in the way of the jobs of this session (let its owner or root remove it)", path);
	if (fd < 0)
		die(name, "cannot open '%s' for the jobs of this session: %s", path, strerror(error));
	fchmod(fd, 0600); /* whatever the umask is */
	jobs.fd = fd;
	return true;
}

static bool
is_removed(void)
{
	struct stat st;
	return fstat(jobs.fd, &st) == 0 && st.st_nlink == 0;
}

static int
lock(int operation)
{
	while (flock(jobs.fd, operation) != 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* ---- a job ---- */

static void
open_and_lock(const char *name)
{
	for (;;) {
		open_file(name, O_CREAT);
		const int rc = lock(LOCK_SH);
		if (rc < 0)
			die_error(name, rc);
		if (!is_removed())
			return;
		close(jobs.fd); /* `wait --status` has just collected the jobs before */
	}
}

/* The line is overwritten at its place later, which needs no more room. */
void
jobs_enter(const char *name, pid_t session)
{
	char line[LINE_BYTES + 1];
	struct rlimit limit;
	struct stat st;
	find_path(name, session);
	open_and_lock(name);
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && fstat(jobs.fd, &st) == 0
	    && limit.rlim_cur < (rlim_t)st.st_size + LINE_BYTES)
		die_error(name, -EFBIG); /* the kernel would send SIGXFSZ */
	snprintf(line, sizeof(line), "%10d %-3c\n", (int)getpid(), NOT_HANDED_IN);
	/* Appended: other jobs do the same. */
	const int flags = fcntl(jobs.fd, F_GETFL);
	fcntl(jobs.fd, F_SETFL, flags | O_APPEND);
	if (write(jobs.fd, line, LINE_BYTES) != LINE_BYTES)
		die_error(name, -ENOSPC);
	jobs.line = lseek(jobs.fd, 0, SEEK_CUR) - LINE_BYTES;
	fcntl(jobs.fd, F_SETFL, flags);
}

static void
write_status(const char *text, size_t length)
{
	if (pwrite(jobs.fd, text, length, jobs.line + STATUS_AT) != (ssize_t)length)
		complain(NULL, "%s: %s ('tsem wait --status' does not learn the status of this job)", jobs.path,
		         strerror(errno));
}

void
jobs_hand_in(void)
{
	const char running = RUNNING;
	write_status(&running, 1);
}

void
jobs_end(int status)
{
	char text[4];
	snprintf(text, sizeof(text), "%-3d", status);
	write_status(text, 3);
}

/* ---- the wait ---- */

bool
jobs_open(const char *name)
{
	find_path(name, getsid(0));
	return open_file(name, 0);
}

/* flock() has no deadline. */
static int
lock_until(const struct timespec *deadline)
{
	static const struct timespec moment = {.tv_nsec = 10 * NS_PER_MS};
	const uint64_t until = (uint64_t)deadline->tv_sec * NS_PER_SECOND + (uint64_t)deadline->tv_nsec;
	while (flock(jobs.fd, LOCK_EX | LOCK_NB) != 0) {
		if (monotonic_ns() >= until)
			return -ETIMEDOUT;
		nanosleep(&moment, NULL);
	}
	return 0;
}

int
jobs_wait(const struct timespec *deadline)
{
	return deadline != NULL ? lock_until(deadline) : lock(LOCK_EX);
}

/*
 * Reads the next line. False: there is none. A job that found shared memory full may have left the beginning of one in
 * front of it.
 */
static bool
read_line(FILE *file, int *pid, const char **status)
{
	static char line[4 * LINE_BYTES];
	size_t length;
	do {
		if (fgets(line, sizeof(line), file) == NULL)
			return false;
		length = strlen(line);
	} while (length < LINE_BYTES || line[length - 1] != '\n');
	*pid = (int)strtol(line + length - LINE_BYTES, NULL, 10);
	*status = line + length - LINE_BYTES + STATUS_AT;
	return true;
}

size_t
jobs_count_running(int *first)
{
	FILE *file = fdopen(jobs.fd, "r");
	const char *status;
	size_t n = 0;
	int pid;
	while (file != NULL && read_line(file, &pid, &status)) {
		if (*status == RUNNING && n++ == 0)
			*first = pid;
	}
	return n;
}

int
jobs_collect(void)
{
	FILE *file = fdopen(jobs.fd, "r");
	const char *status;
	int first = EXIT_DONE;
	int pid;
	while (file != NULL && first == EXIT_DONE && read_line(file, &pid, &status)) {
		if (*status == RUNNING) /* it was killed before it could say */
			first = EXIT_SIGNAL_BASE + SIGKILL;
		else if (*status != NOT_HANDED_IN)
			first = (int)strtol(status, NULL, 10);
	}
	if (!is_removed()) /* by another `wait --status`, after which there may be a new file */
		unlink(jobs.path);
	return first;
}

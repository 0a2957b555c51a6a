/* SPDX-License-Identifier: MIT */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command.h"
#include "jobs.h"
#include "message.h"

static struct {
	const struct options *o;
	int report; /* a socket to the caller's process, which waits for its status; -1: it has been told */
	int status; /* of the job */
} job = {.report = -1, .status = EXIT_TSEM_FAILED};

/* ---- the log ---- */

/* The name of the log: %n is the name of the semaphore, %p the number of this process. */
static void
expand(const struct options *o, char path[PATH_MAX])
{
	size_t n = 0;
	for (const char *at = o->log; *at != '\0' && n < PATH_MAX; at++) {
		char *end = path + n;
		const size_t room = PATH_MAX - n;
		if (*at != '%')
			n += (size_t)snprintf(end, room, "%c", *at);
		else if (*++at == 'n')
			n += (size_t)snprintf(end, room, "%s", o->name);
		else if (*at == 'p')
			n += (size_t)snprintf(end, room, "%d", (int)getpid());
		else if (*at == '%')
			n += (size_t)snprintf(end, room, "%%");
		else
			die(o->name, "--log '%s' has an unknown field (use %%n for the name, %%p for the process, %%%% for %%)",
			    o->log);
	}
	if (n >= PATH_MAX)
		die(o->name, "--log: the name is too long (use a shorter one)");
}

static int
open_log(const struct options *o)
{
	char path[PATH_MAX];
	expand(o, path);
	/* A FIFO without a reader is an error, instead of a wait for one. */
	const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0666);
	if (fd < 0)
		die(o->name, "cannot write the log '%s': %s (nothing was handed in)", path, strerror(errno));
	fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

/* Ends the last line of the command's output if it is open. */
static void
begin_line(void)
{
	char last = '\n';
	const off_t end = lseek(STDERR_FILENO, 0, SEEK_END);
	const int fd = end > 0 ? open("/proc/self/fd/2", O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	if (fd >= 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n')
		write_stderr("\n", 1);
	if (fd >= 0)
		close(fd);
}

/* ---- the process ---- */

/* The caller's process returns with this status. */
static void
report(int status)
{
	const unsigned char byte = (unsigned char)status;
	send(job.report, &byte, 1, MSG_NOSIGNAL);
	close(job.report);
	job.report = -1;
}

static void
end_job(void)
{
	if (job.report >= 0) {
		report(job.status);
		return;
	}
	jobs_end(job.status); /* first: the log may be full */
	begin_line();
	complain(job.o->name, "job %d exited with status %d", (int)getpid(), job.status);
}

/* Also opens those of the first three descriptors that are closed. */
static int
open_null(const struct options *o)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		die(o->name, "cannot open /dev/null: %s (nothing was handed in)", strerror(errno));
	return fd;
}

static void
redirect(const struct options *o, int null)
{
	const int output = o->log == NULL ? null : open_log(o);
	message_keep_stderr();
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	if (output != null)
		close(output);
	close(null);
}

static _Noreturn void
become_job(const struct options *o, int null, pid_t session, int (*run)(const struct options *o, char **command),
           char **command)
{
	atexit(end_job);
	setsid();
	redirect(o, null);
	jobs_enter(o->name, session);
	job.status = run(o, command);
	exit(job.status);
}

int
background_start(const struct options *o, int (*run)(const struct options *o, char **command), char **command)
{
	int ends[2];
	unsigned char status;
	ssize_t length;
	const int null = open_null(o);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		die_of_fork(o, -errno);
	job.o = o;
	const pid_t session = getsid(0);
	const pid_t pid = fork();
	if (pid < 0)
		die_of_fork(o, -errno);
	if (pid == 0) {
		close(ends[0]);
		job.report = ends[1];
		become_job(o, null, session, run, command);
	}
	close(ends[1]);
	do
		length = read(ends[0], &status, 1);
	while (length < 0 && errno == EINTR);
	if (length != 1)
		die(o->name, "the job was killed before it was in the queue (hand it in again)");
	jobs_remove_leftovers();
	return status;
}

void
background_handed_in(void)
{
	if (job.report < 0)
		return;
	jobs_hand_in();
	message_use_stderr();
	report(EXIT_DONE);
}

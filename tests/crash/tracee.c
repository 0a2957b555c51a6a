/* SPDX-License-Identifier: MIT */
#include "tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the state that the kernel shows ---- */

static int
open_stat(pid_t pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static char
read_state(int fd)
{
	char line[256];
	const ssize_t length = fd < 0 ? -1 : pread(fd, line, sizeof(line) - 1, 0);
	if (length <= 0)
		return '?';
	line[length] = '\0';
	const char *at = strrchr(line, ')');
	return at == NULL || at[1] == '\0' ? '?' : at[2];
}

char
process_state(pid_t pid)
{
	const int fd = open_stat(pid);
	const char state = read_state(fd);
	if (fd >= 0)
		close(fd);
	return state;
}

/* ---- waiting for a tracee ---- */

/* What ptrace() does: glibc has an enumeration for it, musl an int. */
#ifdef __GLIBC__
typedef enum __ptrace_request request;
#else
typedef int request;
#endif

void
tracee_fail(const char *state)
{
	perror(state);
	abort();
}

void
tracee_go(struct tracee *tracee, int how)
{
	if (ptrace((request)how, tracee->pid, NULL, NULL) != 0 && errno != ESRCH)
		tracee_fail("ptrace");
	tracee->running = true;
}

static void
note(struct tracee *tracee, int status)
{
	tracee->status = status;
	tracee->running = false;
	if (!WIFSTOPPED(status))
		tracee->where = TRACEE_GONE;
	else if (WSTOPSIG(status) == SIGILL)
		tracee->where = TRACEE_AT_MARK;
	else if (WSTOPSIG(status) == SIGTRAP && status >> 16 != 0)
		tracee->where = TRACEE_FORKED;
	else
		tracee->where = TRACEE_STOPPED;
}

/*
 * With `look`, the function polls, because the tracee may sleep soon. Without `look`, a tick of the worker's timer
 * interrupts waitpid(), so that a step costs no more than necessary and a tracee that sleeps is still noticed.
 */
void
tracee_wait(struct tracee *tracee, int how, bool look)
{
	for (;;) {
		int status;
		const pid_t pid = waitpid(tracee->pid, &status, __WALL | (look ? WNOHANG : 0));
		if (pid == tracee->pid) {
			/* These signals of the tracee's children and stops do not matter here. */
			if (WIFSTOPPED(status) && (WSTOPSIG(status) == SIGCHLD || WSTOPSIG(status) == SIGCONT)) {
				tracee_go(tracee, how);
				continue;
			}
			note(tracee, status);
			if (tracee->broken_pc != 0 && tracee->where != TRACEE_GONE && tracee_remove_breakpoint(tracee)) {
				tracee_go(tracee, how);
				continue;
			}
			return;
		}
		if (pid < 0 && errno != EINTR)
			tracee_fail("waitpid");
		if (read_state(tracee->stat_fd) == 'S') {
			tracee->where = TRACEE_ASLEEP;
			return;
		}
		if (look)
			sched_yield();
	}
}

void
tracee_begin(struct tracee *tracee, pid_t pid)
{
	*tracee = (struct tracee){.pid = pid, .stat_fd = open_stat(pid), .running = true};
	tracee_wait(tracee, PTRACE_CONT, true);
	/* The preparation may sleep. */
	while (tracee->where == TRACEE_ASLEEP)
		tracee_wait(tracee, PTRACE_CONT, true);
}

void
tracee_step(struct tracee *tracee, bool may_sleep)
{
	tracee_go(tracee, PTRACE_SINGLESTEP);
	tracee_wait(tracee, PTRACE_SINGLESTEP, may_sleep);
}

void
tracee_run(struct tracee *tracee)
{
	if (!tracee->running)
		tracee_go(tracee, PTRACE_CONT);
	tracee_wait(tracee, PTRACE_CONT, true);
}

void
tracee_poll(struct tracee *tracee)
{
	if (tracee->running)
		tracee_wait(tracee, PTRACE_CONT, true);
}

/* ---- the end ---- */

void
tracee_kill(struct tracee *tracee, bool leave_zombie)
{
	if (tracee->pid == 0 || tracee->where == TRACEE_GONE)
		return;
	kill(tracee->pid, SIGKILL);
	siginfo_t info;
	while (waitid(P_PID, (id_t)tracee->pid, &info, WEXITED | WNOWAIT | __WALL) != 0 && errno == EINTR) {
	}
	tracee->running = false;
	if (!leave_zombie)
		tracee_reap(tracee);
}

void
tracee_reap(struct tracee *tracee)
{
	if (tracee->pid == 0)
		return;
	if (tracee->where != TRACEE_GONE) {
		while (waitpid(tracee->pid, &tracee->status, __WALL) < 0 && errno == EINTR) {
		}
	}
	if (tracee->stat_fd >= 0)
		close(tracee->stat_fd);
	*tracee = (struct tracee){.where = TRACEE_GONE, .status = tracee->status, .stat_fd = -1};
}

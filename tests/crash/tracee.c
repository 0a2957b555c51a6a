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
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the state the kernel shows ---- */

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

/* ---- waiting for it ---- */

static void
fail(const char *what)
{
	perror(what);
	abort();
}

static void
go(struct tracee *tracee, int how)
{
	if (ptrace((enum __ptrace_request)how, tracee->pid, NULL, NULL) != 0 && errno != ESRCH)
		fail("ptrace");
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

static bool remove_breakpoint(struct tracee *tracee);

/* With `look`, polls: whoever ran to here may sleep soon. Without, the worker's interval timer ends a waitpid() for a
 * process that turns out to sleep, so that a step costs no more than it has to. */
static void
wait_for(struct tracee *tracee, int how, bool look)
{
	for (;;) {
		int status;
		const pid_t pid = waitpid(tracee->pid, &status, __WALL | (look ? WNOHANG : 0));
		if (pid == tracee->pid) {
			/* A child's death is no matter of ours. */
			if (WIFSTOPPED(status) && (WSTOPSIG(status) == SIGCHLD || WSTOPSIG(status) == SIGCONT)) {
				go(tracee, how);
				continue;
			}
			note(tracee, status);
			if (tracee->broken_pc != 0 && tracee->where != TRACEE_GONE && remove_breakpoint(tracee)) {
				go(tracee, how);
				continue;
			}
			return;
		}
		if (pid < 0 && errno != EINTR)
			fail("waitpid");
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
	wait_for(tracee, PTRACE_CONT, true);
	/* Preparing may take a nap in the kernel. */
	while (tracee->where == TRACEE_ASLEEP)
		wait_for(tracee, PTRACE_CONT, true);
}

void
tracee_step(struct tracee *tracee)
{
	go(tracee, PTRACE_SINGLESTEP);
	wait_for(tracee, PTRACE_SINGLESTEP, false);
}

void
tracee_run(struct tracee *tracee)
{
	if (!tracee->running)
		go(tracee, PTRACE_CONT);
	wait_for(tracee, PTRACE_CONT, true);
}

void
tracee_poll(struct tracee *tracee)
{
	if (tracee->running)
		wait_for(tracee, PTRACE_CONT, true);
}

/* ---- registers and breakpoints ---- */

#if defined(__x86_64__)

static void
read_registers(const struct tracee *tracee, struct user_regs_struct *registers)
{
	if (ptrace(PTRACE_GETREGS, tracee->pid, NULL, registers) != 0)
		fail("PTRACE_GETREGS");
}

static void
set_pc(const struct tracee *tracee, uint64_t pc)
{
	struct user_regs_struct registers;
	read_registers(tracee, &registers);
	registers.rip = pc;
	if (ptrace(PTRACE_SETREGS, tracee->pid, NULL, &registers) != 0)
		fail("PTRACE_SETREGS");
}

uint64_t
tracee_pc(const struct tracee *tracee)
{
	struct user_regs_struct registers;
	read_registers(tracee, &registers);
	return registers.rip;
}

bool
tracee_is_at_system_call(const struct tracee *tracee)
{
	enum { SYSCALL = 0x050f };
	return (ptrace(PTRACE_PEEKTEXT, tracee->pid, tracee_pc(tracee), NULL) & 0xffff) == SYSCALL;
}

void
tracee_pass_mark(struct tracee *tracee)
{
	enum { MARK_BYTES = 2 };
	set_pc(tracee, tracee_pc(tracee) + MARK_BYTES);
	tracee->where = TRACEE_STOPPED;
}

static void
poke(const struct tracee *tracee, uint64_t pc, long word)
{
	if (ptrace(PTRACE_POKETEXT, tracee->pid, pc, word) != 0)
		fail("PTRACE_POKETEXT");
}

/* The text is the process's own copy as soon as it is written to, so nobody else runs into the breakpoint. */
bool
tracee_run_to(struct tracee *tracee, uint64_t pc, uint32_t hits)
{
	enum { BREAKPOINT = 0xcc };
	errno = 0;
	const long original = ptrace(PTRACE_PEEKTEXT, tracee->pid, pc, NULL);
	if (errno != 0)
		fail("PTRACE_PEEKTEXT");
	const long broken = (long)(((unsigned long)original & ~0xffUL) | BREAKPOINT);
	bool hit = false;
	for (uint32_t i = 0; i < hits; i++) {
		if (i > 0) {
			tracee_step(tracee);
			if (tracee->where != TRACEE_STOPPED)
				return false;
		}
		poke(tracee, pc, broken);
		go(tracee, PTRACE_CONT);
		wait_for(tracee, PTRACE_CONT, false);
		if (tracee->where == TRACEE_ASLEEP) {
			tracee->broken_pc = pc;
			tracee->original = original;
		}
		if (tracee->where == TRACEE_GONE || tracee->where == TRACEE_ASLEEP)
			break;
		poke(tracee, pc, original);
		hit = tracee->where == TRACEE_STOPPED && tracee_pc(tracee) == pc + 1;
		if (!hit)
			break;
		set_pc(tracee, pc);
		hit = i + 1 == hits;
	}
	return hit;
}

/* True if it has just run into it, and has to go on. */
static bool
remove_breakpoint(struct tracee *tracee)
{
	const uint64_t pc = tracee->broken_pc;
	tracee->broken_pc = 0;
	poke(tracee, pc, tracee->original);
	if (tracee->where != TRACEE_STOPPED || tracee_pc(tracee) != pc + 1)
		return false;
	set_pc(tracee, pc);
	return true;
}

#else

static bool
remove_breakpoint(struct tracee *tracee)
{
	(void)tracee;
	return false;
}

uint64_t
tracee_pc(const struct tracee *tracee)
{
	(void)tracee;
	return 0;
}

bool
tracee_is_at_system_call(const struct tracee *tracee)
{
	(void)tracee;
	return false;
}

void
tracee_pass_mark(struct tracee *tracee)
{
	(void)tracee;
}

bool
tracee_run_to(struct tracee *tracee, uint64_t pc, uint32_t hits)
{
	(void)tracee;
	(void)pc;
	(void)hits;
	return false;
}

#endif

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

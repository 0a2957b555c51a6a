/* SPDX-License-Identifier: MIT */
#include "command_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

static void
fail(const char *state)
{
	perror(state);
	abort();
}

/* ---- the family ---- */

static struct member *
find_member(struct processes *processes, pid_t pid)
{
	for (size_t i = 0; i < processes->n; i++) {
		if (processes->members[i].pid == pid)
			return &processes->members[i];
	}
	return NULL;
}

static struct member *
add_member(struct processes *processes, pid_t pid)
{
	if (processes->n == MEMBERS_MAX)
		fail("too many members");
	struct member *member = &processes->members[processes->n++];
	*member = (struct member){.pid = pid, .role = ROLE_OTHER};
	return member;
}

static void
resume(const struct member *member, int number)
{
	ptrace(PTRACE_SYSCALL, member->pid, NULL, (void *)(long)number);
}

static void
remove_member(struct processes *processes, struct member *member, int status)
{
	for (unsigned role = 0; role < ROLES; role++) {
		if (processes->pid[role] == member->pid) {
			processes->ended[role] = true;
			processes->status[role] = status;
		}
	}
	*member = processes->members[--processes->n];
	/* The stop of the process that has died, which would have let its child go on, comes no more. */
	for (size_t i = 0; i < processes->n; i++) {
		if (!processes->members[i].known)
			resume(&processes->members[i], 0);
		processes->members[i].known = true;
	}
}

/* Called at the parent's stop for a fork, vfork or clone; the new member may have stopped before. */
static void
note_new_member(struct processes *processes, const struct member *parent, bool is_thread)
{
	unsigned long pid = 0;
	if (ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &pid) != 0 || pid == 0)
		return;
	struct member *member = find_member(processes, (pid_t)pid);
	const bool waits = member != NULL && !member->known;
	if (member == NULL)
		member = add_member(processes, (pid_t)pid);
	member->known = true;
	member->executed = is_thread ? parent->executed : 0;
	if (is_thread) {
		member->role = parent->role;
	} else if (parent->role == ROLE_COMMAND && processes->pid[ROLE_CHILD] == 0) {
		member->role = ROLE_CHILD;
		processes->pid[ROLE_CHILD] = member->pid;
	}
	if (waits)
		resume(member, 0);
}

static bool
stops_process(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

static void
pass_boundary(struct processes *processes, struct member *member)
{
	if (!call_look(member->pid, &member->call))
		return; /* the member has been killed */
	member->in_call = !member->call.is_exit;
	if (member->call.is_exit && member->error != 0) {
		call_fail(member->pid, member->error);
		member->call.result = -member->error;
		member->error = 0;
	}
	const struct boundary boundary = {
		.role = member->role,
		.index = processes->boundaries[member->role]++,
		.executed = member->executed,
		.call = member->call,
	};
	member->held = !processes->at_boundary(processes->arg, member, &boundary);
	if (member->in_call && member->error != 0)
		call_skip(member->pid);
	if (!member->held)
		resume(member, 0);
}

static void
note_stop(struct processes *processes, struct member *member, int status)
{
	const int number = WSTOPSIG(status);
	const int event = status >> 16;
	if (number == (SIGTRAP | 0x80)) {
		pass_boundary(processes, member);
		return;
	}
	if (event == PTRACE_EVENT_STOP && stops_process(number)) {
		ptrace(PTRACE_LISTEN, member->pid, NULL, NULL);
		return;
	}
	if (event == PTRACE_EVENT_EXEC)
		member->executed++;
	else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE)
		note_new_member(processes, member, event == PTRACE_EVENT_CLONE);
	if (event == PTRACE_EVENT_STOP && !member->known)
		return; /* the member waits until its parent's stop */
	resume(member, event == 0 ? number : 0);
}

/* ---- events ---- */

static bool
note_companion(struct processes *processes, pid_t pid, int status)
{
	for (size_t i = 0; i < processes->companion_count; i++) {
		struct companion *companion = &processes->companions[i];
		if (companion->pid == pid && !companion->ended) {
			companion->ended = true;
			companion->status = status;
			return true;
		}
	}
	return false;
}

static void
note(struct processes *processes, pid_t pid, int status)
{
	if (!WIFSTOPPED(status) && note_companion(processes, pid, status))
		return;
	struct member *member = find_member(processes, pid);
	if (WIFSTOPPED(status))
		note_stop(processes, member != NULL ? member : add_member(processes, pid), status);
	else if (member != NULL)
		remove_member(processes, member, status);
}

/* SIGCHLD is blocked. A pending one for an event that was seen already only causes one more waitpid(). */
static bool
await_until(struct processes *processes, double end)
{
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		int status;
		const pid_t pid = waitpid(-1, &status, __WALL | WNOHANG);
		if (pid > 0) {
			note(processes, pid, status);
			return true;
		}
		const double left = end - seconds_now();
		if (left <= 0)
			return false;
		const struct timespec time = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
		sigtimedwait(&child, NULL, &time);
	}
}

bool
processes_await(struct processes *processes, unsigned milliseconds)
{
	const double most = milliseconds / 1e3;
	const double began = seconds_now();
	const bool happened = await_until(processes, began + most);
	const double took = seconds_now() - began;
	processes->waited += took < most ? took : most;
	return happened;
}

/* ---- the family ---- */

/* The same signal handling as for a command of an interactive shell. */
static void
reset_signals(void)
{
	sigset_t none;
	for (int number = 1; number < 32; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

_Noreturn static void
execute(char *const argv[], const int standard[3])
{
	for (int fd = 0; fd < 3; fd++)
		dup2(standard[fd], fd);
	setsid();
	reset_signals();
	execv(argv[0], argv);
	_exit(98);
}

void
processes_start(struct processes *processes, char *const argv[], const int standard[3])
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE
	                     | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int gate[2];
	if (pipe2(gate, O_CLOEXEC) != 0)
		fail("pipe2");
	const pid_t pid = fork();
	if (pid == 0) {
		char byte;
		close(gate[1]);
		if (read(gate[0], &byte, 1) < 0)
			_exit(98);
		execute(argv, standard);
	}
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) != 0)
		fail("PTRACE_SEIZE");
	struct member *member = add_member(processes, pid);
	member->role = ROLE_COMMAND;
	member->known = true;
	processes->pid[ROLE_COMMAND] = pid;
	close(gate[0]);
	close(gate[1]);
}

bool
processes_are_gone(const struct processes *processes)
{
	return processes->n == 0;
}

static char
state_of(pid_t pid)
{
	char path[32];
	char line[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	line[length < 0 ? 0 : length] = '\0';
	const char *at = strrchr(line, ')');
	return at == NULL ? '?' : at[2];
}

bool
processes_are_asleep(const struct processes *processes)
{
	for (size_t i = 0; i < processes->n; i++) {
		if (!processes->members[i].held && strchr("SDTZ", state_of(processes->members[i].pid)) == NULL)
			return false;
	}
	return processes->n > 0;
}

bool
processes_has_live(const struct processes *processes, enum role role)
{
	return processes->pid[role] != 0 && !processes->ended[role];
}

bool
processes_child_runs(const struct processes *processes)
{
	for (size_t i = 0; i < processes->n; i++) {
		if (processes->members[i].role == ROLE_CHILD && processes->members[i].executed > 0)
			return true;
	}
	return false;
}

bool
processes_child_works(const struct processes *processes)
{
	for (size_t i = 0; i < processes->n; i++) {
		const struct member *member = &processes->members[i];
		if (member->role == ROLE_CHILD && member->executed > 0 && member->in_call && !member->held
		    && call_reads_input(&member->call))
			return true;
	}
	return false;
}

void
processes_resume(struct processes *processes, pid_t pid)
{
	struct member *member = find_member(processes, pid);
	if (member == NULL || !member->held)
		return;
	member->held = false;
	resume(member, 0);
}

static void
kill_family(struct processes *processes)
{
	while (processes->n > 0) {
		for (size_t i = 0; i < processes->n; i++)
			kill(processes->members[i].pid, SIGKILL);
		processes_await(processes, 100);
	}
}

/* ---- companions ---- */

static struct companion *
start_companion(struct processes *processes, int fds[2])
{
	if (processes->companion_count == COMPANIONS_MAX)
		fail("too many companions");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		fail("socketpair");
	struct companion *companion = &processes->companions[processes->companion_count++];
	*companion = (struct companion){.pid = fork(), .fd = fds[0]};
	if (companion->pid < 0)
		fail("fork");
	return companion;
}

struct companion *
companion_fork(struct processes *processes, int (*act)(int fd, const void *arg), const void *arg)
{
	int fds[2];
	struct companion *companion = start_companion(processes, fds);
	if (companion->pid == 0) {
		for (size_t i = 0; i < processes->companion_count; i++)
			close(processes->companions[i].fd); /* this companion must not keep the sockets of others open */
		reset_signals();
		_exit(act(fds[1], arg));
	}
	close(fds[1]);
	return companion;
}

struct companion *
companion_run(struct processes *processes, char *const argv[], const int standard[3])
{
	int fds[2];
	struct companion *companion = start_companion(processes, fds);
	if (companion->pid == 0)
		execute(argv, standard);
	close(fds[1]);
	return companion;
}

bool
companion_end(struct processes *processes, struct companion *companion, double seconds)
{
	const double end = processes->waited + seconds;
	while (!companion->ended && processes->waited < end)
		processes_await(processes, 100);
	return companion->ended;
}

void
processes_describe(pid_t pid, char text[256])
{
	char script[256];
	snprintf(script, sizeof(script),
	         "cd /proc; p=%d; for p in $p $(cat $p/task/$p/children); do"
	         " echo $p $(cut -d' ' -f2,3 $p/stat) ran, queued: $(cat $p/schedstat)"
	         " call: $(cut -c-30 $p/syscall) in $(cat $p/wchan); done",
	         (int)pid);
	FILE *output = popen(script, "re"); /* NOLINT(cert-env33-c): the script is constant but for a number */
	text[output == NULL ? 0 : fread(text, 1, 255, output)] = '\0';
	if (output != NULL)
		pclose(output);
}

void
companion_kill(struct processes *processes, struct companion *companion)
{
	if (!companion->ended)
		kill(companion->pid, SIGKILL);
	while (!companion->ended)
		processes_await(processes, 100);
}

bool
processes_end_all(struct processes *processes)
{
	kill_family(processes);
	for (size_t i = 0; i < processes->companion_count; i++) {
		companion_kill(processes, &processes->companions[i]);
		close(processes->companions[i].fd);
	}
	while (waitpid(-1, NULL, __WALL | WNOHANG) > 0) {
	}
	const bool alone = errno == ECHILD;
	*processes = (struct processes){0};
	return alone;
}

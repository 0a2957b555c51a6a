/* SPDX-License-Identifier: MIT */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP};

static void
set_of_signals(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(set, forwarded[i]);
	sigaddset(set, SIGCHLD);
}

/* With SIGCHLD ignored, the kernel would reap the command before waitid() can report its end. */
static bool child_was_ignored;

void
spawn_block_signals(sigset_t *old)
{
	sigset_t set;
	set_of_signals(&set);
	sigprocmask(SIG_BLOCK, &set, old);
	child_was_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
}

void
spawn_deliver_pending_signals(const sigset_t *old)
{
	sigset_t pending;
	sigset_t blocked;
	sigpending(&pending);
	if (!sigismember(&pending, SIGINT) && !sigismember(&pending, SIGQUIT) && !sigismember(&pending, SIGTERM)
	    && !sigismember(&pending, SIGHUP))
		return;
	sigprocmask(SIG_SETMASK, old, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* In the child, before it executes, so that the command never runs without owning the holds. */
static bool
adopt(const struct holds *holds, struct spawned *spawned)
{
	for (size_t i = 0; i < holds->n && spawned->adopt_error == 0; i++)
		spawned->adopt_error = tsem_adopt(&holds->all[i]);
	return spawned->adopt_error == 0;
}

/* The signal mask may be restored, because no handler is installed at this point. */
int
spawn_become(char **argv, const sigset_t *mask)
{
	if (child_was_ignored)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	return errno;
}

/*
 * vfork() copies nothing and suspends the parent until the child executes the command. The child writes only the record
 * in shared memory, its own identity, and *spawned.
 */
static pid_t
vfork_command(char **argv, const sigset_t *mask, const struct holds *holds, struct spawned *spawned)
{
	const pid_t pid = vfork(); /* NOLINT: see above */
	if (pid != 0)
		return pid;
	if (adopt(holds, spawned))
		spawned->exec_error = spawn_become(argv, mask);
	_exit(127);
}

int
spawn_command(char **argv, const sigset_t *mask, const struct holds *holds, struct spawned *spawned)
{
	*spawned = (struct spawned){0};
	const pid_t pid = vfork_command(argv, mask, holds, spawned);
	if (pid < 0)
		return -errno;
	spawned->pid = pid;
	return 0;
}

/* State of the command. There is only one; to the process that runs a repair, the repair is it. */
static struct {
	bool stopped;
	int signal;         /* that stopped it; 0: this process has stopped with it already */
	bool received_tstp; /* this process did, too: the terminal sends SIGTSTP to the whole process group */
} stop;

static int terminating; /* the last terminating signal that this process received meanwhile; 0: none */

/* Forwards what a process sent. The command already has what the terminal sent to the whole process group. */
static void
forward(pid_t pid, int number, int code)
{
	if (number == SIGTSTP || number == SIGCONT)
		stop.received_tstp = number == SIGTSTP;
	if (number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP)
		terminating = number;
	if (number != SIGCHLD && code <= 0)
		kill(pid, number);
}

enum command_state
spawn_poll(pid_t pid, siginfo_t *info)
{
	for (;;) {
		*info = (siginfo_t){0};
		if (waitid(P_PID, (id_t)pid, info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) != 0
		    || info->si_pid != pid)
			return stop.stopped ? COMMAND_STOPPED : COMMAND_RUNS;
		if (info->si_code != CLD_STOPPED && info->si_code != CLD_CONTINUED)
			return COMMAND_ENDED;
		*info = (siginfo_t){0};
		waitid(P_PID, (id_t)pid, info, WSTOPPED | WCONTINUED | WNOHANG);
		stop.stopped = info->si_code == CLD_STOPPED;
		stop.signal = stop.stopped ? info->si_status : 0;
	}
}

/* ---- job control ---- */

/* Asks the controlling terminal, because the standard descriptors may be redirected. */
static bool
is_in_foreground(void)
{
	const int terminal = open(_PATH_TTY, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	const bool is = terminal >= 0 && tcgetpgrp(terminal) == getpgrp();
	if (terminal >= 0)
		close(terminal);
	return is;
}

/*
 * A shell with job control gives each job its own process group. A script, which shares ours, would not notice the
 * stop.
 */
static bool
is_a_job(void)
{
	return getpgid(getppid()) != getpgrp();
}

/*
 * A process such as cpulimit that stops only the command also continues it, and this process must not stay stopped
 * then. But a program that catches Ctrl-Z may stop itself by SIGSTOP, and a program that reads the key itself may stop
 * by a SIGTSTP that no other process receives.
 */
static bool
is_job_control(void)
{
	if (stop.signal == 0 || stop.signal == SIGSTOP)
		return stop.received_tstp && is_in_foreground();
	return stop.received_tstp || (is_a_job() && is_in_foreground());
}

/* In an orphaned process group, which no shell could continue, the kernel discards the SIGTSTP. */
void
spawn_stop_with_command(void)
{
	sigset_t set;
	if (!is_job_control())
		return;
	stop.signal = 0;
	stop.received_tstp = false;
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void
spawn_wait(pid_t pid, siginfo_t *info)
{
	sigset_t set;
	enum command_state state;
	set_of_signals(&set);
	while ((state = spawn_poll(pid, info)) != COMMAND_ENDED) {
		siginfo_t sent;
		if (state == COMMAND_STOPPED)
			spawn_stop_with_command();
		const int number = sigwaitinfo(&set, &sent);
		if (number > 0)
			forward(pid, number, sent.si_code);
	}
}

/* ---- the repair ---- */

/*
 * This process forwards signals to the repair as its parent does to the command, so it outlives it, and the permits
 * stay with it. A terminating signal was meant for the command, too: it ends this process here unless it is ignored.
 */
static bool
repair_succeeds(char **repair, const sigset_t *mask, struct spawned *spawned)
{
	static const struct holds none;
	struct spawned child;
	siginfo_t end;
	spawned->repair_error = spawn_command(repair, mask, &none, &child);
	if (spawned->repair_error < 0)
		return false;
	spawn_wait(child.pid, &end);
	waitpid(child.pid, NULL, 0);
	if (terminating != 0) {
		raise(terminating);
		sigprocmask(SIG_SETMASK, mask, NULL);
	}
	spawned->repair_failed = end.si_code != CLD_EXITED || end.si_status != 0;
	return !spawned->repair_failed;
}

/* By fork(), because the parent goes on before the command is executed. The command may return every exit status. */
static int
fork_sharing(struct spawned **spawned)
{
	*spawned = mmap(NULL, sizeof(**spawned), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (*spawned == MAP_FAILED)
		return -errno;
	const pid_t pid = fork();
	if (pid > 0)
		(*spawned)->pid = pid;
	return pid < 0 ? -errno : pid;
}

int
spawn_repair_and_command(char **repair, char **argv, const sigset_t *mask, const struct holds *holds,
                         struct spawned **spawned)
{
	const int pid = fork_sharing(spawned);
	if (pid != 0)
		return pid < 0 ? pid : 0;
	if (adopt(holds, *spawned) && repair_succeeds(repair, mask, *spawned))
		(*spawned)->exec_error = spawn_become(argv, mask);
	_exit(127);
}

int
spawn_behind_gate(const int gate[2], char **(*prepare)(const void *arg), const void *arg, char **argv,
                  const sigset_t *mask, struct spawned **spawned)
{
	char byte;
	const int pid = fork_sharing(spawned);
	if (pid != 0)
		return pid < 0 ? pid : 0;
	close(gate[1]);
	if (read(gate[0], &byte, 1) == 1) {
		char **repair = prepare(arg);
		if (repair == NULL || repair_succeeds(repair, mask, *spawned))
			(*spawned)->exec_error = spawn_become(argv, mask);
	}
	_exit(127);
}

/* ---- for what waits for other events, too ---- */

int
spawn_open_signals(void)
{
	sigset_t set;
	set_of_signals(&set);
	const int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void
spawn_forward_signals(int fd, pid_t pid)
{
	struct signalfd_siginfo sent;
	while (read(fd, &sent, sizeof(sent)) == (ssize_t)sizeof(sent))
		forward(pid, (int)sent.ssi_signo, sent.ssi_code);
}

/* SPDX-License-Identifier: MIT */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP};

static void
signals_of_interest(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(set, passed_on[i]);
	sigaddset(set, SIGCHLD);
}

/* Ignored, SIGCHLD would let children vanish before we have seen how they ended. */
static bool child_was_ignored;

void
spawn_block_signals(sigset_t *old)
{
	sigset_t set;
	signals_of_interest(&set);
	sigprocmask(SIG_BLOCK, &set, old);
	child_was_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
}

void
spawn_let_pending_signals_end_us(const sigset_t *old)
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

/*
 * vfork: the parent stands still until the command executes, and nothing is copied. The child touches only the record
 * in shared memory, its own identity, and *spawned. It makes the holds its own before it executes, so that no instant
 * exists in which the command runs and they are not its own.
 *
 * No handler is installed at this point, so the child may restore the mask before it executes.
 */
static pid_t
vfork_command(char **argv, const sigset_t *mask, const struct luggage *luggage, struct spawned *spawned)
{
	const pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): see above */
	if (pid != 0)
		return pid;
	for (size_t i = 0; i < luggage->n && spawned->adopt_error == 0; i++)
		spawned->adopt_error = tsem_adopt(&luggage->holds[i]);
	if (spawned->adopt_error == 0) {
		if (child_was_ignored)
			signal(SIGCHLD, SIG_IGN);
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvp(argv[0], argv);
		spawned->exec_error = errno;
	}
	_exit(127);
}

int
spawn_command(char **argv, const sigset_t *mask, const struct luggage *luggage, struct spawned *spawned)
{
	*spawned = (struct spawned){0};
	const pid_t pid = vfork_command(argv, mask, luggage, spawned);
	if (pid < 0)
		return -errno;
	spawned->pid = pid;
	return 0;
}

/* How the one command has been stopped. */
static struct {
	bool stopped;
	int by;    /* the signal; 0: this process has stopped with it already */
	bool told; /* this process has received SIGTSTP, too; the terminal sends it to the whole group */
} standstill;

/* What a process sent; what the terminal sent, it sent to the whole process group, and the command has it already. */
static void
pass_on(pid_t pid, int number, int code)
{
	if (number == SIGTSTP || number == SIGCONT)
		standstill.told = number == SIGTSTP;
	if (number != SIGCHLD && code <= 0)
		kill(pid, number);
}

enum command_state
spawn_look(pid_t pid, siginfo_t *info)
{
	for (;;) {
		*info = (siginfo_t){0};
		if (waitid(P_PID, (id_t)pid, info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) != 0
		    || info->si_pid != pid)
			return standstill.stopped ? COMMAND_STOPPED : COMMAND_RUNS;
		if (info->si_code != CLD_STOPPED && info->si_code != CLD_CONTINUED)
			return COMMAND_ENDED;
		*info = (siginfo_t){0};
		waitid(P_PID, (id_t)pid, info, WSTOPPED | WCONTINUED | WNOHANG);
		standstill.stopped = info->si_code == CLD_STOPPED;
		standstill.by = standstill.stopped ? info->si_status : 0;
	}
}

/* ---- job control ---- */

/* Of the terminal that sends the keys' signals, wherever the standard descriptors lead. */
static bool
is_in_foreground(void)
{
	const int terminal = open(_PATH_TTY, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	const bool is = terminal >= 0 && tcgetpgrp(terminal) == getpgrp();
	if (terminal >= 0)
		close(terminal);
	return is;
}

/* A shell that gives its jobs groups of their own sees one of them stop. The parent in the same group, a script, does not. */
static bool
is_a_job(void)
{
	return getpgid(getppid()) != getpgrp();
}

/*
 * Another process that stops the command alone, as cpulimit does, continues it as well, and the caller must not be left
 * waiting then. But a program that catches Ctrl-Z may stop itself by SIGSTOP; and a program that reads the key itself may
 * stop by SIGTSTP, and no other process receives that.
 */
static bool
is_job_control(void)
{
	if (standstill.by == 0 || standstill.by == SIGSTOP)
		return standstill.told && is_in_foreground();
	return standstill.told || (is_a_job() && is_in_foreground());
}

/* The kernel discards SIGTSTP in an orphaned process group, which no shell could continue. */
void
spawn_stop_with_command(void)
{
	sigset_t stop;
	if (!is_job_control())
		return;
	standstill.by = 0;
	standstill.told = false;
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
}

void
spawn_wait(pid_t pid, siginfo_t *info)
{
	sigset_t set;
	enum command_state state;
	signals_of_interest(&set);
	while ((state = spawn_look(pid, info)) != COMMAND_ENDED) {
		siginfo_t sent;
		if (state == COMMAND_STOPPED)
			spawn_stop_with_command();
		const int number = sigwaitinfo(&set, &sent);
		if (number > 0)
			pass_on(pid, number, sent.si_code);
	}
}

int
spawn_open_signals(void)
{
	sigset_t set;
	signals_of_interest(&set);
	const int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void
spawn_pass_signals_on(int fd, pid_t pid)
{
	struct signalfd_siginfo sent;
	while (read(fd, &sent, sizeof(sent)) == (ssize_t)sizeof(sent))
		pass_on(pid, (int)sent.ssi_signo, sent.ssi_code);
}

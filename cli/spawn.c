/* SPDX-License-Identifier: MIT */
#include "spawn.h"

#include <errno.h>
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

/* What a process sent; what the terminal sent, it sent to the whole process group, and the command has it already. */
static void
pass_on(pid_t pid, int number, int code)
{
	if (number != SIGCHLD && code <= 0)
		kill(pid, number);
}

enum command_state
spawn_look(pid_t pid, siginfo_t *info)
{
	*info = (siginfo_t){0};
	if (waitid(P_PID, (id_t)pid, info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0 || info->si_pid != pid)
		return COMMAND_RUNS;
	if (info->si_code != CLD_STOPPED)
		return COMMAND_ENDED;
	waitid(P_PID, (id_t)pid, info, WSTOPPED | WNOHANG);
	return COMMAND_STOPPED;
}

void
spawn_stop_with_command(void)
{
	raise(SIGSTOP);
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

/* SPDX-License-Identifier: MIT */
#include "spawn.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
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
 * in shared memory, its own identity, and *spawned. It makes the hold its own before it executes, so that no instant
 * exists in which the command runs and the hold is not its own.
 *
 * No handler is installed at this point, so the child may restore the mask before it executes.
 */
static pid_t
vfork_command(char **argv, const sigset_t *mask, tsem_hold *hold, struct spawned *spawned)
{
	const pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): see above */
	if (pid != 0)
		return pid;
	spawned->adopt_error = tsem_adopt(hold);
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
spawn_command(char **argv, const sigset_t *mask, tsem_hold *hold, struct spawned *spawned)
{
	*spawned = (struct spawned){0};
	const pid_t pid = vfork_command(argv, mask, hold, spawned);
	if (pid < 0)
		return -errno;
	spawned->pid = pid;
	return 0;
}

/* What a process sent; what the terminal sent, it sent to the whole process group, and the command has it already. */
static bool
is_from_a_process(const siginfo_t *info)
{
	return info->si_code <= 0;
}

int
spawn_wait(pid_t pid)
{
	sigset_t set;
	signals_of_interest(&set);
	for (;;) {
		int status;
		const pid_t changed = waitpid(pid, &status, WNOHANG | WUNTRACED);
		if (changed == pid && !WIFSTOPPED(status))
			return status;
		if (changed == pid) /* so that the shell that started us sees it, and may continue us */
			raise(SIGSTOP);

		siginfo_t info;
		const int number = sigwaitinfo(&set, &info);
		if (number > 0 && number != SIGCHLD && is_from_a_process(&info))
			kill(pid, number);
	}
}

/* SPDX-License-Identifier: MIT */
#include "top/send.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool
send_is_refused(const struct tsem_owner *owner, char why[RESULT_SIZE])
{
	char process[PROCESS_TEXT_MAX];
	process_to_text(owner, process);
	if (owner->alive == TSEM_DEAD)
		snprintf(why, RESULT_SIZE, "%s is dead (r recovers its permits)", process);
	else if (owner->pid_here == 0)
		snprintf(why, RESULT_SIZE, "%s has no number here, or it is not known", process);
	else if (owner->alive != TSEM_ALIVE)
		snprintf(why, RESULT_SIZE, "it cannot be told whether %s is alive", process);
	else
		return false;
	return true;
}

/* A descriptor stays with its process when another one gets the number. -1: there is none, or an old kernel. */
static int
process_open(pid_t pid)
{
#ifdef SYS_pidfd_open
	return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
#else
	(void)pid;
	return -1;
#endif
}

/* Without a descriptor, the number may pass to another process between the last look and kill(2). */
static int
deliver(int process, pid_t pid, int number)
{
#ifdef SYS_pidfd_send_signal
	if (process >= 0)
		return (int)syscall(SYS_pidfd_send_signal, process, number, NULL, 0);
#endif
	(void)process;
	return kill(pid, number);
}

void
send_signal(tsem *sem, const struct target *target, int number, char result[RESULT_SIZE])
{
	struct tsem_owner now;
	char name[PROCESS_TEXT_MAX];
	/* Opened before the look: if the owner is alive then, it had the number already, and the descriptor is its own. */
	const int process = process_open(target->owner.pid_here);
	process_to_text(&target->owner, name);
	if (!target_find_again(sem, target, &now))
		snprintf(result, RESULT_SIZE, "%s does not hold or wait any more, nothing was done", name);
	else if (!send_is_refused(&now, result)) {
		if (deliver(process, now.pid_here, number) == 0)
			snprintf(result, RESULT_SIZE, "the signal was sent to %s", name);
		else
			snprintf(result, RESULT_SIZE, "no signal was sent to %s: %s", name, strerror(errno));
	}
	if (process >= 0)
		close(process);
}

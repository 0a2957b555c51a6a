/* SPDX-License-Identifier: MIT */
#include "system/liveness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cancellation.h"
#include "layout.h"
#include "system/identity.h"
#include "system/proc.h"

bool
proc_is_trustworthy(void)
{
	return proc_is_ours() && identity_has_one_pid();
}

/* Reads this process's own start last: it does not match if the process has entered another time namespace since. */
uint64_t
start_read(const char *pid)
{
	struct process_stat stat;
	const int64_t offset = boot_offset_read();
	const uint64_t own = owner_start(identity_owner());
	if (own == 0 || !process_stat_read(pid, pid, &stat) || own_start_read(offset) != own)
		return 0;
	return start_since_boot(stat.start, offset);
}

/* True if every thread of the process has ended, whether or not its parent has waited for it. */
static bool
pidfd_says_dead(pid_t pid)
{
#ifdef SYS_pidfd_open
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return errno == ESRCH;
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	bool dead = poll(&pollfd, 1, 0) == 1 && (pollfd.revents & POLLIN) != 0;
	close(fd);
	return dead;
#else
	(void)pid;
	return false;
#endif
}

bool
has_exited(pid_t pid, uint64_t start)
{
	const int saved = errno;
	char text[12];
	struct process_stat stat;
	pid_to_text(pid, text);
	const bool exited = process_stat_read(text, NULL, &stat) && stat.exited && is_same_start(start_read(text), start);
	errno = saved;
	return exited;
}

static enum liveness
judge(const struct process_id *owner)
{
	/*
	 * The kernel may give the number of a PID namespace to another one, but only after all processes in it, and in the
	 * namespaces below it, have ended. So if the number belongs to another namespace now, the owner is dead, and no
	 * verdict is wrong. All comparisons of such numbers rely on this.
	 */
	struct identity self;
	if (owner->pid == 0 || owner->pid_ns == 0 || identity_get(&self) < 0 || owner->pid_ns != self.pid_ns)
		return LIVENESS_UNKNOWN;

	const pid_t pid = (pid_t)owner->pid;
	if (kill(pid, 0) != 0 && errno == ESRCH)
		return LIVENESS_DEAD;

	/* The pid is in use. Only the start time tells whether the owner still has it. */
	char text[12];
	struct process_stat stat;
	pid_to_text(pid, text);
	if (owner->start == 0 || !proc_is_trustworthy() || !process_stat_read(text, text, &stat))
		return pidfd_says_dead(pid) ? LIVENESS_DEAD : LIVENESS_UNKNOWN;
	if (!is_same_start(start_since_boot(stat.start, self.boot_offset), owner->start)) {
		const uint64_t start = start_read(text);
		if (start == 0)
			return pidfd_says_dead(pid) ? LIVENESS_DEAD : LIVENESS_UNKNOWN;
		if (!is_same_start(start, owner->start))
			return LIVENESS_DEAD;
	}
	/*
	 * If only the first thread has ended and others live, it is a zombie, too. A process is in state X for a moment
	 * while its parent learns of its end; so is a first thread whose place another thread takes by exec().
	 */
	if (stat.state != 'Z' && stat.state != 'X')
		return LIVENESS_ALIVE;
	return (stat.state == 'Z' && stat.threads == 1) || pidfd_says_dead(pid) ? LIVENESS_DEAD : LIVENESS_ALIVE;
}

int
liveness_judge(const struct process_id *owner)
{
	NO_CANCELLATION;
	const int saved = errno;
	const int verdict = (int)judge(owner);
	errno = saved;
	return verdict;
}

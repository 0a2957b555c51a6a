/* SPDX-License-Identifier: MIT */
#include "liveness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cancellation.h"
#include "identity.h"
#include "layout.h"

bool
proc_is_trustworthy(void)
{
	char link[16];
	char self[12];
	ssize_t length = readlink("/proc/self", link, sizeof(link) - 1);
	if (length <= 0)
		return false;
	link[length] = '\0';
	pid_to_text(getpid(), self);
	return strcmp(link, self) == 0 && identity_has_one_pid();
}

bool
is_in_our_time_namespace(const char *pid)
{
	struct identity self;
	return identity_get(&self) && self.time_ns != 0 && time_namespace_of(pid) == self.time_ns;
}

/* True once every thread of the process has ended, reaped or not. */
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
	const bool exited = process_stat_read(text, &stat) && (stat.start & WHO_LOW_MASK) == start && stat.exited;
	errno = saved;
	return exited;
}

static enum liveness
judge(const struct owner *owner)
{
	struct identity self;
	if (owner->pid == 0 || owner->pid_ns == 0 || !identity_get(&self) || owner->pid_ns != self.pid_ns)
		return LIVENESS_UNKNOWN;

	const pid_t pid = (pid_t)owner->pid;
	if (kill(pid, 0) != 0 && errno == ESRCH)
		return LIVENESS_DEAD;

	/* Somebody has that pid; whether it is still the same one only the start time tells. */
	char text[12];
	struct process_stat stat;
	pid_to_text(pid, text);
	const bool comparable = owner->start != 0 && owner->time_ns != 0 && owner->time_ns == self.time_ns;
	if (comparable && proc_is_trustworthy() && process_stat_read_quickly(text, &stat)) {
		/* Unless it is our own clock that has moved: setns() may take a process to another time namespace. */
		if ((stat.start & WHO_LOW_MASK) != owner->start)
			return time_namespace_of("self") == self.time_ns ? LIVENESS_DEAD : LIVENESS_UNKNOWN;
		/*
		 * The leader may have ended while other threads live on: then it is a zombie, too. X is short: of a process
		 * whose end its parent is just being told, but also of a leader whose place another thread takes by exec().
		 */
		if (stat.state != 'Z' && stat.state != 'X')
			return LIVENESS_ALIVE;
		return (stat.state == 'Z' && stat.threads == 1) || pidfd_says_dead(pid) ? LIVENESS_DEAD : LIVENESS_ALIVE;
	}
	return pidfd_says_dead(pid) ? LIVENESS_DEAD : LIVENESS_UNKNOWN;
}

int
liveness_judge(const struct owner *owner)
{
	NO_CANCELLATION;
	const int saved = errno;
	const int verdict = (int)judge(owner);
	errno = saved;
	return verdict;
}

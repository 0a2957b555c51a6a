/* SPDX-License-Identifier: MIT */
#include "system/find_process.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layout.h"
#include "system/identity.h"
#include "system/liveness.h"
#include "system/proc.h"

_Static_assert(sizeof(tsem_process) == 32, "part of the interface");
_Static_assert(sizeof(struct process) <= sizeof(tsem_process), "a process fits");

/*
 * Reads the start time first. If the process dies afterwards, the pid is gone, or its next process has another start
 * time. So a dead process is not taken for one of which nothing is known.
 */
int
find_process(pid_t pid, struct process *process)
{
	struct identity self;
	int rc = identity_get(&self);
	if (rc < 0)
		return rc;
	if (pid <= 0 || pid >= 1 << PID_BITS)
		return -ESRCH;

	char text[12];
	struct process_stat stat;
	uint64_t start = 0;
	pid_to_text(pid, text);
	errno = 0;
	if (proc_is_trustworthy() && process_stat_read(text, NULL, &stat)) {
		if (stat.state == 'Z' && stat.threads == 1)
			return -ESRCH;
		start = start_read(text);
	}
	/*
	 * Without a start time, a later process of this pid passes for it. A lack of descriptors is no reason to accept
	 * that.
	 */
	const int error = errno;
	if (start == 0 && (error == EMFILE || error == ENFILE))
		return -error;
	/* Not kill(), which accepts the id of any thread. */
	if (syscall(SYS_tgkill, pid, pid, 0) != 0 && errno == ESRCH)
		return -ESRCH;
	*process = (struct process){.owner = owner_process((uint32_t)pid, start), .pid_ns = self.pid_ns};
	return 0;
}

int
find_process_again(struct process *process)
{
	struct process now;
	int rc = find_process((pid_t)owner_pid(process->owner), &now);
	if (rc < 0)
		return rc;
	const uint64_t start = owner_start(process->owner);
	const bool comparable = start != 0 && owner_start(now.owner) != 0;
	if (process->pid_ns != now.pid_ns || (comparable && !is_same_start(start, owner_start(now.owner))))
		return -ESRCH;
	/* If the process dies now, its start time in the record tells it from a later process. */
	if (start == 0)
		*process = now;
	return 0;
}

int
tsem_find_process(pid_t pid, tsem_process *out)
{
	struct process process;
	int rc = find_process(pid, &process);
	if (rc < 0)
		return rc;
	*out = (tsem_process){{process.owner, process.pid_ns}};
	return 0;
}

struct process
process_inside(const tsem_process *process)
{
	return (struct process){.owner = process->private_words[0], .pid_ns = process->private_words[1]};
}

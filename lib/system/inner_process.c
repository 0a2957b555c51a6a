/* SPDX-License-Identifier: MIT */
#include "system/inner_process.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cancellation.h"
#include "system/identity.h"
#include "system/platform.h"
#include "system/proc.h"

/* False: `pid` is no process of an inner namespace, or the caller may not see its namespace. */
static bool
read_inner(const char *pid, struct inner_process *process)
{
	struct process_pids pids;
	if (pid[0] < '0' || pid[0] > '9' || !process_pids_read(pid, &pids) || pids.count < 2)
		return false;
	process->id = (struct process_id){
		.pid = pids.innermost,
		.pid_ns = namespace_of(pid, "pid"),
		.start = start_read(pid),
	};
	process->here = (pid_t)strtol(pid, NULL, 10);
	return process->id.pid_ns != 0;
}

static bool
add(struct inner_processes *processes, const struct inner_process *process)
{
	if ((processes->n & (processes->n - 1)) == 0) { /* the room is a power of two */
		const size_t room = processes->n == 0 ? 1 : processes->n * 2;
		struct inner_process *all = realloc(processes->all, room * sizeof(*all));
		if (all == NULL)
			return false;
		processes->all = all;
	}
	processes->all[processes->n++] = *process;
	return true;
}

struct inner_processes
inner_processes_read(void)
{
	NO_CANCELLATION;
	struct inner_processes processes = {0};
	struct inner_process process;
	DIR *proc = proc_is_trustworthy() ? opendir("/proc") : NULL;
	if (proc == NULL)
		return processes;
	const struct dirent *entry;
	while ((entry = readdir(proc)) != NULL) {
		if (read_inner(entry->d_name, &process) && !add(&processes, &process))
			break;
	}
	closedir(proc);
	return processes;
}

void
inner_processes_free(struct inner_processes *processes)
{
	free(processes->all);
}

static pid_t
find(const struct inner_processes *processes, const struct process_id *id)
{
	for (size_t i = 0; i < processes->n; i++) {
		const struct process_id *other = &processes->all[i].id;
		if (other->pid == id->pid && other->pid_ns == id->pid_ns && is_same_start(other->start, id->start))
			return processes->all[i].here;
	}
	return 0;
}

pid_t
inner_process_judge(const struct inner_processes *processes, const struct process_id *id, enum liveness *verdict)
{
	struct identity self;
	const pid_t here = find(processes, id);
	if (here == 0 || *verdict != LIVENESS_UNKNOWN || identity_get(&self) < 0)
		return here;
	const struct process_id known = {.pid = (uint32_t)here, .start = id->start, .pid_ns = self.pid_ns};
	if ((enum liveness)platform.judge(&known) == LIVENESS_ALIVE)
		*verdict = LIVENESS_ALIVE;
	return here;
}

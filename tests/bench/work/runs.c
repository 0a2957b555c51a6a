/* SPDX-License-Identifier: MIT */
#include "runs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "moment.h"
#include "peer.h"
#include "support.h"

void
runs_begin(struct runs *runs, const char *program, void *semaphore)
{
	*runs = (struct runs){.program = program, .semaphore = semaphore};
	if (pipe2(runs->command_ends, O_CLOEXEC) != 0)
		die("pipe");
}

/* In a group of its own, so that both can be killed at once. */
static _Noreturn void
become_run(const struct runs *runs)
{
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	if (dup2(runs->command_ends[0], STDIN_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0)
		execl(runs->program, "tsem", "run", tsem_peer_name(runs->semaphore), "--", "cat", (char *)NULL);
	_exit(127);
}

struct arrival {
	void *semaphore;
	uint64_t before;
};

static bool
has_arrived(void *arg)
{
	const struct arrival *arrival = arg;
	return tsem_peer_arrivals(arrival->semaphore) > arrival->before;
}

void
runs_add(struct runs *runs)
{
	struct arrival arrival = {.semaphore = runs->semaphore, .before = tsem_peer_arrivals(runs->semaphore)};
	if (runs->size == RUNS_MAX)
		die("too many repetitions");
	const pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		become_run(runs);
	setpgid(pid, pid); /* both processes: the one that comes first has to succeed */
	runs->pids[runs->size++] = pid;
	await(has_arrived, &arrival, runs->program);
}

void
runs_kill_first(struct runs *runs)
{
	kill(-runs->pids[runs->first++], SIGKILL);
}

void
runs_end(struct runs *runs)
{
	while (runs->first < runs->size)
		runs_kill_first(runs);
	for (unsigned i = 0; i < runs->size; i++)
		waitpid(runs->pids[i], NULL, 0);
	close(runs->command_ends[0]);
	close(runs->command_ends[1]);
}

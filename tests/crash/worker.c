/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_SKIPPED = 77 };

unsigned
count_processors(unsigned most)
{
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 1;
	return (unsigned)CPU_COUNT(&allowed) < most ? (unsigned)CPU_COUNT(&allowed) : most;
}

void
stay_on_processor(unsigned worker)
{
	cpu_set_t allowed;
	cpu_set_t one;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	unsigned left = worker % (unsigned)CPU_COUNT(&allowed);
	CPU_ZERO(&one);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && left-- == 0)
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

double
seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void *
share_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	return memory;
}

int
await_end(pid_t pid)
{
	int status = 1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return status;
}

bool
run_workers(unsigned n, int (*work)(unsigned worker, void *arg), void *arg, void (*ended)(pid_t pid))
{
	pid_t pids[RUN_WORKERS_MAX];
	bool well = true;
	for (unsigned i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			exit(work(i, arg));
	}
	for (unsigned i = 0; i < n; i++) {
		int status = 1;
		while (waitpid(pids[i], &status, 0) < 0 && errno == EINTR) {
			for (unsigned other = i; other < n; other++)
				kill(pids[other], SIGKILL);
		}
		if (status != 0)
			fprintf(stderr, "worker %u ended with status %#x\n", i, (unsigned)status);
		well = well && status == 0;
		if (ended != NULL)
			ended(pids[i]);
	}
	return well;
}

bool
may_trace(void)
{
	const pid_t pid = fork();
	while (pid == 0)
		pause();
	const bool may = pid > 0 && ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD) == 0;
	kill(pid, SIGKILL);
	await_end(pid);
	return may;
}

int
skip_sweep(const char *sweep, const char *why)
{
	printf("SKIPPED: the %s sweep was not run: %s\n", sweep, why);
	return EXIT_SKIPPED;
}

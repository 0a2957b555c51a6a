/* SPDX-License-Identifier: MIT */
#include "pid_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
open_namespace_of(pid_t pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool
enter(int namespace)
{
	const bool well = namespace >= 0 && setns(namespace, CLONE_NEWPID) == 0;
	if (namespace >= 0)
		close(namespace);
	return well;
}

/* Does not leave the own namespace before it is certain that /proc shows the way back. */
bool
pid_namespace_is_permitted(void)
{
	const int own = open_namespace_of(getpid());
	return own >= 0 && unshare(CLONE_NEWPID) == 0 && enter(own);
}

void
pid_namespace_enter(pid_t first)
{
	if (first == 0 ? unshare(CLONE_NEWPID) == 0 : enter(open_namespace_of(first)))
		return;
	perror("PID namespace");
	abort();
}

void
pid_namespace_leave(void)
{
	pid_namespace_enter(getpid());
}

pid_t
pid_namespace_fork(pid_t first)
{
	pid_namespace_enter(first);
	const pid_t pid = fork();
	if (pid != 0)
		pid_namespace_leave();
	return pid;
}

uint32_t
pid_namespace_number(pid_t pid)
{
	char path[32];
	char line[256];
	uint32_t number = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		const char *last = strrchr(line, '\t');
		if (strncmp(line, "NSpid:", 6) == 0 && last != NULL)
			number = (uint32_t)strtoul(last, NULL, 10);
	}
	if (file != NULL)
		fclose(file);
	return number;
}

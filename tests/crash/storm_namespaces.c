/* SPDX-License-Identifier: MIT */
/*
 * Workers in PID namespaces of their own. All are children of the driver, which therefore knows their numbers, and which
 * has to reap the others before the first process of a namespace ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storm.h"

static int own_namespace = -1;

static _Noreturn void
give_up(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* Children of this process are in its own namespace again. */
static bool
return_to_own_namespace(void)
{
	return setns(own_namespace, CLONE_NEWPID) == 0;
}

void
storm_open_namespaces(struct storm *storm)
{
	enum { CONTAINED = NAMESPACES * NAMESPACE_WORKERS };
	own_namespace = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	if (storm->workers >= 2 * CONTAINED && own_namespace >= 0 && unshare(CLONE_NEWPID) == 0
	    && return_to_own_namespace())
		storm->contained = CONTAINED;
	else
		printf("storm: no worker is in a PID namespace of its own: %s\n",
		       storm->workers >= 2 * CONTAINED ? strerror(errno) : "there are too few workers");
}

/* Children of this process are in the namespace of the process `first`. */
static void
enter_namespace_of(pid_t first)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)first);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWPID) != 0)
		give_up("setns");
	close(fd);
}

pid_t
storm_fork(struct storm *storm, unsigned worker)
{
	if (!storm_is_contained(storm, worker))
		return fork();
	if (worker % NAMESPACE_WORKERS != 0)
		enter_namespace_of(atomic_load(&storm->entries[worker - worker % NAMESPACE_WORKERS].pid));
	else if (unshare(CLONE_NEWPID) != 0)
		give_up("unshare");
	const pid_t pid = fork();
	if (pid != 0 && !return_to_own_namespace())
		give_up("setns");
	return pid;
}

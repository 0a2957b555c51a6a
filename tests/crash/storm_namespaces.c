/* SPDX-License-Identifier: MIT */
/* Workers in PID namespaces of their own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pid_namespace.h"
#include "storm.h"

void
storm_open_namespaces(struct storm *storm)
{
	enum { CONTAINED = NAMESPACES * NAMESPACE_WORKERS };
	const bool enough = storm->workers >= 2 * CONTAINED;
	if (enough && pid_namespace_is_permitted())
		storm->contained = CONTAINED;
	else
		printf("storm: no worker is in a PID namespace of its own: %s\n",
		       enough ? strerror(errno) : "there are too few workers");
}

pid_t
storm_fork(struct storm *storm, unsigned worker)
{
	const unsigned first = worker - worker % NAMESPACE_WORKERS;
	if (!storm_is_contained(storm, worker))
		return fork();
	return pid_namespace_fork(worker == first ? 0 : atomic_load(&storm->entries[first].pid));
}

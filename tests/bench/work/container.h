/* SPDX-License-Identifier: MIT */
/* A PID namespace with a /proc of its own, as a container has. */
#ifndef TSEM_BENCH_CONTAINER_H
#define TSEM_BENCH_CONTAINER_H

#include <sys/types.h>

struct container {
	struct container_state *state;
	pid_t keeper; /* stays outside: its children are born inside, and it knows them by the caller's numbers */
};

/*
 * Creates a container, runs populate(arg) in its keeper, and returns when that has returned. 0, or an errno: the system
 * refuses it. container_end() follows in both cases.
 */
int container_start(struct container *container, void (*populate)(void *arg), void *arg);

/* Kills all processes inside, and waits for their end. */
void container_end(struct container *container);

#endif

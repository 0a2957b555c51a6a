/* SPDX-License-Identifier: MIT */
/* `tsem run` processes that hold one after the other until they are killed, together with their commands. */
#ifndef TSEM_BENCH_RUNS_H
#define TSEM_BENCH_RUNS_H

#include <sys/types.h>

enum { RUNS_MAX = 256 };

struct runs {
	const char *program; /* tsem */
	void *semaphore;     /* of peer_tsem_owned */
	int command_ends[2]; /* a pipe: the commands read from it, and end with this program at the latest */
	unsigned first;
	unsigned size;
	pid_t pids[RUNS_MAX];
};

void runs_begin(struct runs *runs, const char *program, void *semaphore);

/* Starts one. Returns when it holds or waits. */
void runs_add(struct runs *runs);

/* Kills the one that holds, with its command. */
void runs_kill_first(struct runs *runs);

void runs_end(struct runs *runs);

#endif

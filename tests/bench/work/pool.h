/* SPDX-License-Identifier: MIT */
/*
 * Many processes that queue up on a semaphore when they are told to, and sleep otherwise. All peers use the same ones
 * in turn, so that 10,000 processes are created only once.
 */
#ifndef TSEM_BENCH_POOL_H
#define TSEM_BENCH_POOL_H

#include <sys/types.h>

#include "workload.h"

enum { POOL_MAX = 20000 };

/* What a worker does when it has the permit. */
enum errand { PASS_ON, KEEP };

struct subject {
	const struct peer *peer;
	void *semaphore;
};

struct pool_control {
	atomic_uint round;
	/* The current round. */
	unsigned subject;
	unsigned from;
	unsigned to;
	enum errand errand;
	_Alignas(64) atomic_uint queueing; /* about to take */
	_Alignas(64) atomic_uint admitted; /* of this round */
	_Alignas(64) atomic_uint done;
	_Atomic uint64_t stamps[POOL_MAX]; /* the times, in the order of admission */
};

struct pool {
	struct pool_control *control;
	struct subject subjects[PEERS_MAX];
	unsigned size;
	pid_t pids[POOL_MAX];
};

/* Creates `size` workers for the subjects, which must exist. False: the machine does not allow as many. */
bool pool_start(struct pool *pool, unsigned size);

/* Lets the workers `from` to `to` queue up on the subject. Returns when all of them sleep in the queue. */
void pool_queue(struct pool *pool, unsigned subject, unsigned from, unsigned to, enum errand errand);

/* The same without waiting until they sleep, for a queue that may move at once. */
void pool_send(struct pool *pool, unsigned subject, unsigned from, unsigned to, enum errand errand);

/* Waits until `count` workers of this round are done. False after `seconds`. */
bool pool_wait(struct pool *pool, unsigned count, double seconds);

void pool_kill(struct pool *pool, unsigned from, unsigned to);
void pool_end(struct pool *pool);

#endif

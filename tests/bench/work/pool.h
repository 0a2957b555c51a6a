/* SPDX-License-Identifier: MIT */
/*
 * Many processes that queue up on a semaphore when they are told to, and sleep otherwise. All peers use the same ones
 * in turn, so that 10,000 processes are created only once.
 */
#ifndef TSEM_BENCH_POOL_H
#define TSEM_BENCH_POOL_H

#include <limits.h>
#include <sys/types.h>

#include "workload.h"

enum { POOL_MAX = 20000, SUBJECTS_MAX = 1000 };

/* What a worker does when it has the permit. */
enum errand { PASS_ON, KEEP };

/* In place of a subject: each worker queues up on the one that has the worker's number. */
#define OWN_SUBJECT UINT_MAX

struct subject {
	const struct peer *peer;
	void *semaphore;
};

struct job {
	unsigned subject;
	unsigned from; /* the workers that do it */
	unsigned to;
	enum errand errand;
};

struct pool_control {
	atomic_uint round;                 /* odd: the job is being written */
	struct job job;                    /* of this round */
	_Alignas(64) atomic_uint queueing; /* about to take */
	_Alignas(64) atomic_uint admitted; /* of this round */
	_Alignas(64) atomic_uint done;
	atomic_uint latest;                /* the worker that was admitted last */
	_Atomic uint64_t stamps[POOL_MAX]; /* the times, in the order of admission */
	pid_t pids[POOL_MAX];              /* 0: not created */
};

struct pool {
	struct pool_control *control;
	struct subject subjects[SUBJECTS_MAX];
	unsigned size;
};

/*
 * Creates `size` workers for the subjects, which must exist. False: the machine does not allow as many; pool_end() ends
 * those that there are.
 */
bool pool_start(struct pool *pool, unsigned size);

/* The same in two steps. pool_fork() creates one worker, as a child of any process that was forked in between. */
void pool_create(struct pool *pool, unsigned size);
bool pool_fork(struct pool *pool, unsigned index);

/* Lets the workers `from` to `to` queue up on the subject. Returns when all of them sleep in the queue. */
void pool_queue(struct pool *pool, unsigned subject, unsigned from, unsigned to, enum errand errand);

/* The same without waiting until they sleep, for a queue that may move at once. */
void pool_send(struct pool *pool, unsigned subject, unsigned from, unsigned to, enum errand errand);

/* Waits until `count` workers of this round are done. False after `seconds`. */
bool pool_wait(struct pool *pool, unsigned count, double seconds);

void pool_kill(struct pool *pool, unsigned from, unsigned to);
void pool_end(struct pool *pool);

#endif

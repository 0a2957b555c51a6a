/* SPDX-License-Identifier: MIT */
/* A robust mutex of the C library between processes: the owner's death is told to the next, order is not kept. */
#include <errno.h>
#include <pthread.h>

#include "peer.h"
#include "support.h"

static void *
mutex_create(unsigned permits)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t *mutex = fresh_line(sizeof(*mutex));
	if (permits != 1 || pthread_mutexattr_init(&attributes) != 0
	    || pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) != 0
	    || pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) != 0
	    || pthread_mutex_init(mutex, &attributes) != 0)
		die("pthread_mutex_init");
	pthread_mutexattr_destroy(&attributes);
	return mutex;
}

static void
mutex_destroy(void *semaphore)
{
	fresh_line_free(semaphore, sizeof(pthread_mutex_t));
}

static inline void
mutex_take(void *semaphore, struct seat *seat)
{
	(void)seat;
	const int rc = pthread_mutex_lock(semaphore);
	if (rc == EOWNERDEAD)
		pthread_mutex_consistent(semaphore);
	else if (rc != 0)
		die("pthread_mutex_lock");
}

static inline void
mutex_give(void *semaphore, struct seat *seat)
{
	(void)seat;
	if (pthread_mutex_unlock(semaphore) != 0)
		die("pthread_mutex_unlock");
}

DEFINE_PAIRS(mutex)

static size_t
mutex_bytes(void *semaphore)
{
	(void)semaphore;
	return sizeof(pthread_mutex_t);
}

const struct peer peer_mutex = {
	.name = "robust-mutex",
	.traits = LOCK | RECOVERS,
	.create = mutex_create,
	.destroy = mutex_destroy,
	.take = mutex_take,
	.give = mutex_give,
	.bytes = mutex_bytes,
	.pairs = mutex_pairs,
};

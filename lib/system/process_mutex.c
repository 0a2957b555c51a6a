/* SPDX-License-Identifier: MIT */
#include "system/process_mutex.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void
process_mutex_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void
process_mutex_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

/*
 * Before the program registers its own handlers: fork() calls the last ones first, so they may take a mutex under which the
 * program calls this library.
 */
static __attribute__((constructor)) void
mind_forks(void)
{
	pthread_atfork(process_mutex_lock, process_mutex_unlock, process_mutex_unlock);
}

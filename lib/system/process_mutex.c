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

static void
mind_forks(void)
{
	pthread_atfork(process_mutex_lock, process_mutex_unlock, process_mutex_unlock);
}

__attribute__((constructor)) void
process_mutex_mind_forks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, mind_forks);
}

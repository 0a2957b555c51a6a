/* SPDX-License-Identifier: MIT */
/* A library that uses a semaphore before the program begins, and in each child. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "early_library.h"

bool has_begun;
static const char name[] = "/early-library";
static sem_t *sem;

static void
open_again(void)
{
	if (sem_close(sem) != 0 || (sem = sem_open(name, O_CREAT, 0600, 1)) == SEM_FAILED || sem_unlink(name) != 0)
		abort();
}

static __attribute__((constructor)) void
begin(void)
{
	sem = sem_open(name, O_CREAT, 0600, 1);
	if (sem == SEM_FAILED || sem_unlink(name) != 0)
		abort();
	pthread_atfork(NULL, NULL, open_again);
	has_begun = true;
}

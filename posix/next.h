/* SPDX-License-Identifier: MIT */
/* The functions of libc, for semaphores that sem_init() has made. */
#ifndef TSEM_POSIX_NEXT_H
#define TSEM_POSIX_NEXT_H

#include <semaphore.h>
#include <time.h>

struct next {
	int (*wait)(sem_t *sem);
	int (*trywait)(sem_t *sem);
	int (*timedwait)(sem_t *sem, const struct timespec *deadline);
	int (*clockwait)(sem_t *sem, clockid_t clock, const struct timespec *deadline); /* NULL: libc has none */
	int (*post)(sem_t *sem);
	int (*getvalue)(sem_t *sem, int *value);
};

/* Async-signal-safe once this library has been initialized. */
const struct next *next(void);

#endif

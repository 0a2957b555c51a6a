/* SPDX-License-Identifier: MIT */
/* What sem_open() returns. */
#ifndef TSEM_POSIX_NAMED_H
#define TSEM_POSIX_NAMED_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

#include "posix_holds.h"
#include "tsem.h"

/*
 * The third and the fourth word of a semaphore that sem_init() has made are small numbers or padding, one of them a small
 * number: in glibc with 64-bit words the flag for private futexes and padding, in musl that flag and nothing, in glibc with
 * 32-bit words padding and the number of waiters. So no such semaphore has one of these values there.
 */
#define NAMED_OPEN UINT64_C(0xa37d5eb1e9c2f486)
#define NAMED_CLOSED UINT64_C(0xc41b9df2d78a6035)

struct named {
	uint32_t unused[2];
	_Atomic uint64_t mark; /* NAMED_OPEN or NAMED_CLOSED */
	tsem *handle;
	struct holds *holds;        /* NULL: permits are anonymous */
	unsigned opened;            /* how often, less how often it was closed */
	_Atomic uint64_t last_look; /* for dead waiters, by sem_getvalue(), in ms of CLOCK_MONOTONIC_COARSE */
	unsigned char uuid[16];
	struct named *next;
};

_Static_assert(sizeof(struct named) >= sizeof(sem_t),
               "a sem_t that is copied, which POSIX leaves undefined, may be read");

enum kind { KIND_OF_LIBC, KIND_NAMED, KIND_CLOSED };

/* What the program's semaphore is. */
static inline enum kind
named_kind(sem_t *sem, struct named **named)
{
	*named = (struct named *)(void *)sem;
	const uint64_t mark = atomic_load_explicit(&(*named)->mark, memory_order_relaxed);
	if (__builtin_expect(mark == NAMED_OPEN, 1))
		return KIND_NAMED;
	return mark == NAMED_CLOSED ? KIND_CLOSED : KIND_OF_LIBC;
}

/* Sets errno for a negative error number of libtsem, and returns -1. */
int named_fail(int rc);

#endif

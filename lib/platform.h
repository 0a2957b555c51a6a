/* SPDX-License-Identifier: MIT */
/*
 * What the library asks of the system while it waits or judges: the clock, sleeping, waking, life and death. One table,
 * so that tests put injected ones in their place and no test has to sleep.
 */
#ifndef TSEM_LIB_PLATFORM_H
#define TSEM_LIB_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "atomic.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_FOREVER UINT64_MAX

struct process_id;

struct platform {
	/* CLOCK_MONOTONIC in ns. */
	uint64_t (*now)(void);
	/* Sleeps while *word is `expected`, until the absolute time `until`; 0 or -EAGAIN, -EINTR, -ETIMEDOUT. */
	int (*sleep)(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until);
	/* The same on any of n words, whatever bits are woken on them. May return early. */
	int (*sleep_any)(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until);
	/* Wakes at most n sleepers of the word that sleep on one of these bits. Returns how many, or less than 0. */
	int (*wake)(_Atomic uint32_t *word, uint32_t bits, int n);
	/* A round of waiting in a loop: some tens of nanoseconds for others to do something. */
	void (*pause)(void);
	/* enum liveness, of liveness.h */
	int (*judge)(const struct process_id *owner);
};

extern struct platform platform;

static inline uint64_t
earlier_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The clock to the last tick of the kernel, some ms old, which costs next to nothing: for stamps that people look at. */
static inline uint64_t
coarse_now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SECOND + (uint64_t)ts.tv_nsec;
}

/* Another number in every second, and the cheapest clock there is: with glibc one load. */
static inline uint64_t
this_second(void)
{
#ifdef __GLIBC__
	return (uint64_t)time(NULL);
#else
	return coarse_now() / NS_PER_SECOND;
#endif
}

#endif

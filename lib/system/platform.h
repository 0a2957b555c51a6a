/* SPDX-License-Identifier: MIT */
/*
 * What the library needs from the system while it waits and while it judges owners: clocks, sleeping, waking, and
 * liveness. A table of functions: a test replaces them and so needs not sleep.
 */
#ifndef TSEM_LIB_PLATFORM_H
#define TSEM_LIB_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "atomic.h"
#include "system/clock.h"

struct process_id;

struct platform {
	uint64_t (*now)(void);
	/* The time of the kernel's last tick: some milliseconds old and much cheaper, for times that only people read. */
	uint64_t (*coarse_now)(void);
	uint64_t (*real_now)(void); /* CLOCK_REALTIME */
	/* Returns a number that changes once a second, from the cheapest clock. The argument is NULL, as for time(). */
	time_t (*second)(time_t *unused);
	/* Sleeps on `bits` of the word while it is `expected`, at most until `until`. 0, -EAGAIN, -EINTR or -ETIMEDOUT. */
	int (*sleep)(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until);
	/* Sleeps on all n words at the same time, and for a wake of any bits. May return early. */
	int (*sleep_any)(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until);
	/* Wakes at most n threads that sleep on the word and on one of these bits. Returns their number, or less than 0. */
	int (*wake)(_Atomic uint32_t *word, uint32_t bits, int n);
	/* Spends one round of a spinning wait: some tens of nanoseconds. */
	void (*pause)(void);
	/* Returns an enum liveness: see liveness.h. */
	int (*judge)(const struct process_id *owner);
};

/*
 * The dynamic linker makes the table read-only after filling it. Tests that replace functions are linked without that.
 */
extern struct platform platform;

#endif

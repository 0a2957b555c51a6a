/* SPDX-License-Identifier: MIT */
/*
 * What the library asks of the system while it waits and while it judges owners: clocks, sleeping, waking, and whether a
 * process is dead. A table of functions, so that a test can put its own in their place and need not sleep.
 */
#ifndef TSEM_LIB_PLATFORM_H
#define TSEM_LIB_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "atomic.h"
#include "clock.h"

struct process_id;

struct platform {
	uint64_t (*now)(void);
	/* The same as of the kernel's last tick, some milliseconds old, at a fraction of the cost: for times that only people read. */
	uint64_t (*coarse_now)(void);
	/* A number that changes once a second, by the cheapest clock there is; the argument is NULL. */
	time_t (*second)(time_t *unused);
	/* Sleeps while *word is `expected`, at most until the time `until`. 0, -EAGAIN, -EINTR or -ETIMEDOUT. */
	int (*sleep)(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until);
	/* The same on any of n words, for a wake of any bits. May return early. */
	int (*sleep_any)(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until);
	/* Wakes at most n sleepers of the word that sleep on one of these bits. Returns their number, or less than 0. */
	int (*wake)(_Atomic uint32_t *word, uint32_t bits, int n);
	/* One round of a spinning wait: some tens of nanoseconds. */
	void (*pause)(void);
	/* Returns an enum liveness: see liveness.h. */
	int (*judge)(const struct process_id *owner);
};

/* The dynamic linker makes the table read-only when it has filled it in; the tests are linked without that. */
extern struct platform platform;

#endif

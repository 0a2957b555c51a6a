/* SPDX-License-Identifier: MIT */
/*
 * A platform in which one process plays everybody: time passes only while it sleeps, and what others do happens inside
 * the calls that the library makes. So a lost wake-up shows as time that passed, and no test has to wait.
 */
#ifndef TSEM_TESTS_FAKE_H
#define TSEM_TESTS_FAKE_H

#include "inside.h"
#include "platform.h"

struct fake {
	uint64_t clock;
	uint64_t calls; /* of any of the functions that may be interrupted by others: now, sleep, judge */
	uint64_t pauses;
	uint64_t at_call;              /* the call within which `others` act; 0: within the next sleep */
	uint64_t others_from_sleep;    /* that one has at least this number */
	void (*others)(void);          /* once */
	void (*others_at_pause)(void); /* once, within the next pause */
	void (*others_at_wake)(void);  /* once, within the next wake */

	uint64_t sleeps;
	uint64_t timed_out; /* sleeps that only the time ended */
	uint64_t slept_until[64];
	uint32_t slept_bits;
	int sleep_result; /* instead of sleeping; once, for the sleep number `at_sleep` */
	uint64_t at_sleep;

	uint64_t wakes;
	_Atomic uint32_t *woken[5000];
	uint32_t woken_bits[5000];
	int woken_most[5000];
	_Atomic uint32_t *slept_on; /* while others act inside a sleep */
};

extern struct fake fake;

/* For cmocka: the fake takes the place of the platform, and the real one comes back. */
void fake_begin(void);
void fake_end(void);

#endif

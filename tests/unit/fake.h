/* SPDX-License-Identifier: MIT */
/*
 * The platform of the unit tests and of the fuzz target. One process acts for all: time passes only while it sleeps or
 * pauses, and a peer, which stands for another process, acts inside the calls that the library makes. So a lost wake-up
 * shows as time that has passed, no test waits, and an input of the fuzzer meets the same moments each time.
 */
#ifndef TSEM_TESTS_FAKE_H
#define TSEM_TESTS_FAKE_H

#include "system/platform.h"

struct fake {
	uint64_t clock;
	uint64_t real_ahead; /* of it is CLOCK_REALTIME */
	uint64_t calls;      /* of the functions within which a peer may act: now, sleep, judge */
	uint64_t pauses;
	uint64_t pause_lasts;        /* ns; 1 at first, so that a whole spin takes SPIN_MAX ns */
	void (*peer_at_each)(void);  /* acts within each of these calls, and each wake */
	void (*peer)(void);          /* acts once, within the call number `at_call` */
	uint64_t at_call;            /* 0: within the next sleep */
	uint64_t peer_from_sleep;    /* and not before the sleep with this number */
	void (*peer_at_pause)(void); /* acts once, within the next pause */
	void (*peer_at_wake)(void);  /* acts once, within the next wake */

	uint64_t sleep_lasts; /* ns; 0: until the end that the library gives */
	uint64_t sleeps;
	uint64_t sleeps_most;
	uint64_t timed_out; /* sleeps that only the time ended */
	uint64_t slept_until[256];
	uint32_t slept_bits;
	uint64_t at_sleep; /* the sleep with this number does not sleep, and returns `sleep_result` */
	int sleep_result;

	uint64_t wakes;
	_Atomic uint32_t *woken[5000];
	uint32_t woken_bits[5000];
	int woken_most[5000];
	_Atomic uint32_t *slept_on; /* while the peer acts inside a sleep */
};

extern struct fake fake;

/* Puts the fake in place of the platform, and the real one back. */
void fake_begin(void);
void fake_end(void);

/* The program defines it: the library sleeps for ever, or too often. */
_Noreturn void fake_is_stuck(uint64_t sleeps);

#endif

/* SPDX-License-Identifier: MIT */
/* Waiting without a sleep, for a little while and as long as that has been paying off. */
#ifndef TSEM_LIB_SPIN_H
#define TSEM_LIB_SPIN_H

#include "protocol/handle.h"

/* The most rounds that a waiter spins. */
enum { SPIN_MAX = 2000 };

/* A process that waits with a ticket. */
struct waiter {
	uint32_t count;
	const struct tsem_wait *options;
	struct record *record;
	uint64_t ticket;
	uint64_t until;   /* the deadline in ns of CLOCK_MONOTONIC, or NS_FOREVER */
	uint32_t cancels; /* the header's, read before the wait began */
};

/* Whether the ticket is enabled or the record HELD. */
bool wait_is_over(const struct tsem *sem, const struct waiter *waiter);

/* 0 where spinning is pointless: on a single processor. */
uint32_t wait_spin_ceiling(void);

/*
 * Spins if the ticket is near the front and spinning has been paying off. True: the record is HELD, or the ticket is
 * enabled. The record may then be in any state; RELEASING or IDLE if the ticket was skipped.
 */
bool wait_spinning(struct tsem *sem, const struct waiter *waiter);

/*
 * Not a number of pauses, because a pause lasts four times as long on one processor as on another. The longer it is,
 * the more two contending processes do per second, and the longer a process stays out of the queue in vain if the
 * waiter was done at once. A sleep and a wake-up take longer than this.
 */
#define BACKOFF_FOR (4 * UINT64_C(1000))

/* The backoff of a process that has just let a waiter in: it stays out of the queue, so that the waiter can work. */
void wait_backoff(const struct tsem *sem);

#endif

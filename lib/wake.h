/* SPDX-License-Identifier: MIT */
/* Waking the waiters that sleep on the waiting array. wait.h has the other side. */
#ifndef TSEM_LIB_WAKE_H
#define TSEM_LIB_WAKE_H

#include "protocol.h"

/* Wakes the waiters that the grant enabled, and no others. No system call if none waits. Async-signal-safe. */
void wake_enabled(struct tsem *sem, const struct grant *grant);

/*
 * Wakes the waiters that are enabled, admitted or cancelled and still asleep: the process that should have woken them
 * has died.
 */
void wake_overlooked(struct tsem *sem);

/* Wakes the waiters on the word of this ticket, to look again. */
void wake_ticket(struct tsem *sem, uint64_t ticket);

/* Wakes every waiter, to look again: the capacity was raised, the semaphore removed, or all waits were cancelled. */
void wake_all(struct tsem *sem);

#endif

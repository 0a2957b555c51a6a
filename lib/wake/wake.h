/* SPDX-License-Identifier: MIT */
/* Waking the waiters that sleep on the waiting array. wait.h has the other side. */
#ifndef TSEM_LIB_WAKE_H
#define TSEM_LIB_WAKE_H

#include "protocol/protocol.h"

/* A waiter sleeps on the word of the last of its tickets, which is the last one to be enabled. */
static inline uint64_t
last_ticket(uint64_t ticket, uint32_t count)
{
	return counter_add(ticket, count - 1);
}

static inline _Atomic uint32_t *
ticket_word(struct tsem *sem, uint64_t ticket)
{
	return &sem->segment.array[word_index(ticket, sem->hash_salt)];
}

/* Wakes the waiters that the grant enabled, and no others. No system call if none waits. Async-signal-safe. */
void wake_enabled(struct tsem *sem, const struct grant *grant);

/*
 * Wakes the waiters that are enabled, admitted or cancelled and still asleep: the process that should have woken them
 * has died.
 */
void wake_overlooked(struct tsem *sem);

/* Wakes the waiter that has these tickets, to look again. In a queue of over 4,096 tickets another one may wake, too. */
void wake_waiter(struct tsem *sem, uint64_t ticket, uint32_t count);

/* Wakes every waiter, to look again: the capacity was raised, the semaphore removed, or all waits were cancelled. */
void wake_all(struct tsem *sem);

#endif

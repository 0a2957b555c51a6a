/* SPDX-License-Identifier: MIT */
/* The word of the waiting array that belongs to a ticket. */
#ifndef TSEM_LIB_TICKET_WORD_H
#define TSEM_LIB_TICKET_WORD_H

#include "protocol/handle.h"

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

#endif

/* SPDX-License-Identifier: MIT */
/* Setting up and looking at the insides of a semaphore, word by word. */
#ifndef TSEM_TESTS_INSIDE_H
#define TSEM_TESTS_INSIDE_H

#include <errno.h>

#include "support.h"

#include "fast.h"
#include "grant.h"
#include "notify.h"
#include "owner.h"
#include "protocol.h"
#include "queue.h"
#include "recover.h"
#include "recover_front.h"
#include "removal.h"
#include "ticket_word.h"
#include "wake.h"

/* A process that has never been: the highest pid there can be, started at a time of its own. */
#define NOBODY_PID ((1U << PID_BITS) - 1)
#define NOBODY owner_process(NOBODY_PID, 4711)

static inline void
set_counters(tsem *sem, uint64_t ticket, uint64_t grant)
{
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(ticket & COUNTER_MASK, TAG_NONE));
	STORE_SEQ(&sem->segment.header->grants, counter_word_make(grant & COUNTER_MASK, TAG_NONE));
}

static inline uint64_t
tickets_of(tsem *sem)
{
	return counter_value(LOAD_SEQ(&sem->segment.header->tickets));
}

static inline uint64_t
grants_of(tsem *sem)
{
	return counter_value(LOAD_SEQ(&sem->segment.header->grants));
}

static inline uint64_t
state_of(tsem *sem, uint32_t index)
{
	return LOAD_SEQ(&sem->segment.records[index].state);
}

/* `phases`: STATE_ARRIVAL_PHASE and STATE_RELEASE_PHASE as they are to be. */
static inline void
put_record(tsem *sem, uint32_t index, uint64_t owner, enum state_kind state, uint64_t phases, uint64_t value,
           uint32_t count)
{
	struct record *record = &sem->segment.records[index];
	STORE_SEQ(&record->owner, owner);
	STORE_SEQ(&record->gen, 7);
	STORE_SEQ(&record->count, count);
	STORE_SEQ(&record->state, state_next(phases, state, value));
}

/* How many records somebody uses for something: kept ones are CLAIMED, and have no ticket. */
static inline uint32_t
records_in_use(tsem *sem)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < LOAD_SEQ(&sem->segment.reserved); i++)
		n += state_kind(state_of(sem, i)) > STATE_CLAIMED;
	return n;
}

#endif

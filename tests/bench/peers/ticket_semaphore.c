/* SPDX-License-Identifier: MIT */
/*
 * The Ticket-Semaphore of Dice and Kogan (arXiv 2501.18447, Listing 1), written from its idea and not its text: all
 * waiters spin on `grant`.
 */
#include <stdbool.h>

#include "peer.h"
#include "ticket.h"

static void *
ticket_create(unsigned permits)
{
	struct counters *counters = fresh_line(sizeof(*counters));
	atomic_init(&counters->grant, permits);
	return counters;
}

static void
ticket_destroy(void *semaphore)
{
	fresh_line_free(semaphore, sizeof(struct counters));
}

static inline void
ticket_take(void *semaphore, tsem_hold *hold)
{
	struct counters *counters = semaphore;
	(void)hold;
	const uint64_t ticket = atomic_fetch_add(&counters->ticket, 1);
	while (!is_enabled(counters, ticket))
		relax();
}

static inline void
ticket_give(void *semaphore, tsem_hold *hold)
{
	(void)hold;
	atomic_fetch_add(&((struct counters *)semaphore)->grant, 1);
}

DEFINE_PAIRS(ticket)

static size_t
ticket_bytes(void *semaphore)
{
	(void)semaphore;
	return sizeof(struct counters);
}

const struct peer peer_ticket_semaphore = {
	.name = "ticket-semaphore",
	.traits = SPINS,
	.create = ticket_create,
	.destroy = ticket_destroy,
	.take = ticket_take,
	.give = ticket_give,
	.bytes = ticket_bytes,
	.pairs = ticket_pairs,
};

/* SPDX-License-Identifier: MIT */
/*
 * The TWA-Semaphore with waiting chains (arXiv 2501.18447, Listing 3), written from its idea and not its text. A bucket
 * is a stack of the waiters' own elements, which lie on the waiters' stacks, so it serves threads only. A give detaches
 * the whole chain of the ticket that it enables. Waiters of other tickets on the chain look again and chain themselves
 * again.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "peer.h"
#include "ticket.h"

struct element {
	struct element *next;
	atomic_uint gate;
};

struct chains {
	struct counters counters;
	char padding[48];
	_Atomic(struct element *) array[BUCKETS];
};

static void *
chains_create(unsigned permits)
{
	struct chains *chains = fresh_line(sizeof(*chains));
	atomic_init(&chains->counters.grant, permits);
	return chains;
}

static void
chains_destroy(void *semaphore)
{
	fresh_line_free(semaphore, sizeof(struct chains));
}

static void
push(_Atomic(struct element *) *head, struct element *element)
{
	atomic_store(&element->gate, 0);
	element->next = atomic_load(head);
	while (!atomic_compare_exchange_weak(head, &element->next, element))
		;
}

/* The element may be gone as soon as its gate is open; a wake at its former address is harmless. */
static void
wake_chain(_Atomic(struct element *) *head)
{
	struct element *element = atomic_exchange(head, NULL);
	while (element != NULL) {
		struct element *next = element->next;
		atomic_uint *gate = &element->gate;
		/* 2: the waiter sleeps */
		if (atomic_exchange(gate, 1) == 2)
			futex_wake(gate, 1, BETWEEN_THREADS);
		element = next;
	}
}

static void
wait_at_gate(atomic_uint *gate)
{
	for (int i = 0; i < SPIN_ROUNDS; i++) {
		if (atomic_load(gate) == 1)
			return;
		relax();
	}
	unsigned open = 0;
	atomic_compare_exchange_strong(gate, &open, 2);
	while (atomic_load(gate) != 1)
		futex_wait(gate, 2, BETWEEN_THREADS);
}

static inline void
chains_take(void *semaphore, tsem_hold *hold)
{
	struct chains *chains = semaphore;
	(void)hold;
	const uint64_t ticket = atomic_fetch_add(&chains->counters.ticket, 1);
	_Atomic(struct element *) *head = &chains->array[bucket_of(&chains->counters, ticket)];
	while (!is_enabled(&chains->counters, ticket)) {
		struct element element;
		push(head, &element);
		/* Enabled after all: the element must leave the chain before it goes out of scope. */
		if (is_enabled(&chains->counters, ticket))
			wake_chain(head);
		wait_at_gate(&element.gate);
	}
}

static inline void
chains_give(void *semaphore, tsem_hold *hold)
{
	struct chains *chains = semaphore;
	(void)hold;
	const uint64_t enabled = atomic_fetch_add(&chains->counters.grant, 1);
	if ((int64_t)(atomic_load(&chains->counters.ticket) - enabled) > 0)
		wake_chain(&chains->array[bucket_of(&chains->counters, enabled)]);
}

DEFINE_PAIRS(chains)

static size_t
chains_bytes(void *semaphore)
{
	(void)semaphore;
	return sizeof(struct chains);
}

const struct peer peer_chains = {
	.name = "waiting-chains",
	.traits = THREADS_ONLY,
	.create = chains_create,
	.destroy = chains_destroy,
	.take = chains_take,
	.give = chains_give,
	.bytes = chains_bytes,
	.pairs = chains_pairs,
};

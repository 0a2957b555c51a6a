/* SPDX-License-Identifier: MIT */
/*
 * The TWA-Semaphore of Dice and Kogan (arXiv 2501.18447, Listing 2), written from its idea and not its text: waiters
 * watch a word of the waiting array that their ticket selects, and a give advances the word of the ticket that it
 * enables. Waiters spin on that word first and then sleep on it, so that it runs with more participants than CPUs.
 */
#include <limits.h>
#include <stdbool.h>

#include "peer.h"
#include "ticket.h"

struct twa {
	struct counters counters;
	char padding[48];
	atomic_uint array[BUCKETS];
};

static void *
twa_create(unsigned permits)
{
	struct twa *twa = fresh_line(sizeof(*twa));
	atomic_init(&twa->counters.grant, permits);
	return twa;
}

static void
twa_destroy(void *semaphore)
{
	fresh_line_free(semaphore, sizeof(struct twa));
}

static void
wait_for_change(atomic_uint *word, unsigned seen)
{
	for (int i = 0; i < SPIN_ROUNDS; i++) {
		if (atomic_load(word) != seen)
			return;
		relax();
	}
	futex_wait(word, seen, BETWEEN_PROCESSES);
}

static inline void
twa_take(void *semaphore, tsem_hold *hold)
{
	struct twa *twa = semaphore;
	(void)hold;
	const uint64_t ticket = atomic_fetch_add(&twa->counters.ticket, 1);
	if (is_enabled(&twa->counters, ticket))
		return;
	atomic_uint *word = &twa->array[bucket_of(&twa->counters, ticket)];
	for (;;) {
		/* The word is read before the counter: a give in between advances the word, and the wait ends at once. */
		const unsigned seen = atomic_load(word);
		if (is_enabled(&twa->counters, ticket))
			return;
		wait_for_change(word, seen);
	}
}

static inline void
twa_give(void *semaphore, tsem_hold *hold)
{
	struct twa *twa = semaphore;
	(void)hold;
	const uint64_t enabled = atomic_fetch_add(&twa->counters.grant, 1);
	if ((int64_t)(atomic_load(&twa->counters.ticket) - enabled) <= 0)
		return;
	atomic_uint *word = &twa->array[bucket_of(&twa->counters, enabled)];
	atomic_fetch_add(word, 1);
	futex_wake(word, INT_MAX, BETWEEN_PROCESSES);
}

DEFINE_PAIRS(twa)

static size_t
twa_bytes(void *semaphore)
{
	(void)semaphore;
	return sizeof(struct twa);
}

const struct peer peer_twa_semaphore = {
	.name = "twa-semaphore",
	.create = twa_create,
	.destroy = twa_destroy,
	.take = twa_take,
	.give = twa_give,
	.bytes = twa_bytes,
	.pairs = twa_pairs,
};

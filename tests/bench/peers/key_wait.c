/* SPDX-License-Identifier: MIT */
/*
 * A Ticket-Semaphore whose waiters use KeyMonitor and KeyWait (arXiv 2501.18447, Listing 4), written from its idea and
 * not its text: announce a key, look once more, then wait until this key is notified, and not another one in its
 * bucket. For threads only, because the announcements lie on their stacks.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "peer.h"
#include "ticket.h"

struct monitor {
	struct monitor *next;
	uint64_t key;
	atomic_uint gate;
};

struct bucket {
	atomic_uint locked; /* held for a few instructions */
	struct monitor *first;
};

struct key_wait {
	struct counters counters;
	char padding[48];
	struct bucket array[BUCKETS];
};

static void
lock(struct bucket *bucket)
{
	while (atomic_exchange_explicit(&bucket->locked, 1, memory_order_acquire) != 0)
		sched_yield();
}

static void
unlock(struct bucket *bucket)
{
	atomic_store_explicit(&bucket->locked, 0, memory_order_release);
}

static void
key_monitor(struct bucket *bucket, struct monitor *monitor, uint64_t key)
{
	monitor->key = key;
	atomic_store(&monitor->gate, 0);
	lock(bucket);
	monitor->next = bucket->first;
	bucket->first = monitor;
	unlock(bucket);
	/* Pairs with the give, which moves the grant and then looks at the chain. */
	atomic_thread_fence(memory_order_seq_cst);
}

/* Removes the first monitor with this key from the chain: keys are tickets, so there is at most one. */
static struct monitor *
detach(struct bucket *bucket, uint64_t key)
{
	lock(bucket);
	struct monitor **link = &bucket->first;
	while (*link != NULL && (*link)->key != key)
		link = &(*link)->next;
	struct monitor *found = *link;
	if (found != NULL)
		*link = found->next;
	unlock(bucket);
	return found;
}

static void
key_wait(struct monitor *monitor)
{
	for (int i = 0; i < SPIN_ROUNDS; i++) {
		if (atomic_load(&monitor->gate) == 1)
			return;
		relax();
	}
	unsigned open = 0;
	atomic_compare_exchange_strong(&monitor->gate, &open, 2);
	while (atomic_load(&monitor->gate) != 1)
		futex_wait(&monitor->gate, 2, BETWEEN_THREADS);
}

static void
key_notify(struct bucket *bucket, uint64_t key)
{
	struct monitor *monitor = detach(bucket, key);
	if (monitor != NULL && atomic_exchange(&monitor->gate, 1) == 2)
		futex_wake(&monitor->gate, 1, BETWEEN_THREADS);
}

static void *
key_create(unsigned permits)
{
	struct key_wait *semaphore = fresh_line(sizeof(*semaphore));
	atomic_init(&semaphore->counters.grant, permits);
	return semaphore;
}

static void
key_destroy(void *semaphore)
{
	fresh_line_free(semaphore, sizeof(struct key_wait));
}

static inline void
key_take(void *semaphore, tsem_hold *hold)
{
	struct key_wait *sem = semaphore;
	struct monitor monitor;
	(void)hold;
	const uint64_t ticket = atomic_fetch_add(&sem->counters.ticket, 1);
	if (is_enabled(&sem->counters, ticket))
		return;
	struct bucket *bucket = &sem->array[bucket_of(&sem->counters, ticket)];
	key_monitor(bucket, &monitor, ticket);
	/* Enabled after all, and not yet found by the give: no wait is needed. */
	if (is_enabled(&sem->counters, ticket) && detach(bucket, ticket) != NULL)
		return;
	key_wait(&monitor);
}

static inline void
key_give(void *semaphore, tsem_hold *hold)
{
	struct key_wait *sem = semaphore;
	(void)hold;
	const uint64_t enabled = atomic_fetch_add(&sem->counters.grant, 1);
	if ((int64_t)(atomic_load(&sem->counters.ticket) - enabled) > 0)
		key_notify(&sem->array[bucket_of(&sem->counters, enabled)], enabled);
}

DEFINE_PAIRS(key)

static size_t
key_bytes(void *semaphore)
{
	(void)semaphore;
	return sizeof(struct key_wait);
}

const struct peer peer_key_wait = {
	.name = "key-wait",
	.traits = THREADS_ONLY,
	.create = key_create,
	.destroy = key_destroy,
	.take = key_take,
	.give = key_give,
	.bytes = key_bytes,
	.pairs = key_pairs,
};

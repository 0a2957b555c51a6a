/* SPDX-License-Identifier: MIT */
/*
 * This queue has limited room. A producer waits while it is full, and a consumer waits while it is empty, both in the
 * order in which they came. Two semaphores count the places and the items. A third semaphore, of one permit, is the
 * mutex of the ring.
 *
 * A process that dies at any instant leaves the ring in order, and the next waiter gets the mutex. But if the process
 * dies within bounded_queue_put() or bounded_queue_get(), the place or the item that it had taken may be missing for
 * good.
 */
#ifndef BOUNDED_QUEUE_H
#define BOUNDED_QUEUE_H

#include <stdint.h>

#include <tsem.h>

#define BOUNDED_QUEUE_ROOM 8U

/* The ring is in shared memory, and zeroed at first. */
struct bounded_queue_ring {
	uint64_t put, got; /* how many calls */
	long items[BOUNDED_QUEUE_ROOM];
};

struct bounded_queue {
	struct bounded_queue_ring *ring;
	tsem *places; /* created with BOUNDED_QUEUE_ROOM permits */
	tsem *items;  /* created with none */
	tsem *mutex;  /* created with one */
};

static inline int
bounded_queue_put(const struct bounded_queue *queue, long item, const struct timespec *deadline)
{
	int rc = tsem_take(queue->places, 1, deadline);
	if (rc < 0)
		return rc;
	TSEM_SCOPED_HOLD(hold);
	rc = tsem_acquire(queue->mutex, 1, NULL, &hold);
	if (rc < 0) {
		tsem_post(queue->places, 1, NULL);
		return rc;
	}
	queue->ring->items[queue->ring->put % BOUNDED_QUEUE_ROOM] = item;
	queue->ring->put++; /* comes last: a death before this changes nothing */
	return tsem_post(queue->items, 1, NULL);
}

static inline int
bounded_queue_get(const struct bounded_queue *queue, long *item, const struct timespec *deadline)
{
	int rc = tsem_take(queue->items, 1, deadline);
	if (rc < 0)
		return rc;
	TSEM_SCOPED_HOLD(hold);
	rc = tsem_acquire(queue->mutex, 1, NULL, &hold);
	if (rc < 0) {
		tsem_post(queue->items, 1, NULL);
		return rc;
	}
	*item = queue->ring->items[queue->ring->got % BOUNDED_QUEUE_ROOM];
	queue->ring->got++;
	return tsem_post(queue->places, 1, NULL);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Producers and consumers share a queue. Every item arrives once, and the items of one producer arrive in order. */
#include "bounded_queue.h"

#include "crew.h"

enum { PRODUCERS = 3, CONSUMERS = 2, ITEMS = 500, THE_END = -1 };

static const struct timespec past = {0};
struct shared {
	struct bounded_queue_ring ring;
	atomic_int seen[PRODUCERS * ITEMS];
};

static struct shared *shared;
static struct bounded_queue queue;

static void
produce(int number)
{
	for (long i = 0; i < ITEMS; i++)
		CHECK(bounded_queue_put(&queue, number * ITEMS + i, NULL) == 0);
}

static void
consume(int number)
{
	(void)number;
	long last[PRODUCERS], item;
	for (int i = 0; i < PRODUCERS; i++)
		last[i] = -1;
	for (;;) {
		CHECK(bounded_queue_get(&queue, &item, NULL) == 0);
		if (item == THE_END)
			return;
		CHECK(item >= 0 && item < PRODUCERS * ITEMS);
		CHECK(item > last[item / ITEMS]);
		last[item / ITEMS] = item;
		atomic_fetch_add(&shared->seen[item], 1);
	}
}

static void
put_one(int number)
{
	CHECK(bounded_queue_put(&queue, number, NULL) == 0);
}

static void
get_one(int number)
{
	long item;
	CHECK(bounded_queue_get(&queue, &item, NULL) == 0 && item == number);
}

int
main(void)
{
	crew_begin();
	shared = shared_memory(sizeof(*shared));
	queue.ring = &shared->ring;
	queue.places = shared_semaphore(BOUNDED_QUEUE_ROOM, 0);
	queue.items = shared_semaphore(0, 0);
	queue.mutex = shared_semaphore(1, 0);

	long item = 0;
	for (long i = 0; i < (long)BOUNDED_QUEUE_ROOM; i++)
		CHECK(bounded_queue_put(&queue, i, &past) == 0);
	CHECK(bounded_queue_put(&queue, 0, &past) == -ETIMEDOUT); /* full */
	for (long i = 0; i < (long)BOUNDED_QUEUE_ROOM; i++)
		CHECK(bounded_queue_get(&queue, &item, &past) == 0 && item == i);
	CHECK(bounded_queue_get(&queue, &item, &past) == -ETIMEDOUT); /* empty */

	tsem_hold ring;
	put_one(1);
	CHECK(tsem_acquire(queue.mutex, 1, NULL, &ring) == 0);
	start(put_one, 2);
	start(get_one, 1);
	AWAIT(stat_of(queue.mutex).waiting == 2); /* the mutex admits one at a time */
	CHECK(tsem_release(&ring) == 0);
	all_end_well();
	get_one(2);

	pid_t producers[PRODUCERS];
	for (int i = 0; i < PRODUCERS; i++)
		producers[i] = start(produce, i);
	for (int i = 0; i < CONSUMERS; i++)
		start(consume, i);
	for (int i = 0; i < PRODUCERS; i++)
		CHECK(status_of(producers[i]) == 0);
	for (int i = 0; i < CONSUMERS; i++)
		CHECK(bounded_queue_put(&queue, THE_END, NULL) == 0);
	all_end_well();

	for (int i = 0; i < PRODUCERS * ITEMS; i++)
		CHECK(atomic_load(&shared->seen[i]) == 1);
	printf("%d items, each of them once\n", PRODUCERS * ITEMS);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Readers and writers share a page. A reader that comes after a waiting writer reads what that writer wrote. */
#include "read_write_lock.h"

#include "crew.h"

enum { READERS = 3, WRITERS = 2, ROUNDS = 300 };

static const struct timespec past = {0};
struct shared {
	unsigned long left_page, right_page; /* equal, unless a writer is at work */
	struct room writers;
};

static struct shared *shared;
static tsem *lock;

static void
read_once(int expected)
{
	TSEM_SCOPED_HOLD(hold);
	CHECK(read_write_lock_read(lock, NULL, &hold) == 0);
	const unsigned long left = shared->left_page;
	sched_yield();
	CHECK(left == shared->right_page);
	CHECK(expected < 0 || left == (unsigned long)expected);
	CHECK(atomic_load(&shared->writers.inside) == 0);
}

static void
write_once(int number)
{
	(void)number;
	TSEM_SCOPED_HOLD(hold);
	CHECK(read_write_lock_write(lock, NULL, &hold) == 0);
	shared->left_page++;
	enter(&shared->writers, 1);
	leave(&shared->writers);
	shared->right_page++;
}

static void
read_often(int number)
{
	(void)number;
	for (int i = 0; i < ROUNDS; i++)
		read_once(-1);
}

static void
write_often(int number)
{
	for (int i = 0; i < ROUNDS; i++)
		write_once(number);
}

static void
write_half(int number)
{
	(void)number;
	tsem_hold hold;
	CHECK(read_write_lock_write(lock, NULL, &hold) == 0);
	shared->left_page++;
	raise(SIGKILL);
}

int
main(void)
{
	crew_begin();
	shared = shared_memory(sizeof(*shared));
	lock = shared_semaphore(READ_WRITE_LOCK_READERS, 0);

	tsem_hold reading, other;
	CHECK(read_write_lock_read(lock, NULL, &reading) == 0);
	CHECK(status_of(start(read_once, 0)) == 0); /* at the same time */
	start(write_once, 0);
	AWAIT(stat_of(lock).waiting == 1);
	CHECK(read_write_lock_read(lock, &past, &other) == -ETIMEDOUT); /* a reader does not overtake the writer */
	start(read_once, 1);
	AWAIT(stat_of(lock).waiting == 2);
	CHECK(tsem_release(&reading) == 0);
	all_end_well();

	CHECK(status_of(start(write_half, 0)) == SIGKILL);
	CHECK(read_write_lock_write(lock, NULL, &other) == 0);
	CHECK(tsem_hold_recovered(&other) && shared->left_page == 2 && shared->right_page == 1);
	shared->right_page = shared->left_page;
	CHECK(tsem_release(&other) == 0);

	for (int i = 0; i < READERS; i++)
		start(read_often, i);
	for (int i = 0; i < WRITERS; i++)
		start(write_often, i);
	all_end_well();
	CHECK(shared->right_page == 2 + WRITERS * ROUNDS);
	printf("%lu pages written, and never read half-written\n", shared->right_page);
	return 0;
}

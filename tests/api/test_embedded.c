/* SPDX-License-Identifier: MIT */
/* tsem_init_at, tsem_open_at, tsem_size_at: a semaphore in memory of the program. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct tsem_config two = {.size = sizeof(two), .permits = 2};

TEST(mistakes)
{
	const size_t size = tsem_size_at(10);
	unsigned char *memory = shared_memory(size + 64);
	tsem *sem = NULL;
	const struct tsem_config bad_size = {.size = 1, .permits = 1};
	const struct tsem_config bad_max = {.size = sizeof(two), .permits = 2, .max = 1};
	const struct tsem_config with_mode = {.size = sizeof(two), .permits = 2, .mode = 0600};
	const struct tsem_config with_flags = {.size = sizeof(two), .permits = 2, .flags = TSEM_EXIST_OK};
	assert_int_equal(tsem_open_at(memory, size, &sem), -EBADMSG);
	assert_int_equal(tsem_init_at(memory, size, &bad_size, &sem), -EINVAL);
	assert_int_equal(tsem_init_at(memory, size, &bad_max, &sem), -EINVAL);
	assert_int_equal(tsem_init_at(memory, size, &with_mode, &sem), -EINVAL);
	assert_int_equal(tsem_init_at(memory, size, &with_flags, &sem), -EINVAL);
	assert_int_equal(tsem_init_at(memory + 8, size, &two, &sem), -EINVAL);
	assert_int_equal(tsem_init_at(memory, tsem_size_at(0) - 1, &two, &sem), -EINVAL);
	assert_int_equal(tsem_init_at(NULL, size, &two, &sem), -EINVAL);
	assert_null(sem);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(memory[i], 0);
	assert_true(tsem_size_at(10) > tsem_size_at(9));
	assert_int_equal(tsem_size_at(0), tsem_size_at(1));
	assert_int_equal(tsem_size_at(UINT32_MAX), tsem_size_at(32766));
	munmap(memory, size + 64);
}

TEST(the_promises_hold)
{
	const size_t size = tsem_size_at(4);
	void *memory = shared_memory(size);
	tsem *sem, *again;
	tsem_hold hold;
	memset(memory, 0xa5, size); /* the memory need not be zero */
	assert_int_equal(tsem_init_at(memory, size, &two, &sem), 0);
	assert_int_equal(tsem_open_at(memory, size - 64, &again), -EINVAL);
	assert_int_equal(tsem_open_at(memory, size, &again), 0);
	const pid_t holder = start_child(hold_until_killed, sem);
	EVENTUALLY(stat_of(again).held == 1);
	assert_int_equal(tsem_take(again, 1, NULL), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EAGAIN);
	const pid_t waiter = start_child(hold_until_killed, again);
	EVENTUALLY(stat_of(sem).waiting == 1);
	kill_child(holder);
	EVENTUALLY(stat_of(sem).waiting == 0);
	kill_child(waiter);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_true(tsem_hold_recovered(&hold));
	assert_int_equal(tsem_hold_slot(&hold), 0);
	assert_int_equal(stat_of(sem).uid, geteuid());
	tsem_close(sem);
	tsem_close(again);
	munmap(memory, size);
}

static bool
try_and_release(tsem *sem)
{
	static const struct timespec past = {0};
	for (int i = 0; i < 3; i++) {
		tsem_hold hold;
		if (tsem_try_acquire(sem, 1, &hold) != 0 || tsem_release(&hold) != 0 || tsem_acquire(sem, 1, &past, &hold) != 0
		    || tsem_release(&hold) != 0)
			return false;
	}
	return true;
}

struct guest {
	tsem *sem;
	_Atomic bool is_done;
	_Atomic bool succeeded;
};

static int
acquire_release_and_stay(void *arg)
{
	struct guest *guest = arg;
	guest->succeeded = try_and_release(guest->sem);
	guest->is_done = true;
	return stay_until_killed(NULL);
}

/* It is made for one hold at a time. A process that has released and lives on must not keep another one out. */
TEST(live_processes_keep_no_records)
{
	enum { GUESTS = 5 };
	const size_t size = tsem_size_at(1);
	void *memory = shared_memory(size);
	struct guest *guests = shared_memory(GUESTS * sizeof(*guests));
	pid_t children[GUESTS];
	tsem *sem;
	assert_int_equal(tsem_init_at(memory, size, &two, &sem), 0);
	assert_true(try_and_release(sem));
	for (size_t i = 0; i < GUESTS; i++) {
		guests[i].sem = sem;
		children[i] = start_child(acquire_release_and_stay, &guests[i]);
		EVENTUALLY(guests[i].is_done);
		assert_true(guests[i].succeeded);
	}
	assert_true(try_and_release(sem));
	for (size_t i = 0; i < GUESTS; i++)
		kill_child(children[i]);
	tsem_close(sem);
	munmap(guests, GUESTS * sizeof(*guests));
	munmap(memory, size);
}

/* It does not grow: beyond some number of holds, at least the one that it was made for, a hold is refused. */
TEST(all_records_in_use)
{
	enum { ROOM = 3, MOST = 100 };
	const size_t size = tsem_size_at(ROOM);
	unsigned char *memory = shared_memory(size + 4096);
	const struct tsem_config many = {.size = sizeof(many), .permits = MOST};
	const struct timespec past = {0};
	tsem *sem;
	tsem_hold holds[MOST + 1];
	size_t n = 0;
	assert_int_equal(tsem_init_at(memory, size, &many, &sem), 0);
	memset(memory + size, 0x5a, 4096);
	while (n < MOST && tsem_acquire(sem, 1, &past, &holds[n]) == 0)
		n++;
	assert_in_range(n, ROOM, MOST - 1);
	assert_int_equal(tsem_try_acquire(sem, 1, &holds[n]), -EUSERS);
	assert_int_equal(tsem_acquire(sem, 1, &past, &holds[n]), -EUSERS);
	assert_int_equal(tsem_try_take(sem, 1), 0); /* a take needs no record */
	assert_int_equal(tsem_release(&holds[1]), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &holds[1]), 0);
	for (size_t i = 0; i < 4096; i++)
		assert_int_equal(memory[size + i], 0x5a); /* nothing was written beyond the end */
	tsem_close(sem);
	munmap(memory, size + 4096);
}

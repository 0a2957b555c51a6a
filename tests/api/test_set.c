/* SPDX-License-Identifier: MIT */
/* tsem_set: another capacity while other processes hold, wait, take and post. */
#include "support.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(bad_numbers)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 2, 3);
	assert_int_equal(tsem_set(sem, 4), -EOVERFLOW);
	assert_int_equal(stat_of(sem).capacity, 2);
	assert_int_equal(tsem_set(sem, 3), 0);
	assert_int_equal(stat_of(sem).capacity, 3);
	assert_int_equal(stat_of(sem).permits, 2);

	tsem *reader;
	assert_int_equal(tsem_open(name, TSEM_READ_ONLY, &reader), 0);
	assert_int_equal(tsem_set(reader, 1), -EPERM);
	tsem_close(reader);
	assert_int_equal(tsem_remove(name, 0), 0);
	assert_int_equal(tsem_set(sem, 1), -EIDRM);
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	tsem_close(sem);
}

TEST(a_raise_wakes_enabled_waiters)
{
	tsem *sem = new_semaphore(1, 0);
	pid_t waiters[3];
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	for (unsigned i = 0; i < 3; i++) {
		waiters[i] = start_child(take_one, sem);
		EVENTUALLY(stat_of(sem).waiting == i + 1);
	}
	assert_int_equal(tsem_set(sem, 3), 0);
	assert_int_equal(end_of_child(waiters[0]), 0);
	assert_int_equal(end_of_child(waiters[1]), 0);
	assert_int_equal(stat_of(sem).waiting, 1);
	assert_int_equal(tsem_set(sem, UINT32_MAX), 0);
	assert_int_equal(end_of_child(waiters[2]), 0);
	assert_int_equal(stat_of(sem).available, UINT32_MAX - 4);
	tsem_close(sem);
}

TEST(a_lowering_ends_no_hold)
{
	tsem *sem = new_semaphore(3, 0);
	tsem_hold holds[3];
	for (int i = 0; i < 3; i++)
		assert_int_equal(tsem_acquire(sem, 1, NULL, &holds[i]), 0);
	assert_int_equal(tsem_set(sem, 1), 0);
	assert_int_equal(stat_of(sem).held, 3);
	assert_int_equal(stat_of(sem).available, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tsem_release(&holds[i]), 0);
		assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
	}
	assert_int_equal(tsem_release(&holds[2]), 0);
	assert_int_equal(tsem_try_take(sem, 1), 0);
	assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
	tsem_close(sem);
}

TEST(drained)
{
	tsem *sem = new_semaphore(2, 0);
	const struct timespec past = {0};
	tsem_hold hold;
	assert_int_equal(tsem_set(sem, 0), 0);
	assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
	assert_int_equal(tsem_acquire(sem, 2, &past, &hold),
	                 -ETIMEDOUT); /* may be waited for, because the capacity will be two again */
	assert_int_equal(tsem_acquire(sem, 3, &past, &hold), -EINVAL);
	const pid_t waiter = start_child(take_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(tsem_set(sem, 2), 0);
	assert_int_equal(end_of_child(waiter), 0);
	assert_int_equal(tsem_try_take(sem, 1), 0);
	assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
	tsem_close(sem);
}

static int
acquire_three(void *arg)
{
	tsem_hold hold;
	return -tsem_acquire(arg, 3, NULL, &hold);
}

/*
 * A waiter for more than the new capacity stays, and so do those behind it. A new call may ask for the creator's
 * number.
 */
TEST(counts_beyond_the_capacity)
{
	tsem *sem = new_semaphore(2, 0);
	tsem_hold hold;
	assert_int_equal(tsem_try_acquire(sem, 3, &hold), -EINVAL);
	assert_int_equal(tsem_set(sem, 3), 0);
	assert_int_equal(tsem_try_acquire(sem, 3, &hold), 0);
	const pid_t three = start_child(acquire_three, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	const pid_t one = start_child(take_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 2);
	assert_int_equal(tsem_set(sem, 1), 0); /* below what is held: no hold ends */
	assert_int_equal(stat_of(sem).held, 3);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).available, 0);
	assert_int_equal(stat_of(sem).waiting, 2);
	assert_int_equal(tsem_try_take(sem, 2), -EAGAIN);
	assert_int_equal(tsem_try_take(sem, 3), -EINVAL);
	assert_int_equal(tsem_try_acquire(sem, 3, &hold), -EINVAL);
	assert_int_equal(tsem_set(sem, 3), 0);
	assert_int_equal(end_of_child(three), 0);
	assert_int_equal(end_of_child(one), 0);
	tsem_close(sem);
}

/* Posted permits are the only ones. */
TEST(made_without_permits)
{
	tsem *sem = new_semaphore(0, 0);
	assert_int_equal(tsem_try_take(sem, 5), -EAGAIN);
	const pid_t waiter = start_child(take_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(tsem_post(sem, 6, NULL), 0);
	assert_int_equal(end_of_child(waiter), 0);
	assert_int_equal(tsem_try_take(sem, 5), 0);
	assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
	tsem_close(sem);
}

/* ---- a waiter that the old capacity enabled, and that has not noticed it ---- */

TEST(enabled_waiters_are_admitted)
{
	tsem *sem = new_semaphore(1, 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const pid_t sleeper = start_child(hold_until_killed, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(kill(sleeper, SIGSTOP), 0);
	assert_int_equal(waitpid(sleeper, NULL, WUNTRACED), sleeper);
	assert_int_equal(tsem_post(sem, 1, NULL), 0); /* enabled, and has not noticed it */
	assert_int_equal(tsem_set(sem, 0), 0);
	assert_int_equal(stat_of(sem).held, 1);
	assert_int_equal(stat_of(sem).waiting, 0);
	assert_int_equal(kill(sleeper, SIGCONT), 0);
	assert_int_equal(tsem_set(sem, 1), 0);
	assert_int_equal(tsem_try_take(sem, 1), -EAGAIN); /* it holds, and no other process does */
	kill_child(sleeper);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	tsem_close(sem);
}

/* ---- everything together ---- */

struct crowd {
	tsem *sem;
	_Atomic int inside;
	_Atomic bool done;
};

static int
come_and_go(void *arg)
{
	struct crowd *crowd = arg;
	while (!crowd->done) {
		tsem_hold hold;
		CHECK(tsem_acquire(crowd->sem, 1, NULL, &hold) == 0);
		crowd->inside++;
		sched_yield();
		crowd->inside--;
		CHECK(tsem_release(&hold) == 0);
	}
	return 0;
}

/* After each lowering, once earlier holders have released, never more than the new capacity is held. */
TEST(up_and_down)
{
	enum { MEMBERS = 8, ROUNDS = 300 };
	struct crowd *crowd = shared_memory(sizeof(*crowd));
	*crowd = (struct crowd){.sem = new_semaphore(4, 0)};
	pid_t members[MEMBERS];
	for (int i = 0; i < MEMBERS; i++)
		members[i] = start_child(come_and_go, crowd);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint32_t capacity = round % 5;
		assert_int_equal(tsem_set(crowd->sem, capacity), 0);
		EVENTUALLY(stat_of(crowd->sem).held <= capacity);
		for (int look = 0; look < 20; look++)
			assert_true(crowd->inside <= (int)capacity);
		if (capacity > 0) {
			const uint64_t before = stat_of(crowd->sem).ticket;
			EVENTUALLY(stat_of(crowd->sem).ticket != before); /* the workers go on */
		}
	}
	crowd->done = true;
	assert_int_equal(tsem_set(crowd->sem, MEMBERS), 0);
	for (int i = 0; i < MEMBERS; i++)
		assert_int_equal(end_of_child(members[i]), 0);
	assert_int_equal(stat_of(crowd->sem).available, MEMBERS);
	tsem_close(crowd->sem);
	munmap(crowd, sizeof(*crowd));
}

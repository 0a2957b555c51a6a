/* SPDX-License-Identifier: MIT */
/* tsem_acquire, tsem_try_acquire, tsem_release: owned holds, and their errors. */
#include "support.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(tsem_hold) == 128, "promised by the interface");

TEST(acquire_and_release)
{
	tsem *sem = new_semaphore(3, 0);
	tsem_hold one, two, three;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &one), 0);
	assert_int_equal(tsem_try_acquire(sem, 2, &two), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &three), -EAGAIN);
	assert_int_equal(stat_of(sem).held, 3);
	assert_int_equal(tsem_release(&two), 0);
	assert_int_equal(tsem_try_acquire(sem, 2, &three), 0);
	assert_int_equal(tsem_release(&one), 0);
	assert_int_equal(tsem_release(&three), 0);
	assert_int_equal(stat_of(sem).available, 3);
	tsem_close(sem);
}

TEST(a_hold_may_move_in_memory)
{
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold, copy;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	memcpy(&copy, &hold, sizeof(copy));
	memset(&hold, 0xff, sizeof(hold));
	assert_int_equal(tsem_release(&copy), 0);
	assert_int_equal(stat_of(sem).available, 1);
	tsem_close(sem);
}

TEST(failures_do_not_change_the_hold)
{
	tsem *sem = new_semaphore(2, 0);
	tsem_hold hold, untouched;
	const struct timespec past = {0};
	const struct timespec bad = {.tv_nsec = -1};
	memset(&untouched, 0x5a, sizeof(untouched));
	hold = untouched;
	assert_int_equal(tsem_acquire(sem, 0, NULL, &hold), -EINVAL);
	assert_int_equal(tsem_acquire(sem, 3, NULL, &hold), -EINVAL);
	assert_int_equal(tsem_try_acquire(sem, UINT32_MAX, &hold), -EINVAL);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(tsem_acquire(sem, 2, &bad, &hold), -EINVAL);
	assert_int_equal(tsem_acquire(sem, 2, &past, &hold), -ETIMEDOUT);
	assert_int_equal(tsem_try_acquire(sem, 2, &hold), -EAGAIN);
	assert_memory_equal(&hold, &untouched, sizeof(hold));
	assert_int_equal(stat_of(sem).available, 1);
	tsem_close(sem);
}

static int
release_what_the_parent_holds(void *arg)
{
	return -tsem_release(arg);
}

TEST(refused_releases)
{
	tsem *sem = new_semaphore(2, 0);
	tsem_hold hold, copy, none = TSEM_HOLD_INIT;
	assert_int_equal(tsem_release(&none), -EPERM);
	assert_int_equal(tsem_reap(&none, 0), -EPERM);
	assert_int_equal(tsem_hand_over(&none, getpid()), -EPERM);
	assert_int_equal(tsem_adopt(&none), -EPERM);
	assert_int_equal(tsem_hold_slot(&none), TSEM_NO_SLOT);
	assert_false(tsem_hold_recovered(&none));

	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	memcpy(&copy, &hold, sizeof(copy));
	assert_int_equal(end_of_child(start_child(release_what_the_parent_holds, &hold)), EPERM);
	assert_int_equal(stat_of(sem).available, 1);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_release(&hold), -EPERM);
	/* Nor through an old copy, even if the same record is in use again. */
	assert_int_equal(tsem_release(&copy), -EPERM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release(&copy), -EPERM);
	assert_int_equal(stat_of(sem).available, 1);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).available, 2);
	tsem_close(sem);
}

static int
use_an_inherited_handle(void *arg)
{
	tsem *sem = arg;
	tsem_hold hold;
	for (int i = 0; i < 50; i++) {
		if (tsem_acquire(sem, 1, NULL, &hold) != 0 || tsem_release(&hold) != 0)
			return 1;
		if (tsem_take(sem, 1, NULL) != 0 || tsem_post(sem, 1, NULL) != 0)
			return 2;
	}
	return tsem_acquire(sem, 1, NULL, &hold) != 0 ? 3 : 0;
}

/* Parent and child use one handle, and the child leaves a hold. */
TEST(a_handle_works_in_a_child)
{
	tsem *sem = new_semaphore(3, 0);
	tsem_hold hold, all;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0); /* leaves a cached record, which the child must not use */
	const pid_t child = start_child(use_an_inherited_handle, sem);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_int_equal(tsem_release(&hold), 0);
	}
	assert_int_equal(end_of_child(child), 0);
	assert_int_equal(tsem_try_acquire(sem, 3, &all), 0); /* the try recovers before it fails */
	assert_int_equal(stat_of(sem).recovered, 1);
	assert_int_equal(tsem_release(&all), 0);
	tsem_close(sem);
}

static int
acquire_two_and_die(void *arg)
{
	tsem_hold hold;
	return -tsem_acquire(arg, 2, NULL, &hold);
}

TEST(recover_returns_the_permits)
{
	tsem *sem = new_semaphore(5, 0);
	uint32_t recovered = 99;
	assert_int_equal(tsem_recover(sem, &recovered), 0);
	assert_int_equal(recovered, 0);
	assert_int_equal(end_of_child(start_child(acquire_two_and_die, sem)), 0);
	assert_int_equal(end_of_child(start_child(acquire_two_and_die, sem)), 0);
	assert_int_equal(stat_of(sem).available, 1);
	assert_int_equal(tsem_recover(sem, &recovered), 0);
	assert_int_equal(recovered, 4);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(stat_of(sem).available, 5);
	assert_int_equal(stat_of(sem).recovered, 4);
	tsem_close(sem);
}

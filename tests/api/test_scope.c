/* SPDX-License-Identifier: MIT */
/* TSEM_SCOPED_HOLD, TSEM_SCOPED_HANDLE: they end with their scopes. */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int
hold_and_return(tsem *sem, int result)
{
	TSEM_SCOPED_HOLD(hold);
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	assert_int_equal(stat_of(sem).held, 2);
	return result;
}

TEST(every_way_out_of_a_scope)
{
	tsem *sem = new_semaphore(2, 0);
	assert_int_equal(hold_and_return(sem, 5), 5);
	assert_int_equal(stat_of(sem).held, 0);

	for (int i = 0; i < 3; i++) {
		TSEM_SCOPED_HOLD(first);
		assert_int_equal(tsem_try_acquire(sem, 1, &first), 0);
		if (i == 0)
			continue;
		TSEM_SCOPED_HOLD(second);
		assert_int_equal(tsem_try_acquire(sem, 1, &second), 0);
		if (i == 1)
			goto out;
		fail();
	}
out:
	assert_int_equal(stat_of(sem).held, 0);
	tsem_close(sem);
}

/* A void hold has no owner: one that was never acquired, or one that has ended. */
TEST(void_holds_are_ignored)
{
	tsem *sem = new_semaphore(2, 0);
	tsem_hold other;
	{
		TSEM_SCOPED_HOLD(released);
		assert_int_equal(tsem_acquire(sem, 1, NULL, &released), 0);
		assert_int_equal(tsem_release(&released), 0);
		assert_int_equal(tsem_acquire(sem, 1, NULL, &other), 0); /* possibly in the same record */
		TSEM_SCOPED_HOLD(never_acquired);
		assert_memory_equal(&never_acquired, &(const tsem_hold){{0}}, sizeof(tsem_hold));
		TSEM_SCOPED_HOLD(refused);
		assert_int_equal(tsem_try_acquire(sem, 2, &refused), -EAGAIN);
		TSEM_SCOPED_HOLD(handed_over);
		assert_int_equal(tsem_acquire(sem, 1, NULL, &handed_over), 0);
		assert_int_equal(tsem_hand_over(&handed_over, getppid()), 0);
	}
	assert_int_equal(stat_of(sem).held, 2);
	assert_int_equal(tsem_release_for(sem, getppid()), 0);
	assert_int_equal(tsem_release(&other), 0);
	assert_int_equal(stat_of(sem).held, 0);
	tsem_close(sem);
}

static size_t
count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t count = 0;
	assert_non_null(directory);
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

static int
use_through_a_handle_of_its_own(const char *name)
{
	TSEM_SCOPED_HANDLE(sem);
	int rc = tsem_open(name, 0, &sem);
	if (rc < 0)
		return rc;
	TSEM_SCOPED_HOLD(hold);
	return tsem_acquire(sem, 1, NULL, &hold);
}

TEST(the_handle_is_closed_after_its_hold)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	const size_t descriptors = count_descriptors();
	for (int i = 0; i < 3; i++)
		assert_int_equal(use_through_a_handle_of_its_own(name), 0);
	assert_int_equal(use_through_a_handle_of_its_own(fresh_name()), -ENOENT);
	assert_int_equal(count_descriptors(), descriptors);
	assert_int_equal(stat_of(sem).held, 0);
	tsem_close(sem);
}

/* tsem.h allows it, and all code that returns or stores holds relies on it. */
TEST(a_hold_may_be_moved)
{
	tsem *sem = new_semaphore(1, 0);
	tsem_hold *first = malloc(sizeof(*first));
	assert_non_null(first);
	assert_int_equal(tsem_acquire(sem, 1, NULL, first), 0);
	tsem_hold second = *first;
	free(first);
	assert_int_equal(tsem_hold_slot(&second), 0);
	assert_int_equal(tsem_release(&second), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &second), 0);
	assert_int_equal(tsem_release(&second), 0);
	tsem_close(sem);
}

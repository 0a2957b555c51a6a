/* SPDX-License-Identifier: MIT */
/* tsem_unlink(): the name goes, and the semaphore lives on for the processes that have it open. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

TEST(it_lives_on_without_its_name)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	tsem_hold hold;
	const struct timespec soon = deadline_in(300); /* long enough to look at the file */
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	const pid_t waiter = start_child(acquire_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);

	assert_int_equal(tsem_unlink(name, 0), 0);
	assert_int_equal(access(file_of(name), F_OK), -1);
	assert_int_equal(tsem_take(sem, 1, &soon), -ETIMEDOUT);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(end_of_child(waiter), 0);
	/* The child has ended with the permit. */
	EVENTUALLY(tsem_recover(sem, NULL) == 0 && stat_of(sem).available == 1);
	assert_int_equal(tsem_set(sem, 2), 0);
	assert_int_equal(tsem_wait_idle(sem, 0, NULL), 0);
	expect_at_rest(sem, 2);
	tsem_close(sem);
}

TEST(another_gets_the_name)
{
	const char *name = fresh_name();
	tsem *old = new_semaphore_named(name, 1, 0);
	assert_int_equal(tsem_unlink(name, 0), 0);
	tsem *new = new_semaphore_named(name, 1, 0);
	assert_int_equal(tsem_try_take(old, 1), 0);
	expect_at_rest(new, 1);
	assert_int_equal(tsem_remove(name, 0), 0);
	assert_int_equal(tsem_try_take(new, 1), -EIDRM);
	assert_int_equal(tsem_post(old, 1, NULL), 0);
	assert_int_equal(tsem_try_take(old, 1), 0);
	tsem_close(new);
	tsem_close(old);
}

TEST(what_cannot_be_unlinked)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	assert_int_equal(tsem_unlink(name, TSEM_EXIST_OK), -EINVAL);
	assert_int_equal(tsem_unlink("a/b", 0), -EINVAL);
	assert_int_equal(tsem_unlink(name, TSEM_FOREIGN), 0);
	assert_int_equal(tsem_unlink(name, 0), -ENOENT);
	assert_int_equal(tsem_remove(name, 0), -ENOENT);
	assert_int_equal(tsem_try_take(sem, 1), 0);
	tsem_close(sem);
}

TEST(a_file_that_is_no_semaphore)
{
	const char *name = fresh_name();
	assert_int_equal(close(open(file_of(name), O_CREAT | O_EXCL | O_WRONLY, 0600)), 0);
	assert_int_equal(tsem_unlink(name, 0), -EBADMSG);
	assert_int_equal(tsem_unlink(name, TSEM_FORCE), 0);
	assert_int_equal(tsem_unlink(name, TSEM_FORCE), -ENOENT);
}

TEST(a_deleted_file_still_removes_it)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 0, 0);
	assert_int_equal(unlink(file_of(name)), 0);
	assert_int_equal(tsem_unlink(name, 0), -ENOENT);
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	tsem_close(sem);
}

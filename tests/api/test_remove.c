/* SPDX-License-Identifier: MIT */
/* tsem_remove: not while the semaphore is in use, unless forced; waiters get an error. */
#include "support.h"

#include <errno.h>
#include <unistd.h>

TEST(not_in_use)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 3, 0);
	assert_int_equal(tsem_remove(name, 0), 0);
	assert_int_equal(access(file_of(name), F_OK), -1);
	assert_int_equal(tsem_remove(name, 0), -ENOENT);
	assert_int_equal(tsem_remove(name, TSEM_FORCE), -ENOENT);
	assert_int_equal(tsem_remove(name, TSEM_READ_ONLY), -EINVAL);

	tsem_hold hold;
	const struct timespec past = {0};
	assert_int_equal(tsem_take(sem, 1, NULL), -EIDRM);
	assert_int_equal(tsem_try_take(sem, 1), -EIDRM);
	assert_int_equal(tsem_acquire(sem, 1, &past, &hold), -EIDRM);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
	assert_int_equal(tsem_post(sem, 1, NULL), -EIDRM);
	tsem_close(sem);

	/* The name is free for a new semaphore, which is independent of the old one. */
	sem = new_semaphore_named(name, 1, 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), 0);
	tsem_close(sem);
}

TEST(held)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 3, 0);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_remove(name, 0), -EBUSY);
	assert_int_equal(access(file_of(name), F_OK), 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_take(sem, 3, NULL), 0);
	assert_int_equal(tsem_remove(name, 0), -EBUSY);
	assert_int_equal(tsem_post(sem, 3, NULL), 0);
	/* The refusals changed nothing. */
	assert_int_equal(stat_of(sem).available, 3);
	assert_int_equal(tsem_remove(name, 0), 0);
	tsem_close(sem);
}

/* Posted permits beyond the capacity must not hide the holder. */
TEST(held_and_posted)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(tsem_remove(name, 0), -EBUSY);
	assert_int_equal(tsem_release(&hold), 0);
	tsem_close(sem);
}

TEST(forced_while_held)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_remove(name, TSEM_FORCE), 0);
	assert_int_equal(access(file_of(name), F_OK), -1);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_release(&hold), -EPERM);
	tsem_close(sem);
}

TEST(waiters_get_an_error)
{
	enum { WAITERS = 6 };
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	pid_t children[WAITERS];
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	for (uint32_t i = 0; i < WAITERS; i++) {
		children[i] = start_child(i % 2 == 0 ? acquire_one : take_one, sem);
		EVENTUALLY(stat_of(sem).waiting == i + 1);
	}
	assert_int_equal(tsem_remove(name, 0), -EBUSY);
	assert_int_equal(stat_of(sem).waiting, WAITERS);
	assert_int_equal(tsem_remove(name, TSEM_FORCE), 0);
	for (size_t i = 0; i < WAITERS; i++)
		assert_int_equal(end_of_child(children[i]), EIDRM);
	tsem_close(sem);
}

/* As logind's RemoveIPC does it, or rm. */
TEST(waiters_notice_a_deleted_file)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const pid_t child = start_child(acquire_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(unlink(file_of(name)), 0);
	assert_int_equal(end_of_child(child), EIDRM);
	tsem_close(sem);
}

TEST(dead_holders_do_not_prevent_it)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 2, 0);
	assert_int_equal(end_of_child(start_child(acquire_one, sem)), 0);
	assert_int_equal(tsem_remove(name, 0), 0);
	tsem_close(sem);
}

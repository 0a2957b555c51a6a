/* SPDX-License-Identifier: MIT */
/* tsem_remove: not while the semaphore is in use, unless forced; waiters get an error. */
#include "support.h"

#include <errno.h>
#include <unistd.h>

static void
not_in_use(void **state)
{
	(void)state;
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

static void
held(void **state)
{
	(void)state;
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
static void
held_and_posted(void **state)
{
	(void)state;
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(tsem_remove(name, 0), -EBUSY);
	assert_int_equal(tsem_release(&hold), 0);
	tsem_close(sem);
}

static void
forced_while_held(void **state)
{
	(void)state;
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

static void
waiters_get_an_error(void **state)
{
	(void)state;
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
static void
waiters_notice_a_deleted_file(void **state)
{
	(void)state;
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const pid_t child = start_child(acquire_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(unlink(file_of(name)), 0);
	assert_int_equal(end_of_child(child), EIDRM);
	tsem_close(sem);
}

static void
dead_holders_do_not_prevent_it(void **state)
{
	(void)state;
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 2, 0);
	assert_int_equal(end_of_child(start_child(acquire_one, sem)), 0);
	assert_int_equal(tsem_remove(name, 0), 0);
	tsem_close(sem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_in_use),
		cmocka_unit_test(held),
		cmocka_unit_test(held_and_posted),
		cmocka_unit_test(forced_while_held),
		cmocka_unit_test(waiters_get_an_error),
		cmocka_unit_test(waiters_notice_a_deleted_file),
		cmocka_unit_test(dead_holders_do_not_prevent_it),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

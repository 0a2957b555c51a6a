/* SPDX-License-Identifier: MIT */
/* A process that removes a semaphore is killed, or stopped, at its unlink(). */
#include "fixture.h"

#include <fcntl.h>
#include <sys/file.h>

#include "stop.h"

struct removal {
	unsigned flags;
	uint32_t permits;
	uint32_t posted;
};

static const struct removal removals[] = {
	{.permits = 1},
	{.permits = 5},
	{.permits = 0},
	{.permits = 1, .posted = 3},
	{.permits = 0, .posted = 2},
	{.permits = 1, .flags = TSEM_FORCE},
	{.permits = 0, .flags = TSEM_FORCE},
	{.permits = 1, .posted = 3, .flags = TSEM_FORCE},
};

static int
remove_stopped(void *arg)
{
	const struct removal *removal = arg;
	CHECK(let_parent_stop());
	return -tsem_remove(sem_name, removal->flags);
}

static int
remove_at_once(void *arg)
{
	const struct removal *removal = arg;
	return -tsem_remove(sem_name, removal->flags);
}

static void
begin_for(const struct removal *removal)
{
	begin(removal->permits);
	if (removal->posted > 0)
		assert_int_equal(tsem_post(sem, removal->posted, NULL), 0);
}

/* A remover is killed when it has just unlinked the file. */
static void
die_after_unlink(const struct removal *removal)
{
	struct removal copy = *removal;
	const pid_t pid = start_stopped(remove_stopped, &copy);
	run_until(pid, &unlink_calls, AT_EXIT);
	assert_int_equal(access(file_of(sem_name), F_OK), -1);
	kill_child(pid);
}

/* ---- killed after unlink() ---- */

static int
try_acquire(void)
{
	tsem_hold hold;
	return tsem_try_acquire(sem, 1, &hold);
}

static int
try_take(void)
{
	return tsem_try_take(sem, 1);
}

static int
acquire_within_a_while(void)
{
	tsem_hold hold;
	const struct timespec deadline = deadline_in(20000);
	return tsem_acquire(sem, 1, &deadline, &hold);
}

static int
take_within_a_while(void)
{
	const struct timespec deadline = deadline_in(20000);
	return tsem_take(sem, 1, &deadline);
}

static int
acquire_any_of_one(void)
{
	tsem_hold hold;
	size_t which;
	return tsem_acquire_any(&sem, 1, NULL, &hold, &which);
}

static int
set_to_nine(void)
{
	return tsem_set(sem, 9);
}

static int
recover_and_acquire(void)
{
	assert_int_equal(tsem_recover(sem, NULL), 0);
	return try_acquire();
}

static int
recover_and_take(void)
{
	assert_int_equal(tsem_recover(sem, NULL), 0);
	return try_take();
}

static int
post_and_take(void)
{
	const int rc = tsem_post(sem, 1, NULL);
	if (rc != 0 && rc != -EIDRM)
		fail_msg("tsem_post: %d", rc);
	return try_take();
}

/*
 * A process that has opened it before gets no permit, whatever it tries: the name may lead to a new semaphore by now.
 */
TEST_BETWEEN(NULL, tear_down, a_killed_remover_has_removed_it)
{
	SKIP_UNDER_SANITIZER();
	static int (*const ways[])(void) = {try_acquire, try_take,           acquire_within_a_while, take_within_a_while,
	                                    set_to_nine, acquire_any_of_one, recover_and_acquire,    recover_and_take};
	for (size_t i = 0; i < sizeof(removals) / sizeof(removals[0]); i++) {
		for (size_t j = 0; j < sizeof(ways) / sizeof(ways[0]); j++) {
			begin_for(&removals[i]);
			die_after_unlink(&removals[i]);
			assert_int_equal(ways[j](), -EIDRM);
			assert_int_equal(try_take(), -EIDRM);
			assert_int_equal(try_acquire(), -EIDRM);
		}
	}
}

/* The remover found no permit to seize, but it had a ticket. A process that posts and takes finds that ticket. */
TEST_BETWEEN(NULL, tear_down, a_killed_remover_of_one_without_permits_has_removed_it)
{
	SKIP_UNDER_SANITIZER();
	for (unsigned flags = 0; flags <= TSEM_FORCE; flags += TSEM_FORCE) {
		const struct removal removal = {.flags = flags};
		begin_for(&removal);
		die_after_unlink(&removal);
		assert_int_equal(post_and_take(), -EIDRM);
	}
}

/* The holder goes on, and no process acquires after it. */
TEST_BETWEEN(NULL, tear_down, a_killed_remover_by_force_has_removed_it)
{
	SKIP_UNDER_SANITIZER();
	const struct removal removal = {.permits = 1, .flags = TSEM_FORCE};
	begin_for(&removal);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	die_after_unlink(&removal);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(try_acquire(), -EIDRM);
}

static int
wait_for_one(void *unused)
{
	(void)unused;
	tsem_hold hold;
	return -tsem_acquire(sem, 1, NULL, &hold);
}

/*
 * Recovery returns the permits that the remover had seized, also those posted beyond the capacity. They enable the
 * waiter.
 */
TEST_BETWEEN(NULL, tear_down, a_waiter_behind_a_killed_remover_gets_EIDRM)
{
	SKIP_UNDER_SANITIZER();
	struct removal removal = {.permits = 1, .posted = 3};
	begin_for(&removal);
	const pid_t remover = start_stopped(remove_stopped, &removal);
	run_until(remover, &unlink_calls, AT_ENTRY);
	const pid_t waiter = start_child(wait_for_one, NULL);
	EVENTUALLY(stat_of(sem).waiting == 1);
	run_until(remover, &unlink_calls, AT_EXIT);
	kill_child(remover);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(end_of_child(waiter), EIDRM);
}

/* Its unlink() fails because the file is gone. */
TEST_BETWEEN(NULL, tear_down, a_remover_that_comes_too_late_fails)
{
	SKIP_UNDER_SANITIZER();
	struct removal removal = {.permits = 1};
	begin_for(&removal);
	const pid_t remover = start_stopped(remove_stopped, &removal);
	run_until(remover, &unlink_calls, AT_ENTRY);
	assert_int_equal(unlink(file_of(sem_name)), 0);
	detach(remover);
	assert_int_equal(end_of_child(remover), ENOENT);
	assert_int_equal(try_acquire(), -EIDRM);
}

/* ---- stopped, or killed, before unlink() ---- */

/* Otherwise the stopped remover would later unlink the file of a new semaphore. */
TEST_BETWEEN(NULL, tear_down, while_a_remover_is_stopped_no_other_one_unlinks)
{
	SKIP_UNDER_SANITIZER();
	static const struct removal slow_ones[] = {{.permits = 1}, {.permits = 0}, {.permits = 1, .flags = TSEM_FORCE}};
	for (size_t i = 0; i < sizeof(slow_ones) / sizeof(slow_ones[0]); i++) {
		struct removal removal = slow_ones[i];
		begin_for(&removal);
		const pid_t slow = start_stopped(remove_stopped, &removal);
		run_until(slow, &unlink_calls, AT_ENTRY);
		removal.flags = TSEM_FORCE;
		const int other = end_of_child(start_child(remove_at_once, &removal));
		tsem *new = NULL;
		if (other == 0)
			new = new_semaphore_named(sem_name, 1, 0);
		detach(slow);
		assert_int_equal(end_of_child(slow), 0);
		if (other == 0)
			assert_int_equal(access(file_of(sem_name), F_OK), 0); /* the new semaphore, which is in use */
		assert_int_equal(other, EBUSY);
		assert_int_equal(access(file_of(sem_name), F_OK), -1);
		assert_int_equal(try_acquire(), -EIDRM);
		tsem_close(new);
	}
}

TEST_BETWEEN(NULL, tear_down, a_remover_killed_before_unlink_leaves_it_in_use)
{
	SKIP_UNDER_SANITIZER();
	for (size_t i = 0; i < sizeof(removals) / sizeof(removals[0]); i++) {
		struct removal removal = removals[i];
		begin_for(&removal);
		const pid_t killed = start_stopped(remove_stopped, &removal);
		run_until(killed, &unlink_calls, AT_ENTRY);
		kill_child(killed);
		/* It is in use again, and another process can remove it. */
		assert_int_equal(tsem_recover(sem, NULL), 0);
		assert_int_equal(stat_of(sem).available, removal.permits + removal.posted);
		assert_int_equal(stat_of(sem).held, 0);
		assert_int_equal(stat_of(sem).waiting, 0);
		assert_int_equal(tsem_remove(sem_name, removal.flags), 0);
		assert_int_equal(access(file_of(sem_name), F_OK), -1);
	}
}

TEST_BETWEEN(NULL, tear_down, a_lock_by_a_reader_does_not_delay_the_remover)
{
	SKIP_UNDER_SANITIZER();
	struct removal removal = {.permits = 1};
	begin_for(&removal);
	const int fd = open(file_of(sem_name), O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	const pid_t pid = start_stopped(remove_stopped, &removal);
	assert_int_equal(run_until(pid, &unlink_calls, AT_ENTRY), 0);
	detach(pid);
	assert_int_equal(end_of_child(pid), 0);
	close(fd);
}

/* ---- tsem_unlink() ---- */

static int
unlink_stopped(void *unused)
{
	(void)unused;
	CHECK(let_parent_stop());
	return -tsem_unlink(sem_name, 0);
}

/* A process that looks at the file just after unlink() finds that the semaphore lives on. */
TEST_BETWEEN(NULL, tear_down, a_killed_unlinker_has_unlinked_or_not)
{
	SKIP_UNDER_SANITIZER();
	static const unsigned places[] = {AT_ENTRY, AT_EXIT};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const struct removal removal = {.permits = 1};
		begin_for(&removal);
		const pid_t pid = start_stopped(unlink_stopped, NULL);
		run_until(pid, &unlink_calls, places[i]);
		assert_int_equal(recover_and_take(), 0);
		assert_int_equal(try_take(), -EAGAIN); /* which looks at the file */
		kill_child(pid);
		assert_int_equal(try_take(), -EAGAIN);
		assert_int_equal(tsem_post(sem, 1, NULL), 0);
		assert_int_equal(access(file_of(sem_name), F_OK), places[i] == AT_ENTRY ? 0 : -1);
		assert_int_equal(tsem_unlink(sem_name, 0), places[i] == AT_ENTRY ? 0 : -ENOENT);
		assert_int_equal(try_take(), 0);
	}
}

/* Both are killed: the first before its unlink(), the second after it. */
TEST_BETWEEN(NULL, tear_down, a_remover_after_a_killed_unlinker_has_removed_it)
{
	SKIP_UNDER_SANITIZER();
	const struct removal removal = {.permits = 1, .flags = TSEM_FORCE};
	begin_for(&removal);
	const pid_t pid = start_stopped(unlink_stopped, NULL);
	run_until(pid, &unlink_calls, AT_ENTRY);
	kill_child(pid);
	die_after_unlink(&removal);
	assert_int_equal(recover_and_take(), -EIDRM);
}

/* It has opened the semaphore by its name, and waits for the right to unlink while the name goes. */
TEST_BETWEEN(NULL, tear_down, a_remover_or_unlinker_that_is_late_leaves_it_alive)
{
	SKIP_UNDER_SANITIZER();
	struct removal removal = {.permits = 1};
	int (*const late_ones[])(void *) = {remove_stopped, unlink_stopped};
	for (size_t i = 0; i < sizeof(late_ones) / sizeof(late_ones[0]); i++) {
		begin_for(&removal);
		const pid_t first = start_stopped(unlink_stopped, NULL);
		run_until(first, &unlink_calls, AT_ENTRY);
		const pid_t late = start_stopped(late_ones[i], &removal);
		run_until(late, &sleep_calls, AT_ENTRY);
		detach(first);
		assert_int_equal(end_of_child(first), 0);
		detach(late);
		assert_int_equal(end_of_child(late), ENOENT);
		assert_int_equal(recover_and_take(), 0);
		assert_int_equal(try_take(), -EAGAIN);
	}
}

/* Its unlink() fails because the file is gone, and that means what it means otherwise. */
TEST_BETWEEN(NULL, tear_down, an_unlinker_that_fails_leaves_it_removed)
{
	SKIP_UNDER_SANITIZER();
	const struct removal removal = {.permits = 1};
	begin_for(&removal);
	const pid_t pid = start_stopped(unlink_stopped, NULL);
	run_until(pid, &unlink_calls, AT_ENTRY);
	assert_int_equal(unlink(file_of(sem_name)), 0);
	detach(pid);
	assert_int_equal(end_of_child(pid), ENOENT);
	assert_int_equal(try_take(), 0);
	assert_int_equal(try_take(), -EIDRM); /* which looks at the file */
}

/* ---- more than one hold can have ---- */

TEST_BETWEEN(NULL, tear_down, more_permits_than_one_hold_can_have)
{
	SKIP_UNDER_SANITIZER();
	for (unsigned flags = 0; flags <= TSEM_FORCE; flags += TSEM_FORCE) {
		struct removal removal = {.flags = flags, .permits = UINT32_MAX, .posted = UINT32_MAX};
		begin_for(&removal);
		assert_int_equal(tsem_post(sem, UINT32_MAX, NULL), 0);
		die_after_unlink(&removal);
		assert_int_equal(tsem_recover(sem, NULL), 0);
		assert_int_equal(try_take(), -EIDRM);
		begin_for(&removal);
		tsem_hold hold;
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_int_equal(tsem_remove(sem_name, 0), -EBUSY);
		assert_int_equal(stat_of(sem).held, 1);
		assert_int_equal(tsem_release(&hold), 0);
		assert_int_equal(stat_of(sem).available, 2 * (uint64_t)UINT32_MAX);
		assert_int_equal(tsem_remove(sem_name, flags), 0);
	}
}

TEST_BETWEEN(NULL, tear_down, too_many_permits_for_a_removal_without_force)
{
	if (UNDER_THREAD_SANITIZER)
		SKIP("a thousand records that look at one another take half a minute");
	const struct removal removal = {.permits = 1};
	begin_for(&removal);
	set_counters(sem, 0, UINT64_C(1) << 39);
	const uint64_t available = stat_of(sem).available;
	assert_int_equal(tsem_remove(sem_name, 0), -EOVERFLOW);
	assert_int_equal(stat_of(sem).available, available);
	assert_int_equal(records_in_use(sem), 0);
	assert_int_equal(tsem_remove(sem_name, TSEM_FORCE), 0);
	assert_int_equal(try_take(), -EIDRM);
}

/* SPDX-License-Identifier: MIT */
/* A process that removes a semaphore is killed, or stopped, at a system call of the removal. */
#include "halted.h"

#include <fcntl.h>
#include <sys/file.h>

#include "inside.h"

static const char *name;

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
remove_halted(void *arg)
{
	const struct removal *removal = arg;
	CHECK(let_parent_halt());
	return -tsem_remove(name, removal->flags);
}

static int
remove_freely(void *arg)
{
	const struct removal *removal = arg;
	return -tsem_remove(name, removal->flags);
}

static tsem *
semaphore_of(const struct removal *removal)
{
	name = fresh_name();
	tsem *sem = new_semaphore_named(name, removal->permits, 0);
	if (removal->posted > 0)
		assert_int_equal(tsem_post(sem, removal->posted, NULL), 0);
	return sem;
}

/* A remover that has just unlinked the file, and is killed there. */
static void
remove_and_die(const struct removal *removal)
{
	struct removal copy = *removal;
	const pid_t pid = start_halted(remove_halted, &copy);
	go_on_to(pid, &unlinking, AT_EXIT);
	assert_int_equal(access(file_of(name), F_OK), -1);
	kill_child(pid);
}

/* ---- killed behind unlink() ---- */

static int
try_acquire(tsem *sem)
{
	tsem_hold hold;
	return tsem_try_acquire(sem, 1, &hold);
}

static int
try_take(tsem *sem)
{
	return tsem_try_take(sem, 1);
}

static int
acquire_within_a_while(tsem *sem)
{
	tsem_hold hold;
	const struct timespec deadline = deadline_in(20000);
	return tsem_acquire(sem, 1, &deadline, &hold);
}

static int
take_within_a_while(tsem *sem)
{
	const struct timespec deadline = deadline_in(20000);
	return tsem_take(sem, 1, &deadline);
}

static int
acquire_any_of_one(tsem *sem)
{
	tsem_hold hold;
	size_t which;
	return tsem_acquire_any(&sem, 1, NULL, &hold, &which);
}

static int
set_to_nine(tsem *sem)
{
	return tsem_set(sem, 9);
}

static int
recover_and_acquire(tsem *sem)
{
	assert_int_equal(tsem_recover(sem, NULL), 0);
	return try_acquire(sem);
}

static int
recover_and_take(tsem *sem)
{
	assert_int_equal(tsem_recover(sem, NULL), 0);
	return try_take(sem);
}

static int
post_and_take(tsem *sem)
{
	const int rc = tsem_post(sem, 1, NULL);
	if (rc != 0 && rc != -EIDRM)
		fail_msg("tsem_post: %d", rc);
	return try_take(sem);
}

/* Nobody gets in who has opened it before, whatever he tries first: the name may lead to a new one by now. */
static void
who_removed_it_was_killed(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZER();
	static int (*const ways[])(tsem *) = {try_acquire, try_take,           acquire_within_a_while, take_within_a_while,
	                                      set_to_nine, acquire_any_of_one, recover_and_acquire,    recover_and_take};
	for (size_t i = 0; i < sizeof(removals) / sizeof(removals[0]); i++) {
		for (size_t j = 0; j < sizeof(ways) / sizeof(ways[0]); j++) {
			tsem *sem = semaphore_of(&removals[i]);
			remove_and_die(&removals[i]);
			assert_int_equal(ways[j](sem), -EIDRM);
			assert_int_equal(try_take(sem), -EIDRM);
			assert_int_equal(try_acquire(sem), -EIDRM);
			tsem_close(sem);
		}
	}
}

/* With nothing to seize there is a place in the line all the same: who posts and takes comes to it. */
static void
who_removed_one_without_permits_was_killed(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZER();
	for (unsigned flags = 0; flags <= TSEM_FORCE; flags += TSEM_FORCE) {
		const struct removal removal = {.flags = flags};
		tsem *sem = semaphore_of(&removal);
		remove_and_die(&removal);
		assert_int_equal(post_and_take(sem), -EIDRM);
		tsem_close(sem);
	}
}

/* The holder goes on, for that is what force is; nobody follows him. */
static void
who_removed_it_by_force_while_held_was_killed(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZER();
	const struct removal removal = {.permits = 1, .flags = TSEM_FORCE};
	tsem *sem = semaphore_of(&removal);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	remove_and_die(&removal);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(try_acquire(sem), -EIDRM);
	tsem_close(sem);
}

static int
wait_for_one(void *sem)
{
	tsem_hold hold;
	return -tsem_acquire(sem, 1, NULL, &hold);
}

/* What was posted beyond the capacity comes back with the remover's hold, and enables those behind it. */
static void
who_waited_behind_a_killed_remover(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZER();
	struct removal removal = {.permits = 1, .posted = 3};
	tsem *sem = semaphore_of(&removal);
	const pid_t remover = start_halted(remove_halted, &removal);
	go_on_to(remover, &unlinking, AT_ENTRY);
	const pid_t waiter = start_child(wait_for_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	go_on_to(remover, &unlinking, AT_EXIT);
	kill_child(remover);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(end_of_child(waiter), EIDRM);
	tsem_close(sem);
}

/* Another one cannot remove it any more, and gives back what it has seized for that. */
static void
who_comes_too_late_to_remove_it(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZER();
	struct removal removal = {.permits = 1};
	tsem *sem = semaphore_of(&removal);
	const pid_t remover = start_halted(remove_halted, &removal);
	go_on_to(remover, &unlinking, AT_ENTRY);
	assert_int_equal(unlink(file_of(name)), 0);
	let_go(remover);
	assert_int_equal(end_of_child(remover), ENOENT);
	assert_int_equal(try_acquire(sem), -EIDRM);
	tsem_close(sem);
}

/* ---- stopped, or killed, in front of unlink() ---- */

/* Whoever looks at a name and then unlinks it may be stopped in between for any time: meanwhile nobody else does. */
static void
who_removes_it_is_stopped(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZER();
	static const struct removal slow_ones[] = {{.permits = 1}, {.permits = 0}, {.permits = 1, .flags = TSEM_FORCE}};
	for (size_t i = 0; i < sizeof(slow_ones) / sizeof(slow_ones[0]); i++) {
		struct removal removal = slow_ones[i];
		tsem *sem = semaphore_of(&removal);
		const pid_t slow = start_halted(remove_halted, &removal);
		go_on_to(slow, &unlinking, AT_ENTRY);
		removal.flags = TSEM_FORCE;
		const int other = end_of_child(start_child(remove_freely, &removal));
		tsem *new = NULL;
		if (other == 0)
			new = new_semaphore_named(name, 1, 0);
		let_go(slow);
		assert_int_equal(end_of_child(slow), 0);
		if (other == 0)
			assert_int_equal(access(file_of(name), F_OK), 0); /* the new one, which is in use */
		assert_int_equal(other, EBUSY);
		assert_int_equal(access(file_of(name), F_OK), -1);
		assert_int_equal(try_acquire(sem), -EIDRM);
		tsem_close(new);
		tsem_close(sem);
	}
}

static void
who_removes_it_is_killed_before_it_has(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZER();
	for (size_t i = 0; i < sizeof(removals) / sizeof(removals[0]); i++) {
		struct removal removal = removals[i];
		tsem *sem = semaphore_of(&removal);
		const pid_t killed = start_halted(remove_halted, &removal);
		go_on_to(killed, &unlinking, AT_ENTRY);
		kill_child(killed);
		/* It is in use again, and the next one can remove it. */
		assert_int_equal(tsem_recover(sem, NULL), 0);
		assert_int_equal(stat_of(sem).available, removal.permits + removal.posted);
		assert_int_equal(stat_of(sem).held, 0);
		assert_int_equal(stat_of(sem).waiting, 0);
		assert_int_equal(tsem_remove(name, removal.flags), 0);
		assert_int_equal(access(file_of(name), F_OK), -1);
		tsem_close(sem);
	}
}

/* Whoever may not write to the file has no say in it. */
static void
a_lock_by_a_reader(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZER();
	struct removal removal = {.permits = 1};
	tsem *sem = semaphore_of(&removal);
	const int fd = open(file_of(name), O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	const pid_t pid = start_halted(remove_halted, &removal);
	assert_int_equal(go_on_to(pid, &unlinking, AT_ENTRY), 0);
	let_go(pid);
	assert_int_equal(end_of_child(pid), 0);
	close(fd);
	tsem_close(sem);
}

/* ---- more than one hold can have ---- */

static void
more_permits_than_fit_into_a_hold(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZER();
	for (unsigned flags = 0; flags <= TSEM_FORCE; flags += TSEM_FORCE) {
		struct removal removal = {.flags = flags, .permits = UINT32_MAX, .posted = UINT32_MAX};
		tsem *sem = semaphore_of(&removal);
		assert_int_equal(tsem_post(sem, UINT32_MAX, NULL), 0);
		remove_and_die(&removal);
		assert_int_equal(tsem_recover(sem, NULL), 0);
		assert_int_equal(try_take(sem), -EIDRM);
		tsem_close(sem);
		sem = semaphore_of(&removal);
		tsem_hold hold;
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_int_equal(tsem_remove(name, 0), -EBUSY);
		assert_int_equal(stat_of(sem).held, 1);
		assert_int_equal(tsem_release(&hold), 0);
		assert_int_equal(stat_of(sem).available, 2 * (uint64_t)UINT32_MAX);
		assert_int_equal(tsem_remove(name, flags), 0);
		tsem_close(sem);
	}
}

static void
more_permits_than_anybody_has_use_for(void **state)
{
	(void)state;
	if (UNDER_THREAD_SANITIZER)
		SKIP("a thousand places that look at one another take it half a minute");
	const struct removal removal = {.permits = 1};
	tsem *sem = semaphore_of(&removal);
	set_counters(sem, 0, UINT64_C(1) << 39);
	const uint64_t available = stat_of(sem).available;
	assert_int_equal(tsem_remove(name, 0), -EOVERFLOW);
	assert_int_equal(stat_of(sem).available, available);
	assert_int_equal(records_in_use(sem), 0);
	assert_int_equal(tsem_remove(name, TSEM_FORCE), 0);
	assert_int_equal(try_take(sem), -EIDRM);
	tsem_close(sem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_removed_it_was_killed),
		cmocka_unit_test(who_removed_one_without_permits_was_killed),
		cmocka_unit_test(who_removed_it_by_force_while_held_was_killed),
		cmocka_unit_test(who_waited_behind_a_killed_remover),
		cmocka_unit_test(who_comes_too_late_to_remove_it),
		cmocka_unit_test(who_removes_it_is_stopped),
		cmocka_unit_test(who_removes_it_is_killed_before_it_has),
		cmocka_unit_test(a_lock_by_a_reader),
		cmocka_unit_test(more_permits_than_fit_into_a_hold),
		cmocka_unit_test(more_permits_than_anybody_has_use_for),
	};
	support_start(100);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

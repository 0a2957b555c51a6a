/* SPDX-License-Identifier: MIT */
/* A hold that changes its owner: tsem_hand_over and tsem_release_for, tsem_adopt and tsem_reap. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int
sleep_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return 0;
}

/* ---- hand over ---- */

static void
handed_over_and_released_newest_first(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(9, 0);
	const pid_t child = start_child(sleep_for_ever, NULL);
	static const uint32_t counts[] = {4, 2, 1};
	for (size_t i = 0; i < 3; i++) {
		tsem_hold hold;
		assert_int_equal(tsem_acquire(sem, counts[i], NULL, &hold), 0);
		assert_int_equal(tsem_hand_over(&hold, child), 0);
		assert_int_equal(tsem_release(&hold), -EPERM);
		assert_int_equal(tsem_hand_over(&hold, child), -EPERM);
	}
	assert_int_equal(stat_of(sem).handed_over, 3);
	assert_int_equal(stat_of(sem).held, 7);
	assert_int_equal(tsem_release_for(sem, child), 0);
	assert_int_equal(stat_of(sem).held, 6);
	assert_int_equal(tsem_release_for(sem, child), 0);
	assert_int_equal(stat_of(sem).held, 4);
	assert_int_equal(tsem_release_for(sem, child), 0);
	assert_int_equal(stat_of(sem).held, 0);
	assert_int_equal(tsem_release_for(sem, child), -ENOENT);
	kill_child(child);
	tsem_close(sem);
}

static void
a_handed_over_hold_ends_with_its_owner(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold;
	const pid_t child = start_child(sleep_for_ever, NULL);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_hand_over(&hold, child), 0);
	uint32_t recovered = 99;
	assert_int_equal(tsem_recover(sem, &recovered), 0);
	assert_int_equal(recovered, 0);
	kill_child(child);
	assert_int_equal(tsem_recover(sem, &recovered), 0);
	assert_int_equal(recovered, 1);
	assert_int_equal(stat_of(sem).available, 1);
	tsem_close(sem);
}

static void
nobody_to_hand_it_to(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold;
	const pid_t child = start_child(sleep_for_ever, NULL);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_hand_over(&hold, 0), -ESRCH);
	assert_int_equal(tsem_hand_over(&hold, -1), -ESRCH);
	assert_int_equal(tsem_hand_over(&hold, 4194304), -ESRCH);
	kill(child, SIGKILL);
	await_zombie(child);
	assert_int_equal(tsem_hand_over(&hold, child), -ESRCH);
	end_of_child(child);
	assert_int_equal(tsem_hand_over(&hold, child), -ESRCH);
	/* It is still the caller's. */
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).available, 1);
	tsem_close(sem);
}

struct transfer {
	tsem *sem;
	tsem_hold hold;
	pid_t pid;
	_Atomic int step;
};

static int
hand_over_what_the_parent_holds(void *arg)
{
	struct transfer *transfer = arg;
	return -tsem_hand_over(&transfer->hold, getpid());
}

static void
only_the_owner_hands_over(void **state)
{
	(void)state;
	struct transfer transfer = {.sem = new_semaphore(1, 0)};
	assert_int_equal(tsem_acquire(transfer.sem, 1, NULL, &transfer.hold), 0);
	assert_int_equal(end_of_child(start_child(hand_over_what_the_parent_holds, &transfer)), EPERM);
	assert_int_equal(tsem_release(&transfer.hold), 0);
	tsem_close(transfer.sem);
}

/* A process's own holds are not "handed over": nobody else releases them. */
static void
release_for_finds_only_what_was_handed_over(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(2, 0);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release_for(sem, getpid()), -ENOENT);
	assert_int_equal(tsem_hand_over(&hold, getpid()), 0);
	assert_int_equal(tsem_release(&hold), -EPERM);
	assert_int_equal(tsem_release_for(sem, getppid()), -ENOENT);
	assert_int_equal(tsem_release_for(sem, getpid()), 0);
	assert_int_equal(stat_of(sem).available, 2);
	tsem_close(sem);
}

static int
acquire_hand_over_and_leave(void *arg)
{
	struct transfer *transfer = arg;
	tsem_hold hold;
	const int rc = tsem_acquire(transfer->sem, 1, NULL, &hold);
	return rc != 0 ? -rc : -tsem_hand_over(&hold, transfer->pid);
}

/* As a script does it: one process acquires, another one releases, and neither is the owner. */
static void
anybody_releases_for_the_owner(void **state)
{
	(void)state;
	struct transfer transfer = {.sem = new_semaphore(1, 0), .pid = start_child(sleep_for_ever, NULL)};
	assert_int_equal(end_of_child(start_child(acquire_hand_over_and_leave, &transfer)), 0);
	tsem_hold hold;
	assert_int_equal(tsem_try_acquire(transfer.sem, 1, &hold), -EAGAIN);
	assert_int_equal(tsem_release_for(transfer.sem, transfer.pid), 0);
	assert_int_equal(tsem_try_acquire(transfer.sem, 1, &hold), 0);
	kill_child(transfer.pid);
	tsem_close(transfer.sem);
}

/* ---- adopt ---- */

static struct transfer *
shared_transfer(uint32_t permits)
{
	struct transfer *transfer =
		mmap(NULL, sizeof(*transfer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(transfer, MAP_FAILED);
	transfer->sem = new_semaphore(permits, 0);
	return transfer;
}

static void
free_transfer(struct transfer *transfer)
{
	tsem_close(transfer->sem);
	munmap(transfer, sizeof(*transfer));
}

static int
adopt_and_stay(void *arg)
{
	struct transfer *transfer = arg;
	tsem_hold hold = transfer->hold; /* the parent's stays as it is */
	const int rc = tsem_adopt(&hold);
	transfer->pid = getpid();
	transfer->step = rc == 0 ? 1 : -1;
	return rc != 0 ? -rc : sleep_for_ever(NULL);
}

static void
adopted_by_a_child(void **state)
{
	(void)state;
	struct transfer *transfer = shared_transfer(1);
	assert_int_equal(tsem_acquire(transfer->sem, 1, NULL, &transfer->hold), 0);
	const pid_t child = start_child(adopt_and_stay, transfer);
	EVENTUALLY(transfer->step != 0);
	assert_int_equal(transfer->step, 1);
	assert_int_equal(tsem_release(&transfer->hold), -EPERM);
	assert_int_equal(tsem_hand_over(&transfer->hold, child), -EPERM);
	assert_int_equal(tsem_reap(&transfer->hold, 0), -EBUSY);
	assert_int_equal(stat_of(transfer->sem).held, 1);
	kill_child(child);
	assert_int_equal(tsem_reap(&transfer->hold, 0), 0);
	assert_int_equal(stat_of(transfer->sem).held, 0);
	assert_int_equal(stat_of(transfer->sem).recovered, 0); /* it ended, nobody died on anybody */
	assert_int_equal(tsem_reap(&transfer->hold, 0), -EPERM);
	free_transfer(transfer);
}

/* The parent, killed, takes nothing along: the hold is the child's. */
static int
acquire_and_let_a_child_adopt(void *arg)
{
	struct transfer *transfer = arg;
	if (tsem_acquire(transfer->sem, 1, NULL, &transfer->hold) != 0)
		return 1;
	const pid_t child = fork();
	if (child == 0)
		_exit(adopt_and_stay(transfer));
	return sleep_for_ever(NULL);
}

static void
the_parents_death_does_not_end_it(void **state)
{
	(void)state;
	struct transfer *transfer = shared_transfer(1);
	tsem_hold hold;
	const pid_t parent = start_child(acquire_and_let_a_child_adopt, transfer);
	EVENTUALLY(transfer->step != 0);
	const pid_t child = transfer->pid;
	assert_true(child > 0);
	kill_child(parent);
	uint32_t recovered = 99;
	assert_int_equal(tsem_recover(transfer->sem, &recovered), 0);
	assert_int_equal(recovered, 0);
	assert_int_equal(tsem_try_acquire(transfer->sem, 1, &hold), -EAGAIN);
	kill(child, SIGKILL);
	EVENTUALLY(tsem_try_acquire(transfer->sem, 1, &hold) == 0);
	assert_int_equal(tsem_release(&hold), 0);
	free_transfer(transfer);
}

static int
adopt_when_told(void *arg)
{
	struct transfer *transfer = arg;
	tsem_hold hold = transfer->hold;
	transfer->step = 1;
	while (transfer->step != 2)
		pause_a_moment();
	transfer->pid = -tsem_adopt(&hold);
	transfer->step = 3;
	return 0;
}

static int
acquire_and_let_a_child_be_late(void *arg)
{
	struct transfer *transfer = arg;
	if (tsem_acquire(transfer->sem, 1, NULL, &transfer->hold) != 0)
		return 1;
	const pid_t child = fork();
	if (child == 0) {
		alarm(30);
		_exit(adopt_when_told(transfer));
	}
	return sleep_for_ever(NULL);
}

static void
too_late_to_adopt(void **state)
{
	(void)state;
	struct transfer *transfer = shared_transfer(1);
	tsem_hold mine;
	const pid_t parent = start_child(acquire_and_let_a_child_be_late, transfer);
	EVENTUALLY(transfer->step == 1);
	kill_child(parent);
	assert_int_equal(tsem_try_acquire(transfer->sem, 1, &mine), 0);
	transfer->step = 2;
	EVENTUALLY(transfer->step == 3);
	assert_int_equal(transfer->pid, EPERM);
	assert_int_equal(stat_of(transfer->sem).held, 1);
	assert_int_equal(tsem_release(&mine), 0);
	free_transfer(transfer);
}

static int
adopt_and_release(void *arg)
{
	struct transfer *transfer = arg;
	tsem_hold hold = transfer->hold;
	const int rc = tsem_adopt(&hold);
	return rc != 0 ? -rc : -tsem_release(&hold);
}

static void
released_by_the_child(void **state)
{
	(void)state;
	struct transfer transfer = {.sem = new_semaphore(2, 0)};
	tsem_hold others;
	assert_int_equal(tsem_acquire(transfer.sem, 1, NULL, &transfer.hold), 0);
	assert_int_equal(end_of_child(start_child(adopt_and_release, &transfer)), 0);
	assert_int_equal(stat_of(transfer.sem).held, 0);
	/* Somebody else has its permit by now, perhaps in the same record. */
	assert_int_equal(tsem_acquire(transfer.sem, 2, NULL, &others), 0);
	assert_int_equal(tsem_reap(&transfer.hold, 0), 0);
	assert_int_equal(stat_of(transfer.sem).held, 2);
	assert_int_equal(tsem_release(&others), 0);
	tsem_close(transfer.sem);
}

static void
not_adopted_at_all(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold, none;
	memset(&none, 0, sizeof(none));
	assert_int_equal(tsem_adopt(&none), -EPERM);
	assert_int_equal(tsem_reap(&none, 0), -EPERM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_adopt(&hold), -EPERM); /* it is the caller's own already */
	assert_int_equal(tsem_reap(&hold, 0), 0);
	assert_int_equal(stat_of(sem).available, 1);
	tsem_close(sem);
}

/* As `tsem run` does it: the child shares the parent's memory until it executes the command. */
static void
adopted_in_a_child_of_vfork(void **state)
{
	(void)state;
	if (UNDER_THREAD_SANITIZER)
		SKIP("ThreadSanitizer turns vfork() into fork()");
	tsem *sem = new_semaphore(1, 0);
	static tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	const pid_t child = vfork();
	if (child == 0) {
		if (tsem_adopt(&hold) == 0)
			execl("/bin/sleep", "sleep", "1000", (char *)NULL);
		_exit(99);
	}
	assert_true(child > 0);
	assert_int_equal(tsem_release(&hold), -EPERM);
	assert_int_equal(tsem_reap(&hold, 0), -EBUSY);
	uint32_t recovered = 99;
	assert_int_equal(tsem_recover(sem, &recovered), 0);
	assert_int_equal(recovered, 0);
	kill(child, SIGKILL);
	assert_int_equal(end_of_child(child), 128 + SIGKILL);
	assert_int_equal(tsem_reap(&hold, 0), 0);
	assert_int_equal(stat_of(sem).available, 1);

	/* The parent is itself again: its next hold is its own. */
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	tsem_close(sem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handed_over_and_released_newest_first),
		cmocka_unit_test(a_handed_over_hold_ends_with_its_owner),
		cmocka_unit_test(nobody_to_hand_it_to),
		cmocka_unit_test(only_the_owner_hands_over),
		cmocka_unit_test(release_for_finds_only_what_was_handed_over),
		cmocka_unit_test(anybody_releases_for_the_owner),
		cmocka_unit_test(adopted_by_a_child),
		cmocka_unit_test(the_parents_death_does_not_end_it),
		cmocka_unit_test(too_late_to_adopt),
		cmocka_unit_test(released_by_the_child),
		cmocka_unit_test(not_adopted_at_all),
		cmocka_unit_test(adopted_in_a_child_of_vfork),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

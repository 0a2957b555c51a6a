/* SPDX-License-Identifier: MIT */
/* tsem_adopt and tsem_reap: a child adopts a hold. */
#include "support.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct transfer {
	tsem *sem;
	tsem_hold hold;
	pid_t pid;
	_Atomic int step;
};

static struct transfer *
shared_transfer(uint32_t permits)
{
	struct transfer *transfer = shared_memory(sizeof(*transfer));
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
	tsem_hold hold = transfer->hold; /* the parent's hold does not change */
	const int rc = tsem_adopt(&hold);
	transfer->pid = getpid();
	transfer->step = rc == 0 ? 1 : -1;
	return rc != 0 ? -rc : stay_until_killed(NULL);
}

TEST(adopted_by_a_child)
{
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
	assert_int_equal(stat_of(transfer->sem).recovered, 0); /* the child released it, so no holder died */
	assert_int_equal(tsem_reap(&transfer->hold, 0), -EPERM);
	free_transfer(transfer);
}

/* The parent is killed after the adoption: the child keeps the hold. */
static int
acquire_and_let_a_child_adopt(void *arg)
{
	struct transfer *transfer = arg;
	if (tsem_acquire(transfer->sem, 1, NULL, &transfer->hold) != 0)
		return 1;
	const pid_t child = fork();
	if (child == 0)
		_exit(adopt_and_stay(transfer));
	return stay_until_killed(NULL);
}

TEST(the_parents_death_does_not_end_it)
{
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
adopt_on_demand(void *arg)
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
		_exit(adopt_on_demand(transfer));
	}
	return stay_until_killed(NULL);
}

TEST(too_late_to_adopt)
{
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

TEST(released_by_the_child)
{
	struct transfer transfer = {.sem = new_semaphore(2, 0)};
	tsem_hold others;
	assert_int_equal(tsem_acquire(transfer.sem, 1, NULL, &transfer.hold), 0);
	assert_int_equal(end_of_child(start_child(adopt_and_release, &transfer)), 0);
	assert_int_equal(stat_of(transfer.sem).held, 0);
	/* Another process has the permit by now, possibly in the same record. */
	assert_int_equal(tsem_acquire(transfer.sem, 2, NULL, &others), 0);
	assert_int_equal(tsem_reap(&transfer.hold, 0), 0);
	assert_int_equal(stat_of(transfer.sem).held, 2);
	assert_int_equal(tsem_release(&others), 0);
	tsem_close(transfer.sem);
}

TEST(not_adopted_at_all)
{
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold, none;
	memset(&none, 0, sizeof(none));
	assert_int_equal(tsem_adopt(&none), -EPERM);
	assert_int_equal(tsem_reap(&none, 0), -EPERM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_adopt(&hold), -EPERM); /* it belongs to the caller already */
	assert_int_equal(tsem_reap(&hold, 0), 0);
	assert_int_equal(stat_of(sem).available, 1);
	tsem_close(sem);
}

enum { REFUSED_HERE = 77 };

struct elsewhere {
	tsem *sem;
	int namespaces; /* the namespace of later children */
	int error;      /* the namespace that they get */
};

static int
let_a_child_adopt_in_another_namespace(void *arg)
{
	const struct elsewhere *elsewhere = arg;
	struct transfer transfer = {.sem = elsewhere->sem};
	CHECK(tsem_acquire(transfer.sem, 1, NULL, &transfer.hold) == 0);
	if (unshare(elsewhere->namespaces) != 0)
		return REFUSED_HERE;
	const pid_t child = fork();
	if (child == 0)
		_exit(-tsem_adopt(&transfer.hold));
	CHECK(end_of_child(child) == elsewhere->error);
	/* The hold is still the parent's, or ended with the child. */
	CHECK(elsewhere->error == 0 || stat_of(transfer.sem).held == 1);
	return -(elsewhere->error == 0 ? tsem_reap(&transfer.hold, 0) : tsem_release(&transfer.hold));
}

/* In another PID namespace, the child's number would mean nothing to other processes. The clock does not matter. */
TEST(not_into_another_pid_namespace)
{
	struct elsewhere cases[] = {
		{.namespaces = CLONE_NEWPID, .error = EXDEV},
		{.namespaces = CLONE_NEWTIME, .error = 0},
		{.namespaces = CLONE_NEWPID | CLONE_NEWTIME, .error = EXDEV},
	};
	tsem *sem = new_semaphore(1, 0);
	int refused = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct elsewhere elsewhere = cases[i];
		elsewhere.sem = sem;
		const int status = end_of_child(start_child(let_a_child_adopt_in_another_namespace, &elsewhere));
		refused += status == REFUSED_HERE;
		assert_true(status == 0 || status == REFUSED_HERE);
		tsem_hold hold;
		EVENTUALLY(tsem_try_acquire(sem, 1, &hold) == 0); /* all permits are back */
		assert_int_equal(tsem_release(&hold), 0);
	}
	tsem_close(sem);
	if (refused > 0)
		SKIP("new PID or time namespaces are refused here");
}

/* As `tsem run` does it: the child shares the parent's memory until it executes the command. */
TEST(adopted_in_a_child_of_vfork)
{
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

	/* The parent has its own identity again: its next hold is its own. */
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	tsem_close(sem);
}

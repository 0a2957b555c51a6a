/* SPDX-License-Identifier: MIT */
/* tsem_hand_over and tsem_release_for: a hold for a process that does nothing. */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

TEST(handed_over_and_released_newest_first)
{
	tsem *sem = new_semaphore(9, 0);
	const pid_t child = start_child(stay_until_killed, NULL);
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

TEST(a_handed_over_hold_ends_with_its_owner)
{
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold;
	const pid_t child = start_child(stay_until_killed, NULL);
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

TEST(no_process_to_hand_it_to)
{
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold;
	const pid_t child = start_child(stay_until_killed, NULL);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_hand_over(&hold, 0), -ESRCH);
	assert_int_equal(tsem_hand_over(&hold, -1), -ESRCH);
	assert_int_equal(tsem_hand_over(&hold, 4194304), -ESRCH);
	kill(child, SIGKILL);
	await_zombie(child);
	assert_int_equal(tsem_hand_over(&hold, child), -ESRCH);
	end_of_child(child);
	assert_int_equal(tsem_hand_over(&hold, child), -ESRCH);
	/* The caller still has it. */
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).available, 1);
	tsem_close(sem);
}

static void *
stay(void *id)
{
	*(_Atomic pid_t *)id = gettid();
	stay_until_killed(NULL);
	return NULL;
}

TEST(a_thread_is_no_process)
{
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold;
	pthread_t thread;
	_Atomic pid_t id = 0;
	assert_int_equal(pthread_create(&thread, NULL, stay, &id), 0);
	EVENTUALLY(id != 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_hand_over(&hold, id), -ESRCH);
	assert_int_equal(tsem_release_for(sem, id), -ESRCH);
	assert_int_equal(tsem_hand_over(&hold, getpid()), 0); /* the number of the thread means the process */
	assert_int_equal(tsem_release_for(sem, getpid()), 0);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	tsem_close(sem);
}

struct transfer {
	tsem *sem;
	tsem_hold hold;
	pid_t pid;
};

static int
hand_over_what_the_parent_holds(void *arg)
{
	struct transfer *transfer = arg;
	return -tsem_hand_over(&transfer->hold, getpid());
}

TEST(only_the_owner_hands_over)
{
	struct transfer transfer = {.sem = new_semaphore(1, 0)};
	assert_int_equal(tsem_acquire(transfer.sem, 1, NULL, &transfer.hold), 0);
	assert_int_equal(end_of_child(start_child(hand_over_what_the_parent_holds, &transfer)), EPERM);
	assert_int_equal(tsem_release(&transfer.hold), 0);
	tsem_close(transfer.sem);
}

/* A process's own holds are not "handed over": no other process releases them. */
TEST(release_for_finds_only_what_was_handed_over)
{
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

/* As in a script: one process acquires, another one releases, and neither is the owner. */
TEST(any_process_releases_for_the_owner)
{
	struct transfer transfer = {.sem = new_semaphore(1, 0), .pid = start_child(stay_until_killed, NULL)};
	assert_int_equal(end_of_child(start_child(acquire_hand_over_and_leave, &transfer)), 0);
	tsem_hold hold;
	assert_int_equal(tsem_try_acquire(transfer.sem, 1, &hold), -EAGAIN);
	assert_int_equal(tsem_release_for(transfer.sem, transfer.pid), 0);
	assert_int_equal(tsem_try_acquire(transfer.sem, 1, &hold), 0);
	kill_child(transfer.pid);
	tsem_close(transfer.sem);
}

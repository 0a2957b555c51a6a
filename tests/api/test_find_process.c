/* SPDX-License-Identifier: MIT */
/* tsem_find_process, tsem_hand_over_to, tsem_lend: for one process, and not for a later one with its number. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(a_process_that_lives_gets_it)
{
	tsem *sem = new_semaphore(2, 0);
	const pid_t child = start_child(stay_until_killed, NULL);
	tsem_process process;
	tsem_hold hold, lent;
	assert_int_equal(tsem_find_process(child, &process), 0);
	const tsem_process copy = process;
	memset(&process, 0, sizeof(process));
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &lent), 0);
	assert_int_equal(tsem_hand_over_to(&hold, &copy), 0);
	assert_int_equal(tsem_hand_over_to(&hold, &copy), -EPERM);
	assert_int_equal(tsem_lend(&lent, &copy), 0);
	assert_int_equal(tsem_release_for(sem, child), 0);
	assert_int_equal(tsem_release_for(sem, child), -ENOENT);
	assert_int_equal(tsem_release(&lent), 0);
	assert_int_equal(stat_of(sem).available, 2);
	kill_child(child);
	tsem_close(sem);
}

TEST(no_process_has_that_number)
{
	static const pid_t pids[] = {0, -1, 4194304};
	const tsem_process before = {{1, 2, 3, 4}};
	tsem_process process = before;
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++)
		assert_int_equal(tsem_find_process(pids[i], &process), -ESRCH);
	const pid_t child = start_child(stay_until_killed, NULL);
	kill(child, SIGKILL);
	await_zombie(child);
	assert_int_equal(tsem_find_process(child, &process), -ESRCH);
	end_of_child(child);
	assert_int_equal(tsem_find_process(child, &process), -ESRCH);
	assert_memory_equal(&process, &before, sizeof(process));
}

/* Both ways to give it fail, and the caller still has the hold. */
static int
expect_gone(tsem *sem, const tsem_process *process)
{
	tsem_hold hold;
	CHECK(tsem_acquire(sem, 1, NULL, &hold) == 0);
	CHECK(tsem_hand_over_to(&hold, process) == -ESRCH);
	CHECK(tsem_lend(&hold, process) == -ESRCH);
	CHECK(tsem_release(&hold) == 0);
	return 0;
}

TEST(it_has_ended_meanwhile)
{
	tsem *sem = new_semaphore(1, 0);
	const tsem_process never_found = {{0}};
	tsem_process process;
	const pid_t child = start_child(stay_until_killed, NULL);
	assert_int_equal(tsem_find_process(child, &process), 0);
	kill(child, SIGKILL);
	await_zombie(child);
	assert_int_equal(expect_gone(sem, &process), 0);
	end_of_child(child);
	assert_int_equal(expect_gone(sem, &process), 0);
	assert_int_equal(expect_gone(sem, &never_found), 0);
	expect_at_rest(sem, 1);
	tsem_close(sem);
}

/* ---- a later process with the same number ---- */

enum { REFUSED = 77 };

static bool
choose_next_pid(pid_t pid)
{
	FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");
	if (file == NULL)
		return false;
	fprintf(file, "%d", (int)pid - 1);
	return fclose(file) == 0;
}

static pid_t
fork_for_ever(void)
{
	const pid_t pid = fork();
	if (pid == 0)
		stay_until_killed(NULL);
	return pid;
}

/* Runs as process 1 of a PID namespace with its own /proc, so that all its processes belong to the test. */
static int
give_to_a_successor(tsem *sem)
{
	tsem_process process;
	const pid_t first = fork_for_ever();
	CHECK(first > 0 && tsem_find_process(first, &process) == 0);
	kill(first, SIGKILL);
	CHECK(waitpid(first, NULL, 0) == first);

	/* Waits until the clock of 1/100 s has moved on, by which start times differ. */
	const struct timespec later = deadline_in(40);
	while (!deadline_has_passed(&later))
		pause_a_moment();
	if (!choose_next_pid(first))
		return REFUSED;
	CHECK(fork_for_ever() == first);
	CHECK(expect_gone(sem, &process) == 0);

	/* Its number, and a new search, mean the later process. */
	tsem_hold hold;
	CHECK(tsem_acquire(sem, 1, NULL, &hold) == 0 && tsem_hand_over(&hold, first) == 0);
	CHECK(tsem_release_for(sem, first) == 0);
	CHECK(tsem_find_process(first, &process) == 0);
	CHECK(tsem_acquire(sem, 1, NULL, &hold) == 0 && tsem_hand_over_to(&hold, &process) == 0);
	CHECK(tsem_release_for(sem, first) == 0);
	return 0;
}

static int
in_namespaces_of_its_own(void *sem)
{
	if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
		return REFUSED;
	const pid_t child = fork();
	if (child == 0) {
		const bool ready =
			mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("proc", "/proc", "proc", 0, NULL) == 0;
		_exit(ready ? give_to_a_successor(sem) : REFUSED);
	}
	return child < 0 ? 1 : end_of_child(child);
}

TEST(another_process_has_its_number)
{
	tsem *sem = new_semaphore(1, 0);
	const int status = end_of_child(start_child(in_namespaces_of_its_own, sem));
	expect_at_rest(sem, 1);
	tsem_close(sem);
	if (status == REFUSED)
		SKIP("no PID namespace of its own, or no choice of a number, is allowed here");
	assert_int_equal(status, 0);
}

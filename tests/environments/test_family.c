/* SPDX-License-Identifier: MIT */
/* What fork() and exec() do to holds, and to the records that threads cache. */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program;

static int
try_once(tsem *sem)
{
	tsem_hold hold;
	const int rc = tsem_try_acquire(sem, 1, &hold);
	return rc == 0 ? tsem_release(&hold) : rc;
}

/* ---- fork without exec ---- */

struct inherited {
	tsem *sem;
	tsem_hold hold;
};

/* The child has the memory of a hold, but does not hold. */
static int
use_inherited(void *arg)
{
	struct inherited *inherited = arg;
	if (tsem_release(&inherited->hold) != -EPERM)
		return 1;
	if (tsem_hand_over(&inherited->hold, getpid()) != -EPERM)
		return 2;
	return try_once(inherited->sem) == -EAGAIN ? 0 : 3;
}

TEST(test_a_child_cannot_release)
{
	struct inherited inherited = {.sem = new_semaphore(1, 0)};
	assert_int_equal(tsem_acquire(inherited.sem, 1, NULL, &inherited.hold), 0);
	assert_int_equal(end_of_child(start_child(use_inherited, &inherited)), 0);
	assert_int_equal(stat_of(inherited.sem).held, 1);
	assert_int_equal(tsem_release(&inherited.hold), 0);
	assert_int_equal(stat_of(inherited.sem).available, 1);
	tsem_close(inherited.sem);
}

static int pipe_to_parent[2];

/* Acquires, forks a child that lives without exec(), and dies. */
static int
hold_fork_and_die(void *arg)
{
	tsem_hold hold;
	if (tsem_acquire(arg, 1, NULL, &hold) != 0)
		return 1;
	const pid_t pid = fork();
	if (pid == 0) {
		char byte;
		close(pipe_to_parent[1]);
		_exit(read(pipe_to_parent[0], &byte, 1) == 0 ? 0 : 1); /* until the test closes its end */
	}
	_exit(pid < 0);
}

TEST(test_a_living_child_does_not_keep_its_dead_parents_hold)
{
	tsem *sem = new_semaphore(1, 0);
	assert_int_equal(pipe(pipe_to_parent), 0);
	assert_int_equal(end_of_child(start_child(hold_fork_and_die, sem)), 0);
	assert_int_equal(try_once(sem), 0);
	assert_int_equal(stat_of(sem).recovered, 1);
	close(pipe_to_parent[0]);
	close(pipe_to_parent[1]);
	tsem_close(sem);
}

/* The parent's thread has cached a record; the child must not use it. */
static int
acquire_and_die(void *arg)
{
	tsem_hold hold;
	return tsem_acquire(arg, 1, NULL, &hold) == 0 ? 0 : 1;
}

TEST(test_a_child_does_not_use_a_record_that_its_parent_caches)
{
	tsem *sem = new_semaphore(2, 0);
	tsem_hold hold;
	uint32_t recovered;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	const pid_t child = start_child(acquire_and_die, sem);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0); /* while the child runs */
	assert_int_equal(end_of_child(child), 0);
	assert_int_equal(tsem_recover(sem, &recovered), 0);
	assert_int_equal(recovered, 1);
	assert_int_equal(stat_of(sem).held, 1);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).available, 2);
	tsem_close(sem);
}

/* ---- fork in a program with threads ---- */

enum { THREADS = 4, FORKS = 60 };

struct busy {
	tsem *sem;
	atomic_int stop;
	atomic_int rounds;
	atomic_int failures;
};

static void *
acquire_and_release(void *arg)
{
	struct busy *busy = arg;
	while (!atomic_load(&busy->stop)) {
		tsem_hold hold;
		if (tsem_acquire(busy->sem, 1, NULL, &hold) != 0 || tsem_release(&hold) != 0)
			atomic_fetch_add(&busy->failures, 1);
		atomic_fetch_add(&busy->rounds, 1);
	}
	return NULL;
}

/* Uses the handle in a child that was forked at a random moment. Every second child dies while it holds. */
static int
use_handle(void *arg)
{
	tsem *sem = arg;
	tsem_hold hold;
	for (int i = 0; i < 3; i++) {
		if (tsem_acquire(sem, 1, NULL, &hold) != 0 || tsem_release(&hold) != 0)
			return 1;
	}
	return getpid() % 2 == 0 && tsem_acquire(sem, 1, NULL, &hold) != 0;
}

TEST(test_forks_among_busy_threads)
{
	struct busy busy = {.sem = new_semaphore(3, 0)};
	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, acquire_and_release, &busy), 0);
	EVENTUALLY(atomic_load(&busy.rounds) > 1000);
	for (int i = 0; i < FORKS; i++)
		assert_int_equal(end_of_child(start_child(use_handle, busy.sem)), 0);
	atomic_store(&busy.stop, 1);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&busy.failures), 0);
	assert_int_equal(tsem_recover(busy.sem, NULL), 0);
	expect_at_rest(busy.sem, 3);
	tsem_close(busy.sem);
}

/* ---- exec ---- */

/* Runs as `program read`: writes a byte, and lives until its input ends. */
static int
live_until_end_of_input(void)
{
	char byte;
	if (write(STDOUT_FILENO, "x", 1) != 1)
		return 1;
	return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1;
}

static int input[2];
static int output[2];

static void *
exec_program(void *arg)
{
	(void)arg;
	dup2(input[0], STDIN_FILENO);
	dup2(output[1], STDOUT_FILENO);
	close(input[1]);
	execl(program, program, "read", (char *)NULL);
	_exit(97);
}

static int
hold_and_exec(void *arg)
{
	tsem_hold hold;
	if (tsem_acquire(arg, 1, NULL, &hold) != 0)
		return 1;
	exec_program(NULL);
	return 1;
}

/* exec() by a thread that is not the first: it takes over the first thread's id, and the process keeps its identity. */
static int
hold_and_exec_in_a_thread(void *arg)
{
	tsem_hold hold;
	pthread_t thread;
	if (tsem_acquire(arg, 1, NULL, &hold) != 0 || pthread_create(&thread, NULL, exec_program, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 1;
}

static void
hold_survives_exec(int (*body)(void *arg))
{
	tsem *sem = new_semaphore(1, 0);
	char byte;
	assert_int_equal(pipe(input), 0);
	assert_int_equal(pipe(output), 0);
	const pid_t child = start_child(body, sem);
	close(input[0]);
	close(output[1]);
	assert_int_equal(read(output[0], &byte, 1), 1); /* after the exec */
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(try_once(sem), -EAGAIN);
	assert_int_equal(stat_of(sem).recovered, 0);
	close(input[1]);
	close(output[0]);
	assert_int_equal(end_of_child(child), 0);
	assert_int_equal(tsem_recover(sem, NULL), 0); /* a try soon after another one does not look for the dead again */
	assert_int_equal(stat_of(sem).recovered, 1);
	assert_int_equal(try_once(sem), 0);
	tsem_close(sem);
}

TEST(test_a_hold_survives_exec)
{
	hold_survives_exec(hold_and_exec);
}

TEST(test_a_hold_survives_exec_by_another_thread)
{
	hold_survives_exec(hold_and_exec_in_a_thread);
}

int
main(int argc, char **argv)
{
	program = argv[0];
	if (argc == 2 && strcmp(argv[1], "read") == 0)
		return live_until_end_of_input();
	return run_all_tests(110);
}

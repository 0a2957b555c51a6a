/* SPDX-License-Identifier: MIT */
#include "situations.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

static void
begin(struct setup *setup, int (*body)(void *arg), void *arg)
{
	setup->processes[setup->n++] = start_child(body, arg);
}

void
nothing(struct setup *setup)
{
	(void)setup;
}

void
held(struct setup *setup)
{
	begin(setup, hold_until_killed, setup->sem);
	EVENTUALLY(stat_of(setup->sem).held == 1);
}

void
held_by_a_dead_process(struct setup *setup)
{
	held(setup);
	kill(setup->processes[0], SIGKILL);
	await_zombie(setup->processes[0]);
}

static void *
stay(void *unused)
{
	stay_until_killed(unused);
	return NULL;
}

static int
hold_without_first_thread(void *sem)
{
	static tsem_hold hold;
	pthread_t thread;
	CHECK(tsem_acquire(sem, 1, NULL, &hold) == 0);
	CHECK(pthread_create(&thread, NULL, stay, NULL) == 0);
	syscall(SYS_exit, 0);
	return 1;
}

static char
state_of(pid_t pid)
{
	char path[32];
	char state = '?';
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	fclose(file);
	return state;
}

void
held_without_first_thread(struct setup *setup)
{
	begin(setup, hold_without_first_thread, setup->sem);
	EVENTUALLY(state_of(setup->processes[0]) == 'Z');
	assert_int_equal(stat_of(setup->sem).held, 1);
}

void
process_beside(struct setup *setup)
{
	begin(setup, stay_until_killed, NULL);
}

void
lent_to_a_dead_process(struct setup *setup)
{
	tsem_process process;
	process_beside(setup);
	assert_int_equal(tsem_acquire(setup->sem, 1, NULL, &setup->lent), 0);
	assert_int_equal(tsem_find_process(setup->processes[0], &process), 0);
	assert_int_equal(tsem_lend(&setup->lent, &process), 0);
	kill(setup->processes[0], SIGKILL);
	await_zombie(setup->processes[0]);
}

void
waited_for(struct setup *setup)
{
	assert_int_equal(tsem_take(setup->sem, 1, NULL), 0);
	begin(setup, hold_until_killed, setup->sem);
	EVENTUALLY(stat_of(setup->sem).waiting == 1);
}

void
waited_for_and_given_up(struct setup *setup)
{
	const struct timespec deadline = {0};
	waited_for(setup);
	assert_int_equal(tsem_take(setup->sem, 1, &deadline), -ETIMEDOUT);
}

void
both_held(struct setup *setup)
{
	held(setup);
	begin(setup, hold_until_killed, setup->other);
	EVENTUALLY(stat_of(setup->other).held == 1);
}

void
capacity_raised(struct setup *setup)
{
	assert_int_equal(tsem_set(setup->sem, CAPACITY), 0);
}

void
locked(struct setup *setup)
{
	tsem_close(new_semaphore_named(setup->unused, 1, 0));
	setup->lock = open(file_of(setup->unused), O_RDONLY | O_CLOEXEC);
	assert_true(setup->lock >= 0);
	assert_int_equal(flock(setup->lock, LOCK_SH), 0);
}

void
no_semaphore_at_all(struct setup *setup)
{
	FILE *file = fopen(file_of(setup->unused), "wxe");
	assert_non_null(file);
	assert_true(fputs("no semaphore", file) >= 0);
	assert_int_equal(fclose(file), 0);
}

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
begin(struct scene *scene, int (*body)(void *arg), void *arg)
{
	scene->processes[scene->n++] = start_child(body, arg);
}

void
nothing(struct scene *scene)
{
	(void)scene;
}

void
held(struct scene *scene)
{
	begin(scene, hold_until_killed, scene->sem);
	EVENTUALLY(stat_of(scene->sem).held == 1);
}

void
held_by_the_dead(struct scene *scene)
{
	held(scene);
	kill(scene->processes[0], SIGKILL);
	await_zombie(scene->processes[0]);
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
held_without_first_thread(struct scene *scene)
{
	begin(scene, hold_without_first_thread, scene->sem);
	EVENTUALLY(state_of(scene->processes[0]) == 'Z');
	assert_int_equal(stat_of(scene->sem).held, 1);
}

void
process_beside(struct scene *scene)
{
	begin(scene, stay_until_killed, NULL);
}

void
lent_to_the_dead(struct scene *scene)
{
	tsem_process process;
	process_beside(scene);
	assert_int_equal(tsem_acquire(scene->sem, 1, NULL, &scene->lent), 0);
	assert_int_equal(tsem_find_process(scene->processes[0], &process), 0);
	assert_int_equal(tsem_lend(&scene->lent, &process), 0);
	kill(scene->processes[0], SIGKILL);
	await_zombie(scene->processes[0]);
}

void
waited_for(struct scene *scene)
{
	assert_int_equal(tsem_take(scene->sem, 1, NULL), 0);
	begin(scene, hold_until_killed, scene->sem);
	EVENTUALLY(stat_of(scene->sem).waiting == 1);
}

void
waited_for_and_given_up(struct scene *scene)
{
	const struct timespec deadline = {0};
	waited_for(scene);
	assert_int_equal(tsem_take(scene->sem, 1, &deadline), -ETIMEDOUT);
}

void
both_held(struct scene *scene)
{
	held(scene);
	begin(scene, hold_until_killed, scene->other);
	EVENTUALLY(stat_of(scene->other).held == 1);
}

void
capacity_raised(struct scene *scene)
{
	assert_int_equal(tsem_set(scene->sem, CAPACITY), 0);
}

void
locked(struct scene *scene)
{
	tsem_close(new_semaphore_named(scene->unused, 1, 0));
	scene->lock = open(file_of(scene->unused), O_RDONLY | O_CLOEXEC);
	assert_true(scene->lock >= 0);
	assert_int_equal(flock(scene->lock, LOCK_SH), 0);
}

void
no_semaphore_at_all(struct scene *scene)
{
	FILE *file = fopen(file_of(scene->unused), "wxe");
	assert_non_null(file);
	assert_true(fputs("no semaphore", file) >= 0);
	assert_int_equal(fclose(file), 0);
}

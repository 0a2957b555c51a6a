/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void
run_job(const struct pool *pool, tsem_hold *hold)
{
	struct pool_control *control = pool->control;
	const struct subject *subject = &pool->subjects[control->subject];
	const enum errand errand = control->errand;
	const unsigned all = control->to - control->from;
	atomic_fetch_add(&control->queueing, 1);
	subject->peer->take(subject->semaphore, hold);
	const uint64_t now = now_ns();
	atomic_store(&control->stamps[atomic_fetch_add(&control->admitted, 1)], now);
	if (errand == PASS_ON)
		subject->peer->give(subject->semaphore, hold);
	if (atomic_fetch_add(&control->done, 1) + 1 == all)
		futex_wake(&control->done, 1, BETWEEN_PROCESSES);
}

static _Noreturn void
work(const struct pool *pool, unsigned index)
{
	struct pool_control *control = pool->control;
	tsem_hold holds[PEERS_MAX];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned round = 0;;) {
		while (atomic_load(&control->round) == round)
			futex_wait(&control->round, round, BETWEEN_PROCESSES);
		round = atomic_load(&control->round);
		if (index < control->from || index >= control->to)
			continue;
		run_job(pool, &holds[control->subject]);
	}
}

bool
pool_start(struct pool *pool, unsigned size)
{
	pool->control = shared_memory(sizeof(*pool->control));
	for (pool->size = 0; pool->size < size && pool->size < POOL_MAX; pool->size++) {
		const pid_t pid = fork();
		if (pid < 0) {
			pool_end(pool);
			return false;
		}
		if (pid == 0)
			work(pool, pool->size);
		pool->pids[pool->size] = pid;
	}
	return pool->size == size;
}

static bool
is_asleep(pid_t pid)
{
	char text[512];
	snprintf(text, sizeof(text), "/proc/%ld/stat", (long)pid);
	const int fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(text);
	const ssize_t length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	const char *end = strrchr(text, ')');
	return end != NULL && end[1] != '\0' && end[2] == 'S';
}

static void
nap(void)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};
	nanosleep(&millisecond, NULL);
}

void
pool_send(struct pool *pool, unsigned subject, unsigned from, unsigned to, enum errand errand)
{
	struct pool_control *control = pool->control;
	control->subject = subject;
	control->from = from;
	control->to = to;
	control->errand = errand;
	atomic_store(&control->queueing, 0);
	atomic_store(&control->admitted, 0);
	atomic_store(&control->done, 0);
	atomic_fetch_add(&control->round, 1);
	futex_wake(&control->round, INT_MAX, BETWEEN_PROCESSES);
}

void
pool_queue(struct pool *pool, unsigned subject, unsigned from, unsigned to, enum errand errand)
{
	pool_send(pool, subject, from, to, errand);
	while (atomic_load(&pool->control->queueing) < to - from)
		nap();
	for (unsigned i = from; i < to; i++)
		while (!is_asleep(pool->pids[i]))
			nap();
}

bool
pool_wait(struct pool *pool, unsigned count, double seconds)
{
	const uint64_t until = now_ns() + (uint64_t)(seconds * 1e9);
	while (atomic_load(&pool->control->done) < count) {
		if (now_ns() > until)
			return false;
		nap();
	}
	return true;
}

void
pool_kill(struct pool *pool, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		kill(pool->pids[i], SIGKILL);
}

void
pool_end(struct pool *pool)
{
	pool_kill(pool, 0, pool->size);
	for (unsigned i = 0; i < pool->size; i++)
		waitpid(pool->pids[i], NULL, 0);
	munmap(pool->control, sizeof(*pool->control));
}

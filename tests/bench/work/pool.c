/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "moment.h"

static void
run_job(const struct pool *pool, unsigned index, const struct job *job)
{
	static tsem_hold hold;
	struct pool_control *control = pool->control;
	const struct subject *subject = &pool->subjects[job->subject == OWN_SUBJECT ? index : job->subject];
	atomic_fetch_add(&control->queueing, 1);
	subject->peer->take(subject->semaphore, &hold);
	const uint64_t now = now_ns();
	atomic_store(&control->stamps[atomic_fetch_add(&control->admitted, 1)], now);
	atomic_store(&control->latest, index);
	if (job->errand == PASS_ON)
		subject->peer->give(subject->semaphore, &hold);
	if (atomic_fetch_add(&control->done, 1) + 1 == job->to - job->from)
		futex_wake(&control->done, 1, BETWEEN_PROCESSES);
}

/* Returns the number of the next round after `seen` that this worker gets to see. */
static unsigned
next_job(struct pool_control *control, unsigned seen, struct job *job)
{
	unsigned round;
	do {
		while ((round = atomic_load(&control->round)) == seen || round % 2 != 0)
			futex_wait(&control->round, round, BETWEEN_PROCESSES);
		*job = control->job;
	} while (atomic_load(&control->round) != round);
	return round;
}

static _Noreturn void
work(const struct pool *pool, unsigned index)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned round = 0;;) {
		struct job job;
		round = next_job(pool->control, round, &job);
		if (index >= job.from && index < job.to)
			run_job(pool, index, &job);
	}
}

void
pool_create(struct pool *pool, unsigned size)
{
	pool->control = shared_memory(sizeof(*pool->control));
	pool->size = size < POOL_MAX ? size : POOL_MAX;
}

bool
pool_fork(struct pool *pool, unsigned index)
{
	const pid_t pid = fork();
	if (pid == 0)
		work(pool, index);
	pool->control->pids[index] = pid > 0 ? pid : 0;
	return pid > 0;
}

bool
pool_start(struct pool *pool, unsigned size)
{
	pool_create(pool, size);
	for (unsigned i = 0; i < pool->size; i++)
		if (!pool_fork(pool, i))
			return false;
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

void
pool_send(struct pool *pool, unsigned subject, unsigned from, unsigned to, enum errand errand)
{
	struct pool_control *control = pool->control;
	atomic_fetch_add(&control->round, 1);
	control->job = (struct job){.subject = subject, .from = from, .to = to, .errand = errand};
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
		while (!is_asleep(pool->control->pids[i]))
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
		if (pool->control->pids[i] != 0) /* 0 would be this process's group */
			kill(pool->control->pids[i], SIGKILL);
}

void
pool_end(struct pool *pool)
{
	pool_kill(pool, 0, pool->size);
	for (unsigned i = 0; i < pool->size; i++)
		if (pool->control->pids[i] != 0)
			waitpid(pool->control->pids[i], NULL, 0);
	munmap(pool->control, sizeof(*pool->control));
}

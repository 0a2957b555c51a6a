/* SPDX-License-Identifier: MIT */
/* The cost of semaphores at rest: the CPU time of sleeping waiters, and memory. */
#include <stdio.h>

#include "moment.h"
#include "pool.h"

static struct pool pool;

/* CPU time of all workers so far, in nanoseconds. */
static uint64_t
time_on_cpu(void)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < pool.size; i++) {
		char path[48];
		unsigned long long ns;
		snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)pool.control->pids[i]);
		FILE *file = fopen(path, "re");
		if (file == NULL || fscanf(file, "%llu", &ns) != 1)
			die(path);
		fclose(file);
		sum += ns;
	}
	return sum;
}

static double
percent_of_a_core(double seconds)
{
	const uint64_t began = now_ns();
	const uint64_t before = time_on_cpu();
	sleep_for(seconds);
	const uint64_t after = time_on_cpu();
	return 100.0 * (double)(after - before) / (double)(now_ns() - began);
}

/* A waiter that has waited for this long looks less often. */
enum { LONG_WAIT_SECONDS = 30, LONG_QUEUE = 2000 };

/*
 * How long to measure. In a long queue, most waiters of tsem look for dead owners every 3.5 s, or 35 s if there are
 * 10,000 of them, and as many looks as possible should fall into each measurement. Others sleep until they are woken.
 */
static double
window(const struct options *options, const struct peer *peer, unsigned waiters)
{
	if (options->seconds > 0)
		return options->seconds;
	if ((peer->traits & LOOKS) == 0)
		return 2;
	return waiters > LONG_QUEUE ? 0.007 * waiters : 14;
}

static void
idle_once(const struct options *options, const struct peer *peer, unsigned waiters)
{
	tsem_hold hold;
	void *semaphore = peer->create(1);
	pool.subjects[0] = (struct subject){.peer = peer, .semaphore = semaphore};
	peer->take(semaphore, &hold);
	if (!pool_start(&pool, waiters))
		die("fork");
	pool_queue(&pool, 0, 0, waiters, PASS_ON);
	if (waiters > LONG_QUEUE)
		sleep_for(LONG_WAIT_SECONDS);
	say(peer->name, waiters, "CPU", "% of a core", percent_of_a_core(window(options, peer, waiters)));
	pool_end(&pool);
	peer->destroy(semaphore);
}

/* Each waiter is alone on a semaphore of its own. */
static void
idle_alone(const struct options *options, const struct peer *peer, unsigned waiters)
{
	static tsem_hold holds[SUBJECTS_MAX];
	for (unsigned i = 0; i < waiters; i++) {
		pool.subjects[i] = (struct subject){.peer = peer, .semaphore = peer->create(1)};
		peer->take(pool.subjects[i].semaphore, &holds[i]);
	}
	if (!pool_start(&pool, waiters))
		die("fork");
	pool_queue(&pool, OWN_SUBJECT, 0, waiters, PASS_ON);
	sleep_for(LONG_WAIT_SECONDS);
	say(peer->name, waiters, "CPU, a semaphore for each", "% of a core",
	    percent_of_a_core(window(options, peer, waiters)));
	pool_end(&pool);
	for (unsigned i = 0; i < waiters; i++)
		peer->destroy(pool.subjects[i].semaphore);
}

void
run_idle(const struct options *options)
{
	for (const unsigned *waiters = options->participants; *waiters != 0; waiters++)
		for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
			for (const struct peer *const *peer = options->peers; *peer != NULL; peer++) {
				if (!fits(*peer, SPINS, *waiters, options))
					continue;
				idle_once(options, *peer, *waiters);
				const bool looks_for_owner = ((*peer)->traits & (LOOKS | RECOVERS)) == (LOOKS | RECOVERS);
				if (repetition == 0 && looks_for_owner && *waiters <= SUBJECTS_MAX)
					idle_alone(options, *peer, *waiters);
			}
}

/* Before the first use, and with waiters. */
static void
measure_memory(const struct peer *peer, unsigned waiters)
{
	tsem_hold hold;
	void *semaphore = peer->create(1);
	pool.subjects[0] = (struct subject){.peer = peer, .semaphore = semaphore};
	say(peer->name, 0, "at rest", "bytes", (double)peer->bytes(semaphore));
	peer->take(semaphore, &hold);
	if (!pool_start(&pool, waiters))
		die("fork");
	pool_queue(&pool, 0, 0, waiters, PASS_ON);
	say(peer->name, waiters, "with waiters", "bytes", (double)peer->bytes(semaphore));
	pool_end(&pool);
	peer->destroy(semaphore);
}

void
run_memory(const struct options *options)
{
	for (const struct peer *const *peer = options->peers; *peer != NULL; peer++) {
		if ((*peer)->bytes == NULL) {
			say_missing((*peer)->name, 0, "in the kernel, which does not tell");
		} else if (((*peer)->traits & (THREADS_ONLY | SPINS)) != 0) {
			void *semaphore = (*peer)->create(1);
			say((*peer)->name, 0, "at rest", "bytes", (double)(*peer)->bytes(semaphore));
			(*peer)->destroy(semaphore);
		} else {
			measure_memory(*peer, options->participants[0]);
		}
	}
}

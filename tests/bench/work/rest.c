/* SPDX-License-Identifier: MIT */
/* The cost of semaphores at rest: the CPU time of sleeping waiters, and memory. */
#include <stdio.h>
#include <time.h>

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
	const struct timespec while_asleep = {.tv_sec = (time_t)seconds,
	                                      .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
	const uint64_t began = now_ns();
	const uint64_t before = time_on_cpu();
	nanosleep(&while_asleep, NULL);
	const uint64_t after = time_on_cpu();
	return 100.0 * (double)(after - before) / (double)(now_ns() - began);
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
	say(peer->name, waiters, "CPU", "% of a core", percent_of_a_core(options->seconds));
	pool_end(&pool);
	peer->destroy(semaphore);
}

void
run_idle(const struct options *options)
{
	for (const unsigned *waiters = options->participants; *waiters != 0; waiters++)
		for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
			for (const struct peer *const *peer = options->peers; *peer != NULL; peer++)
				if (fits(*peer, SPINS, *waiters, options))
					idle_once(options, *peer, *waiters);
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

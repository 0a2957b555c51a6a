/* SPDX-License-Identifier: MIT */
/*
 * The time from the last SIGKILL to the next admission: after the death of the holder, with waiters; and of the holder
 * and all waiters but the last. With 0 waiters, from the arrival of a process that comes a moment after the death.
 */
#include <string.h>

#include "moment.h"
#include "pool.h"
#include "runs.h"

#define HOLDER_DIES "holder dies"
#define ALL_DIE "holder and all in front die"

static struct pool pool;

/* Prints how long the admission took. False: there was none. */
static bool
say_admission(const char *peer, unsigned waiters, const char *metric, uint64_t began)
{
	const bool done = pool_wait(&pool, 1, STUCK_SECONDS);
	if (!done)
		say_missing(peer, waiters, "no process was admitted within 10 s");
	say(peer, waiters, metric, "ms", done ? milliseconds_between(began, pool.control->stamps[0]) : STUCK_SECONDS * 1e3);
	return done;
}

/* A worker comes when the killed process has certainly ended: the first look of a newcomer finds that. */
static uint64_t
arrive(unsigned worker, enum errand errand)
{
	sleep_for(0.02);
	const uint64_t arrived = now_ns();
	pool_send(&pool, 0, worker, worker + 1, errand);
	return arrived;
}

/*
 * Deaths are about a second apart, so that a look after one of them is not taken for a look after the next. All waits
 * stay below half a minute.
 */
static void
sleep_between_deaths(unsigned waiters)
{
	if (waiters > 0)
		sleep_randomly(0.6, 1.4);
	else
		sleep_randomly(0.1, 0.3);
}

static void
start_pool(const struct peer *peer, unsigned size)
{
	pool.subjects[0] = (struct subject){.peer = peer, .semaphore = peer->create(1)};
	if (!pool_start(&pool, size))
		die("fork");
}

static void
start_with_holder(const struct peer *peer, unsigned size)
{
	start_pool(peer, size);
	pool_send(&pool, 0, 0, 1, KEEP);
	if (!pool_wait(&pool, 1, STUCK_SECONDS))
		die("a free permit is not granted");
}

static void
end_pool(void)
{
	pool_end(&pool);
	pool.subjects[0].peer->destroy(pool.subjects[0].semaphore);
}

/* The next worker comes after the death, if none waits, or keeps the queue as long as it was. */
static void
holders_die(const struct peer *peer, unsigned waiters, unsigned deaths)
{
	start_with_holder(peer, 1 + waiters + deaths);
	if (waiters > 0)
		pool_queue(&pool, 0, 1, 1 + waiters, KEEP);
	for (unsigned next = 1 + waiters; next <= waiters + deaths; next++) {
		sleep_between_deaths(waiters);
		const unsigned holder = atomic_load(&pool.control->latest);
		pool_kill(&pool, holder, holder + 1);
		const uint64_t began = waiters > 0 ? now_ns() : arrive(next, KEEP);
		if (!say_admission(peer->name, waiters, HOLDER_DIES, began))
			break;
		if (waiters > 0)
			pool_queue(&pool, 0, next, next + 1, KEEP);
	}
	end_pool();
}

/*
 * The queue has workers and `tsem run` by turns, beginning with a worker. The worker at the front measures, and passes
 * on to the `tsem run` behind it, which is the next holder. Only the first ones take turns; the waiters behind them are
 * workers.
 */
static void
lengthen(struct runs *runs, unsigned worker, unsigned waiters)
{
	const bool ends_with_worker = waiters % 2 != 0;
	if (ends_with_worker)
		runs_add(runs);
	if (waiters > 0)
		pool_queue(&pool, 0, worker, worker + 1, PASS_ON);
	if (!ends_with_worker)
		runs_add(runs);
}

static void
runs_die(const struct options *options, unsigned waiters)
{
	const unsigned deaths = options->repetitions;
	const unsigned pairs = waiters / 2 < deaths ? waiters / 2 : deaths;
	const unsigned others = waiters - 2 * pairs;
	struct runs runs;
	start_pool(&peer_tsem_owned, pairs + others + deaths);
	runs_begin(&runs, options->tsem, pool.subjects[0].semaphore);
	runs_add(&runs);
	for (unsigned i = 0; i < pairs; i++)
		lengthen(&runs, i, 2 * pairs);
	if (others > 0)
		pool_queue(&pool, 0, pairs, pairs + others, PASS_ON);
	for (unsigned next = pairs + others; next < pairs + others + deaths; next++) {
		sleep_between_deaths(waiters);
		runs_kill_first(&runs);
		const uint64_t began = waiters > 0 ? now_ns() : arrive(next, PASS_ON);
		if (!say_admission("tsem run", waiters, HOLDER_DIES, began))
			break;
		lengthen(&runs, next, waiters);
	}
	runs_end(&runs);
	end_pool();
}

static void
all_but_the_last_die(const struct peer *peer, unsigned waiters)
{
	start_with_holder(peer, 1 + waiters + 1);
	pool_queue(&pool, 0, 1, 1 + waiters, KEEP);
	pool_queue(&pool, 0, 1 + waiters, 1 + waiters + 1, KEEP);
	sleep_randomly(0.05, 0.85);
	pool_kill(&pool, 1, 1 + waiters);
	pool_kill(&pool, 0, 1); /* last, so that no waiter is admitted that has yet to die */
	say_admission(peer->name, waiters, ALL_DIE, now_ns());
	end_pool();
}

/* A queue takes many deaths of holders, but only one of all its processes. */
enum { DEATHS_FOR_EACH_QUEUE = 3 };

static void
measure(const struct options *options, unsigned waiters)
{
	for (const struct peer *const *peer = options->peers; *peer != NULL; peer++)
		if (((*peer)->traits & RECOVERS) != 0)
			holders_die(*peer, waiters, options->repetitions);
	if (options->only == NULL || strstr(options->only, "tsem run") != NULL)
		runs_die(options, waiters);
	for (unsigned i = 0; waiters > 0 && i < options->repetitions; i += DEATHS_FOR_EACH_QUEUE)
		for (const struct peer *const *peer = options->peers; *peer != NULL; peer++)
			if (((*peer)->traits & RECOVERS) != 0)
				all_but_the_last_die(*peer, waiters);
}

/* The list ends with 0, which is also a number of waiters. */
void
run_recovery(const struct options *options)
{
	measure(options, 0);
	for (const unsigned *waiters = options->participants; *waiters != 0; waiters++)
		measure(options, *waiters);
}

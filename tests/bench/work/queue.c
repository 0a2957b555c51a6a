/* SPDX-License-Identifier: MIT */
/* The cost of waiters: a hand-over to a sleeping waiter with others behind it, and a wake-up of n waiters at once. */
#include "pool.h"

static struct pool pool;

/* Creates the semaphores of the peers that fit, with no permit available. Returns their number. */
static unsigned
create_subjects(const struct options *options, unsigned refused, unsigned participants)
{
	unsigned n = 0;
	for (const struct peer *const *peer = options->peers; *peer != NULL; peer++)
		if (fits(*peer, refused, participants, options))
			pool.subjects[n++] = (struct subject){.peer = *peer, .semaphore = (*peer)->create(1)};
	return n;
}

static void
destroy_subjects(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		pool.subjects[i].peer->destroy(pool.subjects[i].semaphore);
}

static double
microseconds(uint64_t from, uint64_t to)
{
	return (double)(to - from) / 1e3;
}

/*
 * Each waiter gives as soon as it runs, until the queue is empty. The figure is the mean over the first half of the
 * queue: then the whole queue, down to half of it, waits behind the waiter that gets the permit.
 */
static void
drain_queue(unsigned subject, unsigned length)
{
	const struct subject *to = &pool.subjects[subject];
	tsem_hold hold;
	to->peer->take(to->semaphore, &hold);
	pool_queue(&pool, subject, 0, length, PASS_ON);
	const uint64_t began = now_ns();
	to->peer->give(to->semaphore, &hold);
	if (!pool_wait(&pool, length, 60))
		die("a queue does not move");
	const unsigned half = (length + 1) / 2;
	say(to->peer->name, length, "hand-over", "us", microseconds(began, pool.control->stamps[half - 1]) / half);
}

void
run_hand_over(const struct options *options)
{
	for (const unsigned *length = options->participants; *length != 0; length++) {
		const unsigned count = create_subjects(options, (*length > 100 ? HERD : 0) | SPINS, *length);
		if (!pool_start(&pool, *length))
			say_missing("all", *length, "the machine does not allow that number of processes");
		else
			for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
				for (unsigned i = 0; i < count; i++)
					drain_queue(i, *length);
		pool_end(&pool);
		destroy_subjects(count);
	}
}

/*
 * One call, or as few as the peer needs, for `count` sleeping waiters: the time until it returns, and until all have
 * run.
 */
static void
post_many(unsigned subject, unsigned count)
{
	const struct subject *to = &pool.subjects[subject];
	pool_queue(&pool, subject, 0, count, KEEP);
	const uint64_t began = now_ns();
	to->peer->give_many(to->semaphore, count);
	const uint64_t returned = now_ns();
	if (!pool_wait(&pool, count, 60))
		die("a post does not arrive");
	say(to->peer->name, count, "the call", "us", microseconds(began, returned));
	say(to->peer->name, count, "until all run", "us", microseconds(began, pool.control->stamps[count - 1]));
}

void
run_post(const struct options *options)
{
	tsem_hold hold;
	for (const unsigned *waiters = options->participants; *waiters != 0; waiters++) {
		const unsigned count = create_subjects(options, LOCK | HERD | SPINS, *waiters);
		for (unsigned i = 0; i < count; i++)
			pool.subjects[i].peer->take(pool.subjects[i].semaphore, &hold);
		if (!pool_start(&pool, *waiters))
			die("fork");
		for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
			for (unsigned i = 0; i < count; i++)
				if (pool.subjects[i].peer->give_many != NULL)
					post_many(i, *waiters);
		pool_end(&pool);
		destroy_subjects(count);
	}
}

/* SPDX-License-Identifier: MIT */
/* Two processes and two semaphores: each takes from one and gives to the other. On two CPUs, and on one. */
#include "slice.h"

struct table {
	const struct peer *peer;
	void *sides[2]; /* the ball is at the permit */
	unsigned cpus;
};

static void
play(struct slice *slice, unsigned index, void *arg)
{
	const struct table *table = arg;
	tsem_hold holds[2];
	pin_to(index % table->cpus);
	slice_hurry();
	slice_begin(slice);
	slice_watch_delay(slice, index);
	/* The process that sees the end first passes the ball once more, so that the other one does not wait for ever. */
	for (bool over = false; !over;) {
		table->peer->take(table->sides[index], &holds[index]);
		over = slice_is_over(slice);
		slice_count(slice, index, 1);
		table->peer->give(table->sides[1 - index], &holds[1 - index]);
	}
	slice_watch_delay(slice, index);
}

static double
measure_once(const struct options *options, struct slice *slice, const struct peer *peer, unsigned on_cpus,
             double *delayed)
{
	struct table table = {.peer = peer, .sides = {peer->create(1), peer->create(0)}, .cpus = on_cpus};
	const bool threads = options->threads || (peer->traits & THREADS_ONLY) != 0;
	const double took = slice_run(slice, threads, 2, options->seconds, play, &table);
	peer->destroy(table.sides[0]);
	peer->destroy(table.sides[1]);
	*delayed = slice_delayed(slice, 2, took);
	return (double)atomic_load(&slice->tallies[0].rounds) / took;
}

static void
measure(const struct options *options, unsigned on_cpus)
{
	struct slice *slice = slice_new();
	slice_rule(options);
	for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
		for (const struct peer *const *peer = options->peers; *peer != NULL; peer++) {
			if (((*peer)->traits & LOCK) != 0 || (((*peer)->traits & SPINS) != 0 && on_cpus < 2))
				continue;
			/* On one CPU each waits for the other anyway. */
			double rate = 0;
			double least = 1e9;
			for (int try = 0; try < TRIES && least > DISTURBED && (on_cpus > 1 || try == 0); try++) {
				double delayed;
				const double got = measure_once(options, slice, *peer, on_cpus, &delayed);
				rate = delayed < least ? got : rate;
				least = delayed < least ? delayed : least;
			}
			say((*peer)->name, 2, "rate", "rounds/s", rate);
		}
}

void
run_ping_pong(const struct options *options)
{
	measure(options, 2);
}

void
run_ping_pong_one_cpu(const struct options *options)
{
	measure(options, 1);
}

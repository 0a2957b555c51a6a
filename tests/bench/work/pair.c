/* SPDX-License-Identifier: MIT */
/* Take and give without contention, and by two processes that contend, each on its CPU. */
#include "slice.h"

struct subject {
	const struct peer *peer;
	void *semaphore;
	unsigned batch; /* rounds between two looks at the clock */
};

static void
do_pairs(struct slice *slice, unsigned index, void *arg)
{
	const struct subject *subject = arg;
	tsem_hold hold;
	pin_to(index);
	slice_hurry();
	slice_begin(slice);
	slice_watch_delay(slice, index);
	while (!slice_is_over(slice)) {
		subject->peer->pairs(subject->semaphore, &hold, subject->batch);
		slice_count(slice, index, subject->batch);
	}
	slice_watch_delay(slice, index);
}

struct outcome {
	double rate;
	double delayed;
};

static struct outcome
measure_once(const struct options *options, struct slice *slice, const struct peer *peer, unsigned participants,
             unsigned batch)
{
	struct subject subject = {.peer = peer, .semaphore = peer->create(1), .batch = batch};
	const bool threads = options->threads || (peer->traits & THREADS_ONLY) != 0;
	const double took = slice_run(slice, threads, participants, options->seconds, do_pairs, &subject);
	peer->destroy(subject.semaphore);
	return (struct outcome){.rate = (double)slice_rounds(slice, participants) / took,
	                        .delayed = slice_delayed(slice, participants, took)};
}

static void
measure(const struct options *options, unsigned participants, unsigned batch)
{
	struct slice *slice = slice_new();
	slice_rule(options);
	for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
		for (const struct peer *const *peer = options->peers; *peer != NULL; peer++) {
			if (((*peer)->traits & SPINS) != 0 && participants > cpus())
				continue;
			struct outcome best = {.delayed = 1e9};
			for (int try = 0; try < TRIES && best.delayed > DISTURBED; try++) {
				const struct outcome outcome = measure_once(options, slice, *peer, participants, batch);
				if (outcome.delayed < best.delayed)
					best = outcome;
			}
			say((*peer)->name, participants, "rate", "pairs/s", best.rate);
		}
}

void
run_pair(const struct options *options)
{
	measure(options, 1, 1000);
}

void
run_contend(const struct options *options)
{
	measure(options, 2, 16);
}

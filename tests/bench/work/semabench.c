/* SPDX-License-Identifier: MIT */
/*
 * The paper's semabench: the critical section is a step of a shared mt19937; outside it, each participant takes a
 * random number of steps below 250 of a private one (the bound is ours: the paper's may differ). A second workload
 * measures the time of every take, for the waits of each participant.
 */
#include "mt19937.h"
#include "slice.h"

enum { STEPS_OUTSIDE = 250 };

struct scene {
	const struct peer *peer;
	void *semaphore;
	struct mt19937 *shared;
	bool timed;
};

static void
work_outside(struct mt19937 *private)
{
	const uint32_t steps = (uint32_t)((uint64_t)mt19937_next(private) * STEPS_OUTSIDE >> 32);
	for (uint32_t i = 0; i < steps; i++)
		mt19937_next(private);
}

static void
take_timed(const struct scene *scene, tsem_hold *hold, struct tally *tally)
{
	const uint64_t began = now_ns();
	scene->peer->take(scene->semaphore, hold);
	const uint64_t waited = now_ns() - began;
	if (waited > atomic_load_explicit(&tally->longest_ns, memory_order_relaxed))
		atomic_store_explicit(&tally->longest_ns, waited, memory_order_relaxed);
}

static void
take_part(struct slice *slice, unsigned index, void *arg)
{
	const struct scene *scene = arg;
	tsem_hold hold;
	struct mt19937 private;
	mt19937_seed(&private, 5489 + index);
	slice_begin(slice);
	while (!slice_is_over(slice)) {
		if (scene->timed)
			take_timed(scene, &hold, &slice->tallies[index]);
		else
			scene->peer->take(scene->semaphore, &hold);
		mt19937_next(scene->shared);
		scene->peer->give(scene->semaphore, &hold);
		slice_count(slice, index, 1);
		work_outside(&private);
	}
}

/*
 * The rounds of the participants with the most and the fewest ones, relative to the mean, and the longest wait of all.
 */
static void
say_fairness(const struct slice *slice, const struct peer *peer, unsigned participants)
{
	uint64_t most = 0;
	uint64_t least = UINT64_MAX;
	uint64_t longest = 0;
	for (unsigned i = 0; i < participants; i++) {
		const uint64_t rounds = atomic_load(&slice->tallies[i].rounds);
		const uint64_t waited = atomic_load(&slice->tallies[i].longest_ns);
		most = rounds > most ? rounds : most;
		least = rounds < least ? rounds : least;
		longest = waited > longest ? waited : longest;
	}
	const double mean = (double)slice_rounds(slice, participants) / participants;
	say(peer->name, participants, "most", "of the mean", mean > 0 ? (double)most / mean : 0);
	say(peer->name, participants, "least", "of the mean", mean > 0 ? (double)least / mean : 0);
	say(peer->name, participants, "longest wait", "ms", (double)longest / 1e6);
}

static void
measure_one(const struct options *options, struct slice *slice, struct scene *scene, unsigned participants)
{
	scene->semaphore = scene->peer->create(1);
	scene->shared = fresh_line(sizeof(*scene->shared));
	mt19937_seed(scene->shared, 5489);
	const double took = slice_run(slice, options->threads, participants, options->seconds, take_part, scene);
	const double rate = (double)slice_rounds(slice, participants) / took;
	say(scene->peer->name, participants, "rate", "rounds/s", rate);
	if (scene->timed)
		say_fairness(slice, scene->peer, participants);
	fresh_line_free(scene->shared, sizeof(*scene->shared));
	scene->peer->destroy(scene->semaphore);
}

static void
measure(const struct options *options, bool timed)
{
	struct slice *slice = slice_new();
	for (const unsigned *participants = options->participants; *participants != 0; participants++)
		for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
			for (const struct peer *const *peer = options->peers; *peer != NULL; peer++) {
				struct scene scene = {.peer = *peer, .timed = timed};
				const bool threads_only = ((*peer)->traits & THREADS_ONLY) != 0 && !options->threads;
				const bool spins = ((*peer)->traits & SPINS) != 0 && *participants > cpus();
				if (!threads_only && !spins)
					measure_one(options, slice, &scene, *participants);
				else if (repetition == 0)
					fits(*peer, 0, *participants, options);
			}
}

void
run_semabench(const struct options *options)
{
	measure(options, false);
}

void
run_fairness(const struct options *options)
{
	measure(options, true);
}

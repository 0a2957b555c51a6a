/* SPDX-License-Identifier: MIT */
/*
 * A slice: some participants, processes or threads, do the same thing for a short time, and each says how often. Slices
 * of different peers alternate, so that whatever else the machine does hits all of them.
 */
#ifndef TSEM_BENCH_SLICE_H
#define TSEM_BENCH_SLICE_H

#include "workload.h"

struct tally {
	_Alignas(64) _Atomic uint64_t rounds; /* done while the slice lasted */
	_Atomic uint64_t delayed_ns;          /* wanted a CPU, and others had it */
	_Atomic uint64_t longest_ns;          /* of waiting, where the workload measures that */
};

enum { PARTICIPANTS_MAX = 1024 };

struct slice {
	atomic_uint ready;
	_Alignas(64) atomic_uint go;
	_Alignas(64) atomic_uint stop;
	struct tally tallies[PARTICIPANTS_MAX];
};

/* One participant; works from slice_begin() until slice_is_over(). */
typedef void participant_fn(struct slice *slice, unsigned index, void *arg);

/*
 * On a busy machine, and if it is allowed: from here on this process runs ahead of everything else, and a participant
 * that calls slice_hurry() directly behind it. Only for short slices with a CPU for each participant.
 */
void slice_rule(const struct options *options);
void slice_hurry(void);

void slice_begin(struct slice *slice);

static inline bool
slice_is_over(struct slice *slice)
{
	return atomic_load_explicit(&slice->stop, memory_order_relaxed) != 0;
}

/* Counts rounds that ended before the slice did. */
static inline void
slice_count(struct slice *slice, unsigned index, uint64_t rounds)
{
	struct tally *tally = &slice->tallies[index];
	if (!slice_is_over(slice))
		atomic_store_explicit(&tally->rounds, atomic_load_explicit(&tally->rounds, memory_order_relaxed) + rounds,
		                      memory_order_relaxed);
}

/* Runs it; returns how long it took. The tallies stay in `slice`, which comes from slice_new(). */
double slice_run(struct slice *slice, bool threads, unsigned participants, double seconds, participant_fn *body,
                 void *arg);
struct slice *slice_new(void);

/* The part of their time for which participants wanted a CPU and had none, as far as they asked for it with these. */
void slice_watch_delay(struct slice *slice, unsigned index);
double slice_delayed(const struct slice *slice, unsigned participants, double took);

/*
 * A pinned participant that something else keeps from its CPU contends with nobody. Such a slice is tried again, this
 * often at most, and of the tries the least disturbed one counts.
 */
enum { TRIES = 4 };
#define DISTURBED 0.2

uint64_t slice_rounds(const struct slice *slice, unsigned participants);

#endif

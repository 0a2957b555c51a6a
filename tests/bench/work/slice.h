/* SPDX-License-Identifier: MIT */
/*
 * A slice: participants, which are processes or threads, do the same thing for a short time, and each counts its
 * rounds. Slices of different peers alternate, so that other load on the machine affects all of them.
 */
#ifndef TSEM_BENCH_SLICE_H
#define TSEM_BENCH_SLICE_H

#include "workload.h"

struct tally {
	_Alignas(64) _Atomic uint64_t rounds; /* rounds during the slice */
	_Atomic uint64_t delayed_ns;          /* the time during which it wanted a CPU that others used */
	_Atomic uint64_t longest_ns;          /* of waiting, where the workload measures it */
};

enum { PARTICIPANTS_MAX = 1024 };

struct slice {
	atomic_uint ready;
	_Alignas(64) atomic_uint go;
	_Alignas(64) atomic_uint stop;
	struct tally tallies[PARTICIPANTS_MAX];
};

/* One participant; it works from slice_begin() until slice_is_over(). */
typedef void participant_fn(struct slice *slice, unsigned index, void *arg);

/*
 * On a busy machine, if permitted: from here on this process has priority over all others, and so has a participant
 * that calls slice_hurry(), after this process. Only for short slices with a CPU for each participant.
 */
void slice_rule(const struct options *options);
void slice_hurry(void);

void slice_begin(struct slice *slice);

static inline bool
slice_is_over(struct slice *slice)
{
	return atomic_load_explicit(&slice->stop, memory_order_relaxed) != 0;
}

/* Counts the rounds that ended before the slice did. */
static inline void
slice_count(struct slice *slice, unsigned index, uint64_t rounds)
{
	struct tally *tally = &slice->tallies[index];
	if (!slice_is_over(slice))
		atomic_store_explicit(&tally->rounds, atomic_load_explicit(&tally->rounds, memory_order_relaxed) + rounds,
		                      memory_order_relaxed);
}

/* Runs the slice; returns its duration. The tallies stay in `slice`, which comes from slice_new(). */
double slice_run(struct slice *slice, bool threads, unsigned participants, double seconds, participant_fn *body,
                 void *arg);
struct slice *slice_new(void);

/* The part of their time during which participants wanted a CPU and had none, for those that called these functions. */
void slice_watch_delay(struct slice *slice, unsigned index);
double slice_delayed(const struct slice *slice, unsigned participants, double took);

/*
 * A pinned participant that loses its CPU contends with no other. Such a slice is repeated, at most this often, and the
 * least disturbed one counts.
 */
enum { TRIES = 4 };
#define DISTURBED 0.2

uint64_t slice_rounds(const struct slice *slice, unsigned participants);

#endif

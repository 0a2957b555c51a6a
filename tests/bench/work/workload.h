/* SPDX-License-Identifier: MIT */
/* A workload measures peers in turns, and prints each figure as a line of JSON. */
#ifndef TSEM_BENCH_WORKLOAD_H
#define TSEM_BENCH_WORKLOAD_H

#include <stdbool.h>

#include "peer.h"
#include "support.h"

enum { PEERS_MAX = 16, NUMBERS_MAX = 16 };

struct options {
	const struct peer *peers[PEERS_MAX + 1]; /* ends with NULL */
	unsigned
		participants[NUMBERS_MAX + 1]; /* ends with 0; or lengths of the queue, or counts, as the workload defines */
	double seconds;                    /* one repetition of one peer */
	unsigned repetitions;
	bool threads;
	bool realtime;    /* pinned participants have priority over all other processes */
	const char *tsem; /* the command */
	const char *only; /* names of commands to run, separated by commas; NULL: all */
};

struct workload {
	const char *name;
	void (*run)(const struct options *options);
};

extern const struct workload all_workloads[];

void run_pair(const struct options *options);
void run_contend(const struct options *options);
void run_ping_pong(const struct options *options);
void run_ping_pong_one_cpu(const struct options *options);
void run_semabench(const struct options *options);
void run_fairness(const struct options *options);
void run_hand_over(const struct options *options);
void run_post(const struct options *options);
void run_idle(const struct options *options);
void run_memory(const struct options *options);
void run_recovery(const struct options *options);
void run_mixes(const struct options *options);
void run_wrapper(const struct options *options);
void run_drain(const struct options *options);

/* One figure of one repetition; `participants` is 0 if it has no meaning. */
void say(const char *peer, unsigned participants, const char *metric, const char *unit, double value);

/* The reason why a peer has no figures. */
void say_missing(const char *peer, unsigned participants, const char *why);

/* Whether the peer can take part: `refused` are the traits that it must not have. Prints a line if not. */
bool fits(const struct peer *peer, unsigned refused, unsigned participants, const struct options *options);

#endif

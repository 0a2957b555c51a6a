/* SPDX-License-Identifier: MIT */
/* When something happens: at random moments, and once something else has happened. */
#ifndef TSEM_BENCH_MOMENT_H
#define TSEM_BENCH_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/* The seconds after which a process counts as stuck. */
enum { STUCK_SECONDS = 10 };

void sleep_for(double seconds);

/* A millisecond: between two looks. */
void nap(void);

/*
 * Sleeps between `least` and `most` seconds. The waiters of tsem look at multiples of a tick, so a death after the same
 * time in each repetition could fall just before a look, or just after it. If the two differ by a multiple of the
 * tick, no part of it is hit more often. The sequence is the same in each run.
 */
void sleep_randomly(double least, double most);

/* Waits until the function returns true. Ends the program if that takes too long. */
void await(bool (*has_happened)(void *arg), void *arg, const char *what);

/* For await(): whether the atomic_bool is true. */
bool is_set(void *flag);

/* The milliseconds between two times of now_ns(). 0: the second one is earlier. */
double milliseconds_between(uint64_t began, uint64_t ended);

#endif

/* SPDX-License-Identifier: MIT */
/* How long waits took, from the histogram that a semaphore keeps. */
#ifndef TSEM_CLI_STATISTICS_H
#define TSEM_CLI_STATISTICS_H

#include "tsem.h"

struct wait_times {
	uint64_t waits;                      /* that had to sleep, and are over */
	double mean, p50, p95, p99, longest; /* seconds; a percentile is exact to the width of its bin */
};

struct wait_times wait_times_of(const struct tsem_stat *stat);

/* Seconds below which the waits of bin `bin` are. */
double bin_limit(unsigned bin);

#endif

/* SPDX-License-Identifier: MIT */
/* The durations of waits, from the histogram of a semaphore. */
#ifndef TSEM_CLI_STATISTICS_H
#define TSEM_CLI_STATISTICS_H

#include "tsem.h"

struct wait_times {
	uint64_t waits;                      /* that slept and have ended */
	double mean, p50, p95, p99, longest; /* seconds; the error of a percentile is less than the width of its bin */
};

struct wait_times wait_times_of(const struct tsem_stat *stat);

/* The upper limit of a bin, in seconds. */
double bin_limit(unsigned bin);

#endif

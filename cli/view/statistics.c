/* SPDX-License-Identifier: MIT */
#include "view/statistics.h"

#include <math.h>

double
bin_limit(unsigned bin)
{
	return ldexp(1e-6, (int)bin);
}

/* Assumes that the waits of a bin are spread evenly over it. */
static double
percentile(const struct tsem_stat *stat, uint64_t waits, double share)
{
	const double rank = ceil((double)waits * share);
	double before = 0;
	for (unsigned i = 0; i < TSEM_HISTOGRAM_BINS; i++) {
		const double in_bin = (double)stat->histogram[i];
		if (in_bin > 0 && before + in_bin >= rank) {
			const double low = i == 0 ? 0 : bin_limit(i - 1);
			return fmin(low + (bin_limit(i) - low) * (rank - before) / in_bin, (double)stat->wait_longest_ns / 1e9);
		}
		before += in_bin;
	}
	return 0;
}

struct wait_times
wait_times_of(const struct tsem_stat *stat)
{
	struct wait_times times = {.longest = (double)stat->wait_longest_ns / 1e9};
	for (unsigned i = 0; i < TSEM_HISTOGRAM_BINS; i++)
		times.waits += stat->histogram[i];
	if (times.waits == 0)
		return times;
	times.mean = (double)stat->wait_total_ns / 1e9 / (double)times.waits;
	times.p50 = percentile(stat, times.waits, 0.50);
	times.p95 = percentile(stat, times.waits, 0.95);
	times.p99 = percentile(stat, times.waits, 0.99);
	return times;
}

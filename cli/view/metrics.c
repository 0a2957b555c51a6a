/* SPDX-License-Identifier: MIT */
#include "view/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "view/statistics.h"

/*
 * The text is valid as OpenMetrics 1.0, and in the older format of Prometheus, which node_exporter and promtool read. For
 * counters these differ: only the older one repeats "_total" in the name of the family. So what only rises is a gauge.
 */
static const struct {
	const char *name, *unit, *help;
} families[GAUGES] = {
	[CAPACITY] = {"tsem_capacity_permits", "permits", "Permits that exist now."},
	[AVAILABLE] = {"tsem_available_permits", "permits", "Permits that a newcomer could have at once."},
	[HELD] = {"tsem_held_permits", "permits", "Permits taken or held, those of dead holders included."},
	[WAITING] = {"tsem_waiting_processes", "processes", "Waiters in the queue."},
	[OLDEST_WAIT] = {"tsem_oldest_wait_seconds", "seconds",
                     "Time for which the first waiter has waited; 0: none waits."},
	[REQUESTED] = {"tsem_requested_permits", "permits", "Permits asked for since the creation."},
	[GIVEN_UP] = {"tsem_given_up_waits", "waits", "Waits that ended without a permit since the creation."},
	[RECOVERED] = {"tsem_recovered_permits", "permits",
                   "Permits that came back from dead processes since the creation."},
	[CREATED] = {"tsem_created_timestamp_seconds", "seconds", "Time of the creation, since the Epoch."},
};

static void
print_head(const char *name, const char *type, const char *unit, const char *help)
{
	printf("# TYPE %s %s\n# UNIT %s %s\n# HELP %s %s\n", name, type, name, unit, name, help);
}

/* A name needs no escapes: it has letters, digits, '.', '_' and '-' only. */
static void
print_gauge(const struct metrics *metrics, enum gauge gauge)
{
	print_head(families[gauge].name, "gauge", families[gauge].unit, families[gauge].help);
	for (size_t i = 0; i < metrics->n; i++)
		printf("%s{name=\"%s\"} %.15g\n", families[gauge].name, metrics->samples[i].name,
		       metrics->samples[i].gauges[gauge]);
}

static const char histogram[] = "tsem_wait_seconds";

/* One bucket for two bins, from 64 us to 19 hours; below and above these, waits are of no interest for monitoring. */
static void
print_histogram(const struct sample *sample)
{
	enum { FIRST_BIN = 6, LAST_BIN = 36, STEP = 2 };
	double waits = 0; /* the contents of a file may be anything, and must not wrap around */
	for (unsigned bin = 0; bin < TSEM_HISTOGRAM_BINS; bin++) {
		waits += (double)sample->stat.histogram[bin];
		if (bin >= FIRST_BIN && bin <= LAST_BIN && bin % STEP == 0)
			printf("%s_bucket{name=\"%s\",le=\"%.15g\"} %.15g\n", histogram, sample->name, bin_limit(bin), waits);
	}
	printf("%s_bucket{name=\"%s\",le=\"+Inf\"} %.15g\n", histogram, sample->name, waits);
	printf("%s_count{name=\"%s\"} %.15g\n", histogram, sample->name, waits);
	printf("%s_sum{name=\"%s\"} %.15g\n", histogram, sample->name, (double)sample->stat.wait_total_ns / 1e9);
}

int
metrics_add(struct metrics *metrics, const char *name, const struct snapshot *snapshot)
{
	if (metrics->n == metrics->room) {
		const size_t room = metrics->room == 0 ? 64 : metrics->room * 2;
		struct sample *samples = realloc(metrics->samples, room * sizeof(*samples));
		if (samples == NULL)
			return -ENOMEM;
		metrics->samples = samples;
		metrics->room = room;
	}
	struct sample *sample = &metrics->samples[metrics->n++];
	const struct tsem_stat *stat = &snapshot->stat;
	*sample = (struct sample){
		.stat = *stat,
		.gauges = {[CAPACITY] = stat->capacity,
	               [AVAILABLE] = (double)stat->available,
	               [HELD] = (double)stat->held,
	               [WAITING] = stat->waiting,
	               [REQUESTED] = (double)stat->ticket,
	               [GIVEN_UP] = (double)stat->timeouts,
	               [RECOVERED] = (double)stat->recovered,
	               [CREATED] = (double)stat->created},
	};
	snprintf(sample->name, sizeof(sample->name), "%s", name);
	for (size_t i = 0; i < snapshot->n; i++) {
		if (snapshot->owners[i].position == 1)
			sample->gauges[OLDEST_WAIT] = (double)snapshot->owners[i].elapsed_ns / 1e9;
	}
	return 0;
}

void
metrics_print(const struct metrics *metrics)
{
	for (unsigned gauge = 0; gauge < GAUGES; gauge++)
		print_gauge(metrics, gauge);
	print_head(histogram, "histogram", "seconds", "Waits that had to sleep and are over.");
	for (size_t i = 0; i < metrics->n; i++)
		print_histogram(&metrics->samples[i]);
	printf("# EOF\n");
}

void
metrics_free(struct metrics *metrics)
{
	free(metrics->samples);
}

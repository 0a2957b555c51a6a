/* SPDX-License-Identifier: MIT */
/* Semaphores as OpenMetrics text, for monitoring. */
#ifndef TSEM_CLI_METRICS_H
#define TSEM_CLI_METRICS_H

#include <stddef.h>

#include "names.h"
#include "view/snapshot.h"

enum gauge { CAPACITY, AVAILABLE, HELD, WAITING, OLDEST_WAIT, REQUESTED, GIVEN_UP, RECOVERED, CREATED, GAUGES };

struct sample {
	char name[NAME_TEXT_MAX];
	struct tsem_stat stat;
	double gauges[GAUGES];
};

/* The memory is zeroed before the first call. */
struct metrics {
	struct sample *samples;
	size_t n, room;
};

/* 0, or -ENOMEM. */
int metrics_add(struct metrics *metrics, const char *name, const struct snapshot *snapshot);

void metrics_print(const struct metrics *metrics);
void metrics_free(struct metrics *metrics);

#endif

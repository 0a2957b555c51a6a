/* SPDX-License-Identifier: MIT */
/*
 * What has happened to a semaphore between two looks at it. Processes come and go without a system call, so nothing
 * tells of them but what each look finds: the owners, by their tickets, and the counters, which miss nothing.
 */
#ifndef TSEM_CLI_EVENTS_H
#define TSEM_CLI_EVENTS_H

#include <stdbool.h>

#include "view/seen.h"
#include "view/snapshot.h"

struct watched {
	const char *name;
	struct tsem_stat stat;
	uint64_t looked_ns;  /* when the last look was */
	struct seen *owners; /* by age */
	size_t n;
	/*
	 * Permits that were asked for, and of which no owner was ever seen. An owner may be invisible to one look, while
	 * its record changes, so only what two looks have found is reported.
	 */
	int64_t unseen, reported;
};

/* Prints what the first look at a semaphore finds. 0, or -ENOMEM; so the others. */
int events_begin(struct watched *watched, const struct snapshot *snapshot);

/* Prints what has happened since the last look. `is_last`: no other follows. */
int events_update(struct watched *watched, const struct snapshot *snapshot, bool is_last);

/* The semaphore has been removed. */
int events_end(struct watched *watched);

#endif

/* SPDX-License-Identifier: MIT */
/* How many jobs a build can have at most: what is claimed beyond that was lost by clients that were killed. */
#ifndef TSEM_CLI_JOBSERVER_FAMILY_H
#define TSEM_CLI_JOBSERVER_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one look at all descendants of this process saw. */
struct family {
	bool known;           /* false: /proc does not show them all, and nothing can be said */
	bool asleep;          /* every thread of them */
	size_t threads;       /* a process that nobody has waited for counts as one */
	uint64_t fingerprint; /* changes when any of them has run */
};

/* Orphans of the build become children of this process: so none of its descendants gets lost. */
void family_adopt_orphans(void);

/* Looks no further once there are `enough` threads. */
struct family family_look(size_t enough);

#endif

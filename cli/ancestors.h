/* SPDX-License-Identifier: MIT */
/* The permits that this process or an ancestor holds: it may wait for these forever, and `run --nested` uses them. */
#ifndef TSEM_CLI_ANCESTORS_H
#define TSEM_CLI_ANCESTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tsem.h"

/* All holds of one process on one semaphore. */
struct ancestor_hold {
	pid_t pid;      /* this process, or an ancestor */
	bool of_owner;  /* `pid` is neither of these, but the owner or an ancestor of that */
	uint64_t count; /* permits */
	size_t slots_n;
	uint32_t slots[TSEM_SLOTS_MAX];
};

/*
 * Finds the nearest process, from this one upwards, that holds at least `least` permits; `least` is at least 1. If
 * there is none, and `owner` is not 0, goes on with the process `owner`, for which this one acquires, and its
 * ancestors. False: there is none, or /proc does not show it, or it is in another PID namespace.
 */
bool ancestors_find(tsem *sem, pid_t owner, uint32_t least, struct ancestor_hold *hold);

#endif

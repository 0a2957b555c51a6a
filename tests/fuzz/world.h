/* SPDX-License-Identifier: MIT */
/*
 * A platform of tests: time passes only in sleeps, life and death are decided by the pid, and in every call the peer
 * scribbles. So the worst moments come again when an input is replayed, and no input takes long.
 */
#ifndef TSEM_FUZZ_WORLD_H
#define TSEM_FUZZ_WORLD_H

#include "scribble.h"

/* `scribbler` may be NULL. `real`: leaves the real platform in its place. */
void world_begin(struct scribbler *scribbler, bool real);
void world_end(void);

/* Every operation starts with a full allowance of sleeps; one that uses it up never ends. */
void world_new_operation(void);

/* A deadline so soon that nobody notices, by whichever clock is in use. */
struct timespec world_deadline(void);

#endif

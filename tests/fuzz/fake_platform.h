/* SPDX-License-Identifier: MIT */
/*
 * The platform of the fuzz target: time passes only in sleeps, the pid decides whether a process is alive, and the peer
 * writes in every call. So an input meets the same moments each time, and no input takes long.
 */
#ifndef TSEM_FUZZ_FAKE_PLATFORM_H
#define TSEM_FUZZ_FAKE_PLATFORM_H

#include "hostile_peer.h"

/* `hostile` may be NULL. `real`: keeps the real platform. */
void fake_platform_begin(struct hostile_peer *hostile, bool real);
void fake_platform_end(void);

/* Every operation may sleep this often; an operation that sleeps more often hangs. */
void fake_platform_new_operation(void);

/* A deadline in a moment, by the clock in use. */
struct timespec fake_platform_deadline(void);

#endif

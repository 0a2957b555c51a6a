/* SPDX-License-Identifier: MIT */
/* CLOCK_MONOTONIC in nanoseconds, for all three programs. */
#ifndef TSEM_CLI_MONOTONIC_H
#define TSEM_CLI_MONOTONIC_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

uint64_t monotonic_ns(void);

struct timespec to_timespec(uint64_t ns);

#endif

/* SPDX-License-Identifier: MIT */
/* Times are nanoseconds of CLOCK_MONOTONIC. */
#ifndef TSEM_LIB_CLOCK_H
#define TSEM_LIB_CLOCK_H

#include <stdint.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_FOREVER UINT64_MAX

static inline uint64_t
earlier_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif

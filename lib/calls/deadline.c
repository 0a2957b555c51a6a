/* SPDX-License-Identifier: MIT */
#include "system/clock.h"
#include "system/platform.h"
#include "tsem.h"

struct timespec
tsem_deadline(uint64_t ms)
{
	const uint64_t now = platform.now();
	const uint64_t latest = sizeof(time_t) > 4 ? INT64_MAX : INT32_MAX;
	const uint64_t ns = now % NS_PER_SECOND + ms % 1000 * NS_PER_MS;
	const uint64_t seconds = now / NS_PER_SECOND + ms / 1000 + ns / NS_PER_SECOND;
	return (struct timespec){
		.tv_sec = (time_t)earlier_of(seconds, latest),
		.tv_nsec = (long)(ns % NS_PER_SECOND),
	};
}

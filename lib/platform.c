/* SPDX-License-Identifier: MIT */
#include "platform.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "liveness.h"

/* A 32-bit system with a 64-bit time_t has to use the call that takes one. */
#if defined(SYS_futex_time64) && (!defined(SYS_futex) || (__LONG_MAX__ == 0x7fffffffL))
#define FUTEX_CALL SYS_futex_time64
#else
#define FUTEX_CALL SYS_futex
#endif

static uint64_t
monotonic_now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SECOND + (uint64_t)ts.tv_nsec;
}

/* Never FUTEX_PRIVATE_FLAG: the words are shared between processes. */
static int
futex_sleep(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	struct timespec ts;
	const struct timespec *timeout = NULL;
	if (until != NS_FOREVER) {
		ts.tv_sec = (time_t)(until / NS_PER_SECOND);
		ts.tv_nsec = (long)(until % NS_PER_SECOND);
		timeout = &ts;
	}
	long rc = syscall(FUTEX_CALL, (uint32_t *)word, FUTEX_WAIT_BITSET, expected, timeout, NULL, bits);
	return rc < 0 ? -errno : 0;
}

static void
futex_wake(_Atomic uint32_t *word, uint32_t bits)
{
	syscall(FUTEX_CALL, (uint32_t *)word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, bits);
}

struct platform platform = {
	.now = monotonic_now,
	.sleep = futex_sleep,
	.wake = futex_wake,
	.judge = liveness_judge,
};

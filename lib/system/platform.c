/* SPDX-License-Identifier: MIT */
#include "system/platform.h"

#include <asm/unistd.h> /* of Linux: musl may not know the number of futex_waitv() */
#include <errno.h>
#include <linux/futex.h>
#include <linux/time_types.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/liveness.h"
#include "tsem.h"

/* On most 32-bit systems SYS_futex takes 32-bit times, and struct __kernel_timespec has 64-bit ones. */
#if defined(SYS_futex_time64) && (!defined(SYS_futex) || (__LONG_MAX__ == 0x7fffffffL))
#define FUTEX_CALL SYS_futex_time64
#else
#define FUTEX_CALL SYS_futex
#endif

#define FIRST_WORD_SLEEP (5 * NS_PER_MS) /* a wake of any other word is noticed after this: see futex_sleep_any() */

static uint64_t
now_by(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SECOND + (uint64_t)ts.tv_nsec;
}

static uint64_t
monotonic_now(void)
{
	return now_by(CLOCK_MONOTONIC);
}

static uint64_t
coarse_now(void)
{
	return now_by(CLOCK_MONOTONIC_COARSE);
}

static uint64_t
real_now(void)
{
	return now_by(CLOCK_REALTIME);
}

#ifdef __GLIBC__
#define CHEAPEST_SECOND time /* in glibc a read of a word that the kernel keeps, where it does */
#else
static time_t
coarse_second(time_t *unused)
{
	(void)unused;
	return (time_t)(coarse_now() / NS_PER_SECOND);
}
#define CHEAPEST_SECOND coarse_second
#endif

/* No FUTEX_PRIVATE_FLAG: processes share the words. */
static int
futex_sleep(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	const struct __kernel_timespec ts = {(int64_t)(until / NS_PER_SECOND), (int64_t)(until % NS_PER_SECOND)};
	long rc = syscall(FUTEX_CALL, (uint32_t *)word, FUTEX_WAIT_BITSET, expected, until == NS_FOREVER ? NULL : &ts, NULL,
	                  bits);
	return rc < 0 ? -errno : 0;
}

/*
 * Where the kernel has no futex_waitv() (before Linux 5.16) or a filter refuses it, this sleeps on the first word for a
 * few milliseconds, and the caller then reads all words again. Unlike FUTEX_WAIT_BITSET with a timeout, futex_waitv() goes
 * on after a signal handler that was installed with SA_RESTART.
 */
static int
futex_sleep_any(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until)
{
#if defined(__NR_futex_waitv) && defined(FUTEX_32)
	struct futex_waitv waiters[TSEM_SEMAPHORES_MAX];
	const struct __kernel_timespec ts = {(int64_t)(until / NS_PER_SECOND), (int64_t)(until % NS_PER_SECOND)};
	for (size_t i = 0; i < n; i++)
		waiters[i] = (struct futex_waitv){
			.uaddr = (uintptr_t)words[i],
			.val = expected[i],
			.flags = FUTEX_32,
		};
	long rc = syscall(__NR_futex_waitv, waiters, n, 0, until == NS_FOREVER ? NULL : &ts, CLOCK_MONOTONIC);
	if (rc >= 0 || errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT)
		return rc < 0 ? -errno : 0;
#else
	(void)n;
#endif
	const uint64_t look = n == 1 ? NS_FOREVER : monotonic_now() + FIRST_WORD_SLEEP;
	return futex_sleep(words[0], expected[0], UINT32_MAX, earlier_of(look, until));
}

static int
futex_wake(_Atomic uint32_t *word, uint32_t bits, int n)
{
	return (int)syscall(FUTEX_CALL, (uint32_t *)word, FUTEX_WAKE_BITSET, n, NULL, NULL, bits);
}

static void
pause_in_loop(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ __volatile__("yield" ::: "memory");
#endif
}

/* With RELRO, the section makes the table read-only: see platform.h. */
__attribute__((section(".data.rel.ro"))) struct platform platform = {
	.now = monotonic_now,
	.coarse_now = coarse_now,
	.real_now = real_now,
	.second = CHEAPEST_SECOND,
	.sleep = futex_sleep,
	.sleep_any = futex_sleep_any,
	.wake = futex_wake,
	.pause = pause_in_loop,
	.judge = liveness_judge,
};

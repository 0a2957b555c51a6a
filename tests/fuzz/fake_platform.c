/* SPDX-License-Identifier: MIT */
#include "fake_platform.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "system/liveness.h"
#include "system/platform.h"
#include "target.h"

/*
 * A wait of fake_platform_deadline() sleeps no more often, because each sleep takes a millisecond. The peer writes in the first
 * calls of an operation only: otherwise an operation that checks every record would take too long.
 */
enum { SLEEPS_MAX = 100, WAIT_MS = 2, ACTS_MAX = 100, RECORDS_PER_ACT = 64 };

static struct platform real_platform;
static struct hostile_peer *peer;
static uint64_t clock_ns;
static unsigned sleeps;
static unsigned acts;

static void
let_peer_act(void)
{
	if (peer != NULL && acts++ < ACTS_MAX)
		peer_write_next(peer, RECORDS_PER_ACT);
}

static uint64_t
now(void)
{
	let_peer_act();
	return clock_ns;
}

static int
sleep_a_moment(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	(void)bits;
	let_peer_act();
	if (++sleeps > SLEEPS_MAX)
		broken("an operation goes on sleeping behind its deadline", (long)until);
	clock_ns += NS_PER_MS;
	if (LOAD_SEQ(word) != expected)
		return -EAGAIN;
	return clock_ns < until ? 0 : -ETIMEDOUT;
}

/* As on a system that cannot wait for several words: it reads them one after the other. */
static int
sleep_a_moment_any(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until)
{
	for (size_t i = 1; i < n; i++) {
		if (LOAD_SEQ(words[i]) != expected[i])
			return -EAGAIN;
	}
	return sleep_a_moment(words[0], expected[0], UINT32_MAX, until);
}

static int
wake(_Atomic uint32_t *word, uint32_t bits, int n)
{
	(void)word;
	(void)bits;
	(void)n;
	let_peer_act();
	return 0;
}

/* Ten are a backoff, and a whole spin is shorter than the wait. */
static void
pause_a_moment(void)
{
	clock_ns += 400;
}

static int
judge(const struct process_id *owner)
{
	let_peer_act();
	if (owner->pid == PID_DEAD)
		return LIVENESS_DEAD;
	return owner->pid == PID_ALIVE ? LIVENESS_ALIVE : LIVENESS_UNKNOWN;
}

void
fake_platform_begin(struct hostile_peer *hostile, bool real)
{
	const struct platform injected = {.now = now,
	                                  .coarse_now = platform.coarse_now,
	                                  .second = platform.second,
	                                  .sleep = sleep_a_moment,
	                                  .sleep_any = sleep_a_moment_any,
	                                  .wake = wake,
	                                  .pause = pause_a_moment,
	                                  .judge = judge};
	real_platform = platform;
	peer = hostile;
	clock_ns = 1000 * NS_PER_SECOND;
	if (!real)
		platform = injected;
}

void
fake_platform_end(void)
{
	platform = real_platform;
	peer = NULL;
}

void
fake_platform_new_operation(void)
{
	sleeps = 0;
	acts = 0;
}

struct timespec
fake_platform_deadline(void)
{
	const uint64_t at = platform.now() + WAIT_MS * NS_PER_MS;
	return (struct timespec){.tv_sec = (time_t)(at / NS_PER_SECOND), .tv_nsec = (long)(at % NS_PER_SECOND)};
}

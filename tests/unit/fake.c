/* SPDX-License-Identifier: MIT */
#include "fake.h"

#include <errno.h>
#include <string.h>

#include "system/liveness.h"

struct fake fake;
static struct platform real;

static void
let_act(void (**peer)(void))
{
	void (*action)(void) = *peer;
	*peer = NULL;
	if (action != NULL)
		action();
}

static void
let_act_at_each(void)
{
	if (fake.peer_at_each != NULL)
		fake.peer_at_each();
}

static void
count_call(void)
{
	fake.calls++;
	let_act_at_each();
	if (fake.at_call != 0 && fake.calls == fake.at_call)
		let_act(&fake.peer);
}

static uint64_t
fake_now(void)
{
	count_call();
	return fake.clock;
}

static int
fake_sleep_any(_Atomic uint32_t *const words[], const uint32_t expected[], size_t n, uint64_t until)
{
	fake.sleeps++;
	if (fake.sleeps <= sizeof(fake.slept_until) / sizeof(fake.slept_until[0]))
		fake.slept_until[fake.sleeps - 1] = until;
	fake.slept_on = words[0];
	count_call();
	if (fake.at_call == 0 && fake.sleeps >= fake.peer_from_sleep)
		let_act(&fake.peer);
	fake.slept_on = NULL;
	if (fake.at_sleep != 0 && fake.sleeps == fake.at_sleep)
		return fake.sleep_result;
	if (fake.sleeps > fake.sleeps_most)
		fake_is_stuck(fake.sleeps);
	fake.clock += fake.sleep_lasts;
	for (size_t i = 0; i < n; i++) {
		if (LOAD_SEQ(words[i]) != expected[i])
			return -EAGAIN;
	}
	if (fake.sleep_lasts != 0 && fake.clock < until)
		return 0;
	if (until == NS_FOREVER)
		fake_is_stuck(fake.sleeps);
	if (until > fake.clock)
		fake.clock = until;
	fake.timed_out++;
	return -ETIMEDOUT;
}

static int
fake_sleep(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	fake.slept_bits = bits;
	return fake_sleep_any(&word, &expected, 1, until);
}

static int
fake_wake(_Atomic uint32_t *word, uint32_t bits, int n)
{
	if (fake.wakes < sizeof(fake.woken) / sizeof(fake.woken[0])) {
		fake.woken[fake.wakes] = word;
		fake.woken_bits[fake.wakes] = bits;
		fake.woken_most[fake.wakes] = n;
	}
	fake.wakes++;
	const int woken = fake.slept_on == word && n > 0;
	if (woken)
		fake.slept_on = NULL;
	let_act_at_each();
	let_act(&fake.peer_at_wake);
	return woken;
}

static void
fake_pause(void)
{
	fake.pauses++;
	fake.clock += fake.pause_lasts;
	let_act(&fake.peer_at_pause);
}

static int
fake_judge(const struct process_id *owner)
{
	(void)owner;
	count_call();
	return LIVENESS_ALIVE;
}

static uint64_t
fake_real_now(void)
{
	return fake.clock + fake.real_ahead;
}

void
fake_begin(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.clock = 1000 * NS_PER_SECOND;
	fake.pause_lasts = 1;
	fake.sleeps_most = 10000;
	real = platform;
	platform = (struct platform){.now = fake_now,
	                             .sleep = fake_sleep,
	                             .sleep_any = fake_sleep_any,
	                             .wake = fake_wake,
	                             .pause = fake_pause,
	                             .judge = fake_judge,
	                             .coarse_now = real.coarse_now,
	                             .real_now = fake_real_now,
	                             .second = real.second};
}

void
fake_end(void)
{
	platform = real;
}

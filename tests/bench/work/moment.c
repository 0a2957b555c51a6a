/* SPDX-License-Identifier: MIT */
#include "moment.h"

#include <errno.h>
#include <time.h>

#include "mt19937.h"
#include "support.h"

void
sleep_for(double seconds)
{
	const time_t whole = (time_t)seconds;
	struct timespec left = {.tv_sec = whole, .tv_nsec = (long)((seconds - (double)whole) * 1e9)};
	while (nanosleep(&left, &left) != 0)
		;
}

void
nap(void)
{
	sleep_for(1e-3);
}

void
sleep_randomly(double least, double most)
{
	static struct mt19937 generator;
	static bool seeded;
	if (!seeded)
		mt19937_seed(&generator, 5489);
	seeded = true;
	sleep_for(least + (most - least) * mt19937_next(&generator) / UINT32_MAX);
}

void
await(bool (*has_happened)(void *arg), void *arg, const char *what)
{
	const uint64_t until = now_ns() + STUCK_SECONDS * UINT64_C(1000000000);
	while (!has_happened(arg)) {
		if (now_ns() > until) {
			errno = ETIMEDOUT;
			die(what);
		}
		nap();
	}
}

bool
is_set(void *flag)
{
	return atomic_load((atomic_bool *)flag);
}

double
milliseconds_between(uint64_t began, uint64_t ended)
{
	return ended > began ? (double)(ended - began) / 1e6 : 0;
}

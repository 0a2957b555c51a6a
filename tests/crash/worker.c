/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <sched.h>
#include <time.h>

unsigned
count_processors(unsigned most)
{
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 1;
	return (unsigned)CPU_COUNT(&allowed) < most ? (unsigned)CPU_COUNT(&allowed) : most;
}

void
stay_on_processor(unsigned worker)
{
	cpu_set_t allowed;
	cpu_set_t one;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	unsigned left = worker % (unsigned)CPU_COUNT(&allowed);
	CPU_ZERO(&one);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && left-- == 0)
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

double
seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

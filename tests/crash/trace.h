/* SPDX-License-Identifier: MIT */
/*
 * What an operation did when it was stepped once, and the cheapest way to the same place again: a chain of breakpoints,
 * each at an instruction that does not come by before it is to stop there. That makes a sweep over all k nearly linear in
 * the number of steps, not quadratic.
 */
#ifndef TSEM_TESTS_CRASH_TRACE_H
#define TSEM_TESTS_CRASH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracee.h"

enum { SLEEPS_MAX = 8 };

/* What there is to say of a step. The first and the last make it worth stopping at before others. */
enum note {
	NOTE_CHANGE = 1, /* step k changed the segment */
	NOTE_BESIDE = 2, /* or something else that others see: a hint, another segment, what is told to the driver */
	NOTE_LOOK = 4,   /* a system call comes next: it looks at the world, or changes it */
};

struct trace {
	size_t steps; /* instructions from the first mark to the second */
	size_t room;
	uint64_t *pc; /* after k steps */
	uint32_t
		*via; /* the step to be at before, on the way to step k; k itself where there is no way but to begin there */
	uint32_t *times; /* how often the instruction behind step k has come by, that time included */
	uint8_t *note;   /* of enum note */
	size_t sleeps[SLEEPS_MAX];
	size_t sleep_count;
};

void trace_add(struct trace *trace, uint64_t pc, unsigned note);
void trace_finish(struct trace *trace);
void trace_free(struct trace *trace);

static inline bool
trace_is_notable(const struct trace *trace, size_t k)
{
	return (trace->note[k] & (NOTE_CHANGE | NOTE_LOOK)) != 0;
}

/*
 * Whether the process leaves another world behind if it is killed after step k than after the step before. Its registers
 * and its own memory are gone with it: if nothing was stored to shared memory and no system call made, it does not.
 */
static inline bool
trace_is_new(const struct trace *trace, size_t k)
{
	return k == 0 || (trace->note[k] & (NOTE_CHANGE | NOTE_BESIDE)) != 0 || (trace->note[k - 1] & NOTE_LOOK) != 0;
}

/*
 * Brings a tracee from its first mark (already passed) to the state after `step` steps. Whenever it falls asleep on the
 * way, `grant` is called so that it goes on. True if it got there; false if it took another way and is at its second
 * mark or asleep.
 */
bool trace_follow(const struct trace *trace, struct tracee *tracee, size_t step, void (*grant)(void *), void *arg);

#endif

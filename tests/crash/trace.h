/* SPDX-License-Identifier: MIT */
/*
 * A trace has the steps of one run of an operation, and the cheapest way back to each of them: a chain of breakpoints,
 * each at an instruction that is not executed before the step where the process is to stop. So the time of a sweep over
 * all k is nearly linear in the number of steps, not quadratic.
 */
#ifndef TSEM_TESTS_CRASH_TRACE_H
#define TSEM_TESTS_CRASH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracee.h"

enum { SLEEPS_MAX = 8 };

/* What a trace notes about step k. The first and the last make the step worth stopping at before others. */
enum note {
	NOTE_CHANGE = 1, /* step k changed the segment */
	NOTE_BESIDE = 2, /* it changed something else that others see: a hint, another segment, what the executor reports */
	NOTE_SYSTEM_CALL = 4, /* step k + 1 is a system call: it reads or changes what other processes see */
};

struct trace {
	size_t steps; /* instructions from the first mark to the second */
	size_t room;
	uint64_t *pc;    /* after k steps */
	uint32_t *via;   /* the step to be at before step k; k itself at the beginning */
	uint32_t *times; /* how often the instruction at step k has been executed, including this time */
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
	return (trace->note[k] & (NOTE_CHANGE | NOTE_SYSTEM_CALL)) != 0;
}

/*
 * Whether a kill after step k leaves a different state than a kill after the step before. The registers and the memory
 * of the process end with it, so the state is the same if the step neither wrote to shared memory nor was a system
 * call.
 */
static inline bool
trace_is_new(const struct trace *trace, size_t k)
{
	return k == 0 || (trace->note[k] & (NOTE_CHANGE | NOTE_BESIDE)) != 0
	       || (trace->note[k - 1] & NOTE_SYSTEM_CALL) != 0;
}

/*
 * Brings a tracee from its first mark (already passed) to the state after `step` steps. Calls `grant` whenever the
 * tracee sleeps on the way. True if the tracee got there; false if it took another path, and is at its second mark or
 * asleep.
 */
bool trace_follow(const struct trace *trace, struct tracee *tracee, size_t step, void (*grant)(void *), void *arg);

#endif

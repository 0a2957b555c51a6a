/* SPDX-License-Identifier: MIT */
/*
 * What an operation did when it was stepped once, and the cheapest way to the same place again.
 *
 * The state after step k is reached by running to an instruction that was executed shortly before step k, by a
 * breakpoint, and by stepping the rest. That makes a sweep over all k linear in the number of steps, not quadratic.
 */
#ifndef TSEM_TESTS_CRASH_TRACE_H
#define TSEM_TESTS_CRASH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracee.h"

enum { SLEEPS_MAX = 8 };

/* What makes a step worth stopping at before others. */
enum note {
	NOTE_NOTHING,
	NOTE_CHANGE, /* step k changed the segment */
	NOTE_LOOK,   /* a system call comes next: it looks at the world */
};

struct trace {
	size_t steps; /* instructions from the first mark to the second */
	size_t room;
	uint64_t *pc;     /* after k steps */
	uint32_t *anchor; /* the step to run to on the way to step k */
	uint32_t *hits;   /* how often its instruction comes by until then */
	uint32_t *times;  /* how often the instruction behind step k has come by, that time included */
	uint8_t *note;    /* of enum note */
	size_t sleeps[SLEEPS_MAX];
	size_t sleep_count;
};

void trace_add(struct trace *trace, uint64_t pc, enum note note);
void trace_finish(struct trace *trace);
void trace_free(struct trace *trace);

/*
 * Brings a tracee from its first mark (already passed) to the state after `step` steps. Whenever it falls asleep on the
 * way, `grant` is called so that it goes on. True if it got there; false if it took another way and is at its second
 * mark or asleep.
 */
bool trace_follow(const struct trace *trace, struct tracee *tracee, size_t step, void (*grant)(void *), void *arg);

#endif

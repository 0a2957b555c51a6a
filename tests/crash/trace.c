/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

void
trace_add(struct trace *trace, uint64_t pc, unsigned note)
{
	if (trace->steps + 1 >= trace->room) {
		trace->room = trace->room == 0 ? 1024 : trace->room * 2;
		trace->pc = realloc(trace->pc, trace->room * sizeof(*trace->pc));
		trace->note = realloc(trace->note, trace->room * sizeof(*trace->note));
		if (trace->pc == NULL || trace->note == NULL)
			abort();
	}
	trace->pc[trace->steps] = pc;
	trace->note[trace->steps] = (uint8_t)note;
	trace->steps++;
}

/* The last step at which an instruction was executed, and how often it was. */
struct visit {
	uint64_t pc;
	uint32_t count;
	uint32_t last;
};

/* A hash table with open addressing. */
struct visits {
	size_t room;
	struct visit *entries;
};

static struct visit *
visit(struct visits *visits, uint64_t pc)
{
	size_t at = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 20) % visits->room;
	while (visits->entries[at].count != 0 && visits->entries[at].pc != pc)
		at = (at + 1) % visits->room;
	visits->entries[at].pc = pc;
	return &visits->entries[at];
}

static bool
sleeps_at(const struct trace *trace, size_t step)
{
	for (size_t i = 0; i < trace->sleep_count; i++) {
		if (trace->sleeps[i] == step)
			return true;
	}
	return false;
}

/* A single step costs a debug exception, which is expensive on virtual machines. A breakpoint costs none. */
enum { RUN_COST = 1, STEP_COST = 2 };

/*
 * Chooses the cheapest step from which step k can be reached. Step `before` is the last one that executed the
 * instruction of step k. A breakpoint that is set after it stops at step k and not earlier.
 */
static uint32_t
choose_way(const struct trace *trace, uint32_t *cost, size_t before, size_t k)
{
	size_t best = before + 1;
	for (size_t i = best; i < k && cost[best] != 0; i++)
		best = cost[i] < cost[best] ? i : best;
	/* The previous step executed the same instruction, as an instruction with a rep prefix does. */
	if (best == k)
		best = k - 1;
	cost[k] = cost[best] + (trace->pc[best] == trace->pc[k] ? STEP_COST : RUN_COST);
	return (uint32_t)best;
}

void
trace_finish(struct trace *trace)
{
	trace->steps--; /* the last instruction noted is the second mark itself */
	const size_t n = trace->steps + 1;
	struct visits visits = {.room = 2 * n + 1};
	visits.entries = calloc(visits.room, sizeof(*visits.entries));
	trace->via = calloc(n, sizeof(*trace->via));
	trace->times = calloc(n, sizeof(*trace->times));
	uint32_t *cost = calloc(n, sizeof(*cost));
	if (visits.entries == NULL || trace->times == NULL || trace->via == NULL || cost == NULL)
		abort();

	size_t start = 0;
	for (size_t k = 0; k < n; k++) {
		if (k == 0 || sleeps_at(trace, k - 1)) {
			memset(visits.entries, 0, visits.room * sizeof(*visits.entries));
			start = k;
		}
		struct visit *seen = visit(&visits, trace->pc[k]);
		trace->via[k] =
			k == start ? (uint32_t)k : choose_way(trace, cost, seen->count == 0 ? start - 1 : seen->last, k);
		trace->times[k] = ++seen->count;
		seen->last = (uint32_t)k;
	}
	free(visits.entries);
	free(cost);
}

void
trace_free(struct trace *trace)
{
	free(trace->pc);
	free(trace->via);
	free(trace->times);
	free(trace->note);
	*trace = (struct trace){0};
}

/* Follows the trace where the process does not sleep. */
static bool
follow_awake(const struct trace *trace, struct tracee *tracee, size_t to)
{
	const size_t via = trace->via[to];
	if (via == to)
		return true;
	if (!follow_awake(trace, tracee, via))
		return false;
	if (trace->pc[via] != trace->pc[to])
		return tracee_run_to(tracee, trace->pc[to]);
	tracee_step(tracee, false);
	return tracee->where == TRACEE_STOPPED;
}

enum { LOOKS_MAX = 200 };

bool
trace_follow(const struct trace *trace, struct tracee *tracee, size_t step, void (*grant)(void *), void *arg)
{
	for (size_t i = 0; i < trace->sleep_count && trace->sleeps[i] < step; i++) {
		if (!follow_awake(trace, tracee, trace->sleeps[i]))
			return false;
		tracee_step(tracee, true);
		if (tracee->where == TRACEE_ASLEEP)
			grant(arg);
		/*
		 * A process that the grant has woken is not asleep any more. Another process that holds what it waits for may
		 * delay it.
		 */
		for (int looks = 0; looks < LOOKS_MAX && tracee->where == TRACEE_ASLEEP; looks++)
			tracee_poll(tracee);
		if (tracee->where != TRACEE_STOPPED)
			return false;
	}
	return follow_awake(trace, tracee, step);
}

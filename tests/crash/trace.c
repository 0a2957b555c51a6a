/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

void
trace_add(struct trace *trace, uint64_t pc, enum note note)
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

/* How often each instruction has come by: a table of twice the size, open addressing. */
struct counts {
	size_t room;
	struct {
		uint64_t pc;
		uint32_t count;
	} * entries;
};

static uint32_t
count_one(struct counts *counts, uint64_t pc)
{
	size_t at = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 20) % counts->room;
	while (counts->entries[at].count != 0 && counts->entries[at].pc != pc)
		at = (at + 1) % counts->room;
	counts->entries[at].pc = pc;
	return ++counts->entries[at].count;
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

/* The cost of a way, in stops: one for every step, two for every time a breakpoint is met. */
void
trace_finish(struct trace *trace)
{
	trace->steps--; /* the last instruction noted is the second mark itself */
	const size_t n = trace->steps + 1;
	struct counts counts = {.room = 2 * n + 1};
	counts.entries = calloc(counts.room, sizeof(*counts.entries));
	trace->anchor = calloc(n, sizeof(*trace->anchor));
	trace->hits = calloc(n, sizeof(*trace->hits));
	trace->times = calloc(n, sizeof(*trace->times));
	if (counts.entries == NULL || trace->times == NULL || trace->anchor == NULL || trace->hits == NULL)
		abort();

	uint32_t cost = 0;
	for (size_t k = 0; k < n; k++) {
		const bool fresh = k == 0 || sleeps_at(trace, k - 1);
		if (fresh)
			memset(counts.entries, 0, counts.room * sizeof(*counts.entries));
		const uint32_t hits = count_one(&counts, trace->pc[k]);
		trace->times[k] = hits;
		if (fresh) {
			trace->anchor[k] = (uint32_t)k;
			cost = 0;
		} else if (2 * hits < cost + 1) {
			trace->anchor[k] = (uint32_t)k;
			trace->hits[k] = hits;
			cost = 2 * hits;
		} else {
			trace->anchor[k] = trace->anchor[k - 1];
			cost++;
		}
	}
	free(counts.entries);
}

void
trace_free(struct trace *trace)
{
	free(trace->pc);
	free(trace->anchor);
	free(trace->hits);
	free(trace->times);
	free(trace->note);
	*trace = (struct trace){0};
}

/* Without a sleep in between. */
static bool
follow_awake(const struct trace *trace, struct tracee *tracee, size_t from, size_t to)
{
	size_t at = from;
	const size_t anchor = trace->anchor[to];
	if (anchor > at && trace->hits[anchor] != 0) {
		if (!tracee_run_to(tracee, trace->pc[anchor], trace->hits[anchor]))
			return false;
		at = anchor;
	}
	for (; at < to; at++) {
		tracee_step(tracee);
		if (tracee->where != TRACEE_STOPPED)
			return false;
	}
	return true;
}

enum { LOOKS_MAX = 200 };

bool
trace_follow(const struct trace *trace, struct tracee *tracee, size_t step, void (*grant)(void *), void *arg)
{
	size_t at = 0;
	for (size_t i = 0; i < trace->sleep_count && trace->sleeps[i] < step; i++) {
		if (!follow_awake(trace, tracee, at, trace->sleeps[i]))
			return false;
		at = trace->sleeps[i] + 1;
		tracee_step(tracee);
		if (tracee->where == TRACEE_ASLEEP)
			grant(arg);
		/* Whom the grant has woken is not asleep any more; another one that holds what it waits for may be in the way. */
		for (int looks = 0; looks < LOOKS_MAX && tracee->where == TRACEE_ASLEEP; looks++)
			tracee_poll(tracee);
		if (tracee->where != TRACEE_STOPPED)
			return false;
	}
	return follow_awake(trace, tracee, at, step);
}

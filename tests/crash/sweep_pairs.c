/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "sweep.h"
#include "worker.h"

/* ---- the order in which the points of an operation are tried ---- */

struct point {
	enum fate fate;
	uint32_t k;
};

struct order {
	bool known;
	bool applicable;
	bool every; /* try a kill at every step, also where the step changed nothing */
	struct trace trace;
	struct point *points;
	size_t count;
};

static const enum fate fates[] = {KILL, RESUME, KILL_SECOND};

enum { FATES_TRIED = sizeof(fates) / sizeof(fates[0]), LEAD = 16 };

static bool
are_coprime(size_t a, size_t b)
{
	while (b != 0) {
		const size_t rest = a % b;
		a = b;
		b = rest;
	}
	return a == 1;
}

/*
 * A kill where the step before leaves the same state adds nothing. `every` is for children, because a child shares
 * memory with its parent.
 */
static void
add(struct order *order, bool *seen, enum fate fate, size_t k)
{
	bool *mark = &seen[k * FATES + fate];
	if (*mark || (fate == KILL && !order->every && !trace_is_new(&order->trace, k)))
		return;
	*mark = true;
	order->points[order->count++] = (struct point){.fate = fate, .k = (uint32_t)k};
}

/*
 * Kills are most useful just after a change of the segment. Stops are most useful just before a change or a system
 * call, because the process then goes on with what it has read before.
 */
static void
add_notable(struct order *order, bool *seen, size_t k)
{
	const bool changes = (order->trace.note[k] & NOTE_CHANGE) != 0 && k > 0;
	for (size_t f = 0; f < FATES_TRIED; f++)
		add(order, seen, fates[f], changes && fates[f] != KILL ? k - 1 : k);
}

/*
 * First the notable steps; then the steps that lead up to them, because a process may have read something there without
 * acting upon it yet; then all others. The stride spreads any number of them evenly.
 */
static void
put_in_order(struct order *order)
{
	const struct trace *trace = &order->trace;
	const size_t n = trace->steps + 1;
	size_t stride = n * 618 / 1000;
	bool *seen = calloc(n * FATES, sizeof(*seen));
	order->points = calloc(n * FATES_TRIED, sizeof(*order->points));
	if (seen == NULL || order->points == NULL)
		abort();
	while (stride > 1 && !are_coprime(stride, n))
		stride--;
	for (size_t i = 0, k = 0; i < n; i++, k = (k + stride) % n) {
		if (trace_is_notable(trace, k))
			add_notable(order, seen, k);
	}
	for (size_t back = 0; back < LEAD; back++) {
		for (size_t k = back; k < n; k++) {
			for (size_t f = 0; f < FATES_TRIED && trace_is_notable(trace, k); f++)
				add(order, seen, fates[f], k - back);
		}
	}
	for (size_t i = 0, k = 0; i < n; i++, k = (k + stride) % n) {
		for (size_t f = 0; f < FATES_TRIED; f++)
			add(order, seen, fates[f], k);
	}
	free(seen);
}

/* ---- a pair ---- */

/* These operations have tens of thousands of steps in one loop over the waiting array. */
static bool
is_too_long(const struct operation *operation)
{
	return (operation->flags & (REMOVES | LONG_LOOP)) != 0;
}

static struct order *
order_of(struct sweep *sweep, struct order orders[][SETTINGS], const struct operation *operation,
         const struct operation *other, const struct setting *setting)
{
	struct order *order = &orders[operation - operations][setting - settings];
	/* An operation that reads the records of all processes takes another path with each other operation. */
	if (other != NULL && (operation->flags & NEEDS_DEAD) != 0) {
		order = calloc(1, sizeof(*order));
		if (order == NULL)
			abort();
	}
	if (order->known)
		return order;
	order->known = true;
	const struct plan plan = {.first = operation,
	                          .second = other,
	                          .capacity = setting->capacity,
	                          .count = setting->count,
	                          .full = setting->full,
	                          .j = TO_THE_END};
	order->every = (operation->flags & IS_CHILD) != 0;
	order->applicable = sweep_learn(sweep, &plan, &order->trace);
	if (order->applicable)
		put_in_order(order);
	return order;
}

/* ---- rounds ---- */

/* Runs one point of a pair. False when enough faults have been found. */
static bool
run_pair(struct sweep *sweep, struct pair *pair, struct plan *plan, bool grid)
{
	struct result result;
	plan->first = pair->first;
	plan->second = pair->second;
	plan->capacity = pair->setting->capacity;
	plan->count = pair->setting->count;
	plan->full = pair->setting->full;
	plan->third = pair->setting->third;
	const bool go_on = sweep_run_plan(sweep, plan, &pair->first_order->trace, &pair->second_order->trace, &result);
	pair->not_applicable = result.verdict == VERDICT_NOT_APPLICABLE;
	if (!pair->not_applicable) {
		struct tally *tally = sweep->tally;
		atomic_fetch_add(&(grid ? tally->grid : tally->pairs)[pair->first - operations], 1);
	}
	return go_on;
}

/* Runs the next point of a pair. In every fourth round, the second operation stops in the middle as well. */
static bool
run_round(struct sweep *sweep, struct pair *pair, size_t round)
{
	const struct order *first = pair->first_order;
	const struct order *second = pair->second_order;
	const struct point *point = &first->points[round % first->count];
	struct plan plan = {.k = point->k, .j = TO_THE_END, .fate = point->fate};
	plan.early = (round & 1) != 0;
	/* Recovery takes another path with zombies than in the trace. */
	plan.zombie = (round & 2) != 0 && (pair->first->flags & NEEDS_DEAD) == 0;
	if (round < first->count && !run_pair(sweep, pair, &plan, false))
		return false;
	if (pair->not_applicable || is_too_long(pair->second) || (round < first->count && round % 4 != 3))
		return true;
	/* The points follow diagonals, so that in time each step of one operation meets all steps of the other. */
	plan.j = second->points[(round + round / first->count) % second->count].k;
	plan.second_leads = (round & 4) != 0;
	return run_pair(sweep, pair, &plan, true);
}

static bool
time_is_over(const struct sweep *sweep)
{
	return sweep->deadline != 0 && seconds_now() > sweep->deadline;
}

/* Pairs of one setting go to one worker, or to the same few workers, so that they share their traces. */
static bool
is_mine(const struct sweep *sweep, const struct pair *pair, size_t i)
{
	const size_t shares = (sweep->workers + SETTINGS - 1) / SETTINGS;
	return ((size_t)(pair->setting - settings) + i % shares * SETTINGS) % sweep->workers == sweep->worker;
}

void
sweep_pairs(struct sweep *sweep)
{
	static struct pair pairs[PAIRS_MAX];
	static struct order orders[OPERATIONS_MAX][SETTINGS];
	const size_t n = pairs_collect(sweep->only, pairs);
	for (size_t round = 0, left = n; left > 0; round++) {
		left = 0;
		for (size_t i = 0; i < n; i++) {
			struct pair *pair = &pairs[i];
			if (pair->not_applicable || !is_mine(sweep, pair, i))
				continue;
			if (pair->first_order == NULL) {
				pair->first_order = order_of(sweep, orders, pair->first, pair->second, pair->setting);
				pair->second_order = is_too_long(pair->second)
				                         ? pair->first_order
				                         : order_of(sweep, orders, pair->second, NULL, pair->setting);
				pair->not_applicable = !pair->first_order->applicable || !pair->second_order->applicable;
			}
			if (time_is_over(sweep))
				return;
			if (pair->not_applicable || round >= pair->first_order->count * pair->second_order->count)
				continue;
			left++;
			if (!run_round(sweep, pair, round))
				return;
		}
	}
}

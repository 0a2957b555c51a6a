/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "couples.h"
#include "sweep.h"
#include "worker.h"

/* ---- in which order the steps of an operation are worth trying ---- */

struct point {
	enum fate fate;
	uint32_t k;
};

struct order {
	bool known;
	bool makes_sense;
	bool every; /* step counts, also where nobody sees anything of it */
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

/* To be killed where the step before leaves the same world behind adds nothing; a child leaves memory to its parent. */
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
 * Killed, it is most telling right behind a change of the segment; stopped, to go on when the world has changed, right
 * before one, or before a system call.
 */
static void
add_notable(struct order *order, bool *seen, size_t k)
{
	const bool changes = (order->trace.note[k] & NOTE_CHANGE) != 0 && k > 0;
	for (size_t f = 0; f < FATES_TRIED; f++)
		add(order, seen, fates[f], changes && fates[f] != KILL ? k - 1 : k);
}

/*
 * First what is notable; then the steps leading up to it, where something has been read and not been acted upon yet;
 * then all others. Jumping about, so that any number of them is spread evenly.
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

/* ---- a couple ---- */

/* Tens of thousands of steps in one loop over the waiting array, for the grid. */
static bool
is_too_long(const struct operation *operation)
{
	return (operation->flags & (REMOVES | LONG_LOOP)) != 0;
}

static struct order *
order_of(struct sweep *sweep, struct order orders[][SETTINGS], const struct operation *operation,
         const struct operation *company, const struct setting *setting)
{
	struct order *order = &orders[operation - operations][setting - settings];
	/* Who looks at everybody takes another way with each other company. */
	if (company != NULL && (operation->flags & NEEDS_DEAD) != 0) {
		order = calloc(1, sizeof(*order));
		if (order == NULL)
			abort();
	}
	if (order->known)
		return order;
	order->known = true;
	const struct plan plan = {.first = operation,
	                          .second = company,
	                          .capacity = setting->capacity,
	                          .count = setting->count,
	                          .full = setting->full,
	                          .j = TO_THE_END};
	order->every = (operation->flags & IS_CHILD) != 0;
	order->makes_sense = sweep_learn(sweep, &plan, &order->trace);
	if (order->makes_sense)
		put_in_order(order);
	return order;
}

/* ---- round after round ---- */

/* One point of a couple. False when enough faults have been found. */
static bool
play_couple(struct sweep *sweep, struct couple *couple, struct plan *plan, bool grid)
{
	struct played played;
	plan->first = couple->first;
	plan->second = couple->second;
	plan->capacity = couple->setting->capacity;
	plan->count = couple->setting->count;
	plan->full = couple->setting->full;
	plan->line = couple->setting->line;
	const bool go_on = sweep_play(sweep, plan, &couple->first_order->trace, &couple->second_order->trace, &played);
	couple->senseless = played.verdict == PLAY_NOT_APPLICABLE;
	if (!couple->senseless) {
		struct tally *tally = sweep->tally;
		atomic_fetch_add(&(grid ? tally->grid : tally->pairs)[couple->first - operations], 1);
	}
	return go_on;
}

/* Round `round` of a couple: its next point; every fourth time the second operation goes only part of the way. */
static bool
play_round(struct sweep *sweep, struct couple *couple, size_t round)
{
	const struct order *first = couple->first_order;
	const struct order *second = couple->second_order;
	const struct point *point = &first->points[round % first->count];
	struct plan plan = {.k = point->k, .j = TO_THE_END, .fate = point->fate};
	plan.early = (round & 1) != 0;
	/* Whoever judges the dead takes another way with zombies than the one that was learned. */
	plan.zombie = (round & 2) != 0 && (couple->first->flags & NEEDS_DEAD) == 0;
	if (round < first->count && !play_couple(sweep, couple, &plan, false))
		return false;
	if (couple->senseless || is_too_long(couple->second) || (round < first->count && round % 4 != 3))
		return true;
	/* Along diagonals, so that each step of either meets all of the other's in time. */
	plan.j = second->points[(round + round / first->count) % second->count].k;
	plan.second_leads = (round & 4) != 0;
	return play_couple(sweep, couple, &plan, true);
}

static bool
time_is_over(const struct sweep *sweep)
{
	return sweep->deadline != 0 && seconds_now() > sweep->deadline;
}

/* Couples in one setting go to one worker, or to the same few, who so have less to learn. */
static bool
is_mine(const struct sweep *sweep, const struct couple *couple, size_t i)
{
	const size_t shares = (sweep->workers + SETTINGS - 1) / SETTINGS;
	return ((size_t)(couple->setting - settings) + i % shares * SETTINGS) % sweep->workers == sweep->worker;
}

void
sweep_pairs(struct sweep *sweep)
{
	static struct couple couples[COUPLES_MAX];
	static struct order orders[OPERATIONS_MAX][SETTINGS];
	const size_t n = couples_collect(sweep->only, couples);
	for (size_t round = 0, left = n; left > 0; round++) {
		left = 0;
		for (size_t i = 0; i < n; i++) {
			struct couple *couple = &couples[i];
			if (couple->senseless || !is_mine(sweep, couple, i))
				continue;
			if (couple->first_order == NULL) {
				couple->first_order = order_of(sweep, orders, couple->first, couple->second, couple->setting);
				couple->second_order = is_too_long(couple->second)
				                           ? couple->first_order
				                           : order_of(sweep, orders, couple->second, NULL, couple->setting);
				couple->senseless = !couple->first_order->makes_sense || !couple->second_order->makes_sense;
			}
			if (time_is_over(sweep))
				return;
			if (couple->senseless || round >= couple->first_order->count * couple->second_order->count)
				continue;
			left++;
			if (!play_round(sweep, couple, round))
				return;
		}
	}
}

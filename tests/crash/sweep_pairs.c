/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

/* ---- in which order the steps of an operation are worth trying ---- */

struct order {
	bool known;
	bool makes_sense;
	struct trace trace;
	uint32_t *steps;
	size_t count;
};

static void
add(struct order *order, bool *seen, size_t step)
{
	if (seen[step])
		return;
	seen[step] = true;
	order->steps[order->count++] = (uint32_t)step;
}

/*
 * First right before and right behind every change of the segment, then the steps leading up to it, where something has
 * been read and not been acted upon yet; then all others, jumping about, so that any number of them is spread evenly.
 */
static void
put_in_order(struct order *order)
{
	enum { LEAD = 16 };
	const struct trace *trace = &order->trace;
	const size_t n = trace->steps + 1;
	bool *seen = calloc(n, sizeof(*seen));
	order->steps = calloc(n, sizeof(*order->steps));
	if (seen == NULL || order->steps == NULL)
		abort();
	for (size_t back = 0; back < LEAD; back++) {
		for (size_t k = 0; k < n; k++) {
			if (trace->changed[k] && k >= back)
				add(order, seen, k - back);
		}
	}
	const size_t stride = n * 618 / 1000 + 1;
	for (size_t i = 0, k = 0; i < n; i++) {
		k = (k + stride) % n;
		while (seen[k])
			k = order->count < n ? (k + 1) % n : k;
		add(order, seen, k);
		if (order->count == n)
			break;
	}
	free(seen);
}

/* ---- who with whom ---- */

static const struct setting {
	uint32_t capacity;
	uint32_t count;
	bool full;
	bool line;
} settings[] = {
	{1, 1, false, false}, {2, 1, false, false}, {1, 1, true, true}, {3, 2, false, false}, {1, 1, true, false}};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static const char *const firsts[] = {"take",         "post",    "acquire",   "acquire-late", "acquire-cancel",
                                     "release",      "recover", "hand-over", "release-for",  "adopt",
                                     "adopt-orphan", "reap",    "cycle",     "remove",       "take-late"};
static const char *const seconds[] = {"take",         "post",         "acquire",      "acquire-late",
                                      "release",      "release-for",  "release-same", "recover-acquire",
                                      "recover-late", "adopt-orphan", "recover",      "reap",
                                      "try",          "remove"};

enum { FIRSTS = sizeof(firsts) / sizeof(firsts[0]), SECONDS = sizeof(seconds) / sizeof(seconds[0]) };

struct couple {
	const struct operation *first;
	const struct operation *second;
	const struct setting *setting;
	struct order *first_order;
	struct order *second_order;
	bool senseless;
};

static bool
is_worth_trying(const struct operation *operation, const struct setting *setting)
{
	if (setting->full)
		return (operation->flags & (IS_CHILD | IS_PARENT | NEEDS_OTHER | REMOVES)) == 0;
	return (operation->flags & NEEDS_FULL) == 0;
}

static struct order *
order_of(struct sweep *sweep, struct order orders[][SETTINGS], const struct operation *operation,
         const struct setting *setting)
{
	struct order *order = &orders[operation - operations][setting - settings];
	if (order->known)
		return order;
	order->known = true;
	const struct plan plan = {.first = operation,
	                          .capacity = setting->capacity,
	                          .count = setting->count,
	                          .full = setting->full,
	                          .j = TO_THE_END};
	order->makes_sense = sweep_learn(sweep, &plan, &order->trace);
	if (order->makes_sense)
		put_in_order(order);
	return order;
}

static size_t
collect(struct couple *couples)
{
	size_t n = 0;
	for (size_t s = 0; s < SETTINGS; s++) {
		for (size_t f = 0; f < FIRSTS; f++) {
			for (size_t g = 0; g < SECONDS; g++) {
				const struct operation *first = operation_by_name(firsts[f]);
				const struct operation *second = operation_by_name(seconds[g]);
				if (!is_worth_trying(first, &settings[s]) || !is_worth_trying(second, &settings[s]))
					continue;
				couples[n++] = (struct couple){.first = first, .second = second, .setting = &settings[s]};
			}
		}
	}
	return n;
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

/* Round `round` of a couple: the next step of the first operation in its order, with each fate; every second time the
 * second operation goes only part of the way. */
static bool
play_round(struct sweep *sweep, struct couple *couple, size_t round)
{
	static const enum fate fates[] = {KILL, RESUME, KILL_SECOND};
	const struct order *first = couple->first_order;
	const struct order *second = couple->second_order;
	bool go_on = true;
	for (size_t f = 0; f < 3 && go_on && !couple->senseless; f++) {
		struct plan plan = {.k = first->steps[round % first->count], .j = TO_THE_END, .fate = fates[f]};
		plan.early = (round & 1) != 0;
		plan.zombie = (round & 2) != 0;
		/* A second one that is through and has a hold: killed, that is for the first one to find out. */
		go_on = round >= first->count || play_couple(sweep, couple, &plan, false);
		if (!go_on || couple->senseless)
			break;
		/* Along diagonals, so that each step of either meets all of the other's in time. */
		plan.j = second->steps[(round + round / first->count + f) % second->count];
		plan.second_leads = (round & 4) != 0;
		go_on = play_couple(sweep, couple, &plan, true);
	}
	return go_on;
}

static bool
time_is_over(const struct sweep *sweep)
{
	return sweep->deadline != 0 && seconds_now() > sweep->deadline;
}

void
sweep_pairs(struct sweep *sweep)
{
	static struct couple couples[SETTINGS * FIRSTS * SECONDS];
	static struct order orders[OPERATIONS_MAX][SETTINGS];
	const size_t n = collect(couples);
	for (size_t round = 0, left = n; left > 0; round++) {
		left = 0;
		for (size_t i = sweep->worker; i < n; i += sweep->workers) {
			struct couple *couple = &couples[i];
			if (couple->senseless)
				continue;
			if (couple->first_order == NULL) {
				couple->first_order = order_of(sweep, orders, couple->first, couple->setting);
				couple->second_order = order_of(sweep, orders, couple->second, couple->setting);
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

/* SPDX-License-Identifier: MIT */
#include "local_line.h"

#include "cycle.h"
#include "names.h"
#include "self_wait.h"

static struct local_line *
local_of(struct waiting_line *line)
{
	return (struct local_line *)line; /* its first member */
}

/* The library waits for one semaphore after the other, in an order of its own. */
static size_t
find_ours(const struct local_line *local)
{
	for (size_t i = 0; local->line.n > 1 && i < local->line.n; i++) {
		if (find_place(local->sems[i]) > 0)
			return i;
	}
	return local->line.at;
}

static void
look_at(const struct local_line *local, struct sight *sight)
{
	tsem *sem = local->sems[local->line.at];
	sight->stat = (struct tsem_stat){.size = sizeof(sight->stat)};
	const int rc = local->line.idle ? reason_of_use(sem, &sight->stat, &sight->reason)
	                                : reason_of(sem, local->line.o->count, &sight->stat, &sight->reason);
	sight->known = rc == 0;
}

static void
look(struct waiting_line *line, struct sight *sight)
{
	const struct local_line *local = local_of(line);
	line->at = find_ours(local);
	look_at(local, sight);
	if (!line->idle && sight->place == 0) /* the library does not tell it to a waiter that is hardly ever told */
		sight->place = find_place(local->sems[line->at]);
}

static bool
is_lacking(const struct local_line *local, size_t i)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	return tsem_stat(local->sems[i], &stat) == 0 && stat.available < local->line.o->count;
}

/* The process has left the queues by now. If it has not told yet which one it waited in, only the lack tells that. */
static size_t
find_lacking(const struct local_line *local)
{
	if (local->line.n == 1 || (local->looked_for_cycle && is_lacking(local, local->line.at)))
		return local->line.at;
	for (size_t i = 0; i < local->line.n; i++) {
		if (is_lacking(local, i))
			return i;
	}
	return local->line.at;
}

static void
look_back(struct waiting_line *line, bool lacked, struct sight *sight)
{
	if (lacked)
		line->at = find_lacking(local_of(line));
	look_at(local_of(line), sight);
}

static const struct waiting_source source = {.every_ms = 250, .look = look, .look_back = look_back};

void
local_line_begin(struct local_line *local, tsem *const sems[], size_t n, const struct options *o, bool idle)
{
	*local = (struct local_line){.sems = sems};
	if (idle && !o->quiet)
		self_wait_report_idle(sems[0], o);
	/* No process waits for a background job, so its own wait cannot keep a holder from its end. */
	const bool unneeded = o->quiet || idle || o->background;
	local->looked = unneeded || self_wait_report(sems, n, o, false);
	local->looked_for_cycle = unneeded || o->any;
	waiting_line_begin(&local->line, &source, n, o, idle);
}

/* What waits for itself, or in a cycle, is told once. */
static void
look_for_deadlock(struct local_line *local)
{
	struct waiting_line *line = &local->line;
	if (!local->looked) /* the permits seemed to be available when the wait began */
		self_wait_report(local->sems, line->n, line->o, true);
	local->looked = true;
	if (!local->looked_for_cycle) {
		char name[NAME_TEXT_MAX];
		line->at = find_ours(local);
		name_at(line->o->name, line->at, name, sizeof(name));
		cycle_report(local->sems[line->at], name, line->o);
	}
	local->looked_for_cycle = true;
}

void
local_line_renew(struct local_line *local, uint32_t position)
{
	look_for_deadlock(local);
	waiting_line_renew(&local->line, position);
}

void
local_line_explain(const struct options *o, tsem *const sems[], size_t n, bool idle, int error)
{
	struct local_line local = {.line = {.source = &source, .n = n, .o = o, .idle = idle}, .sems = sems};
	waiting_line_explain(&local.line, error);
}

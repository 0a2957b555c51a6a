/* SPDX-License-Identifier: MIT */
#include "top/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monotonic.h"
#include "top/chart.h"
#include "view/describe.h"
#include "view/snapshot.h"
#include "view/statistics.h"

#define COUNTER_MASK ((UINT64_C(1) << 48) - 1)

/* ---- reading ---- */

/* The names come in the order of strverscmp(), so a single pass over the old lines finds the history of each. */
struct sampling {
	const struct top_model *old;
	size_t passed;
	struct top_model *new;
	size_t room;
};

static struct top_line *
add_line(struct sampling *sampling)
{
	struct top_model *new = sampling->new;
	if (new->n == sampling->room) {
		const size_t room = sampling->room == 0 ? 16 : sampling->room * 2;
		struct top_line *lines = realloc(new->lines, room * sizeof(*lines));
		if (lines == NULL)
			return NULL;
		new->lines = lines;
		sampling->room = room;
	}
	return &new->lines[new->n++];
}

/* NULL if there was no such line, or if its name now belongs to another semaphore. */
static const struct top_line *
find_old(struct sampling *sampling, const char *name, const struct tsem_stat *stat)
{
	const struct top_model *old = sampling->old;
	while (sampling->passed < old->n && strverscmp(old->lines[sampling->passed].name, name) < 0)
		sampling->passed++;
	if (sampling->passed == old->n)
		return NULL;
	const struct top_line *line = &old->lines[sampling->passed];
	const bool same = strcmp(line->name, name) == 0 && memcmp(line->stat.uuid, stat->uuid, sizeof(stat->uuid)) == 0;
	return same ? line : NULL;
}

static uint64_t
slept(const struct tsem_stat *stat)
{
	return wait_times_of(stat).waits;
}

static void
compare(struct top_line *line, const struct top_line *old, double seconds)
{
	line->history = old->history;
	if (seconds > 0)
		line->rate = (double)((line->stat.ticket - old->stat.ticket) & COUNTER_MASK) / seconds;
	const uint64_t waits = slept(&line->stat) - slept(&old->stat);
	if (waits > 0)
		line->wait = (double)(line->stat.wait_total_ns - old->stat.wait_total_ns) / 1e9 / (double)waits;
}

static int
read_stat(const char *name, struct tsem_stat *stat, struct reason *reason)
{
	tsem *sem;
	int rc = open_for_viewing(name, &sem);
	if (rc < 0)
		return rc;
	rc = reason_of(sem, 1, stat, reason);
	tsem_close(sem);
	return rc;
}

static int
sample_one(const char *name, void *arg)
{
	struct sampling *sampling = arg;
	struct tsem_stat stat = {.size = sizeof(stat)};
	struct reason reason;
	int rc = read_stat(name, &stat, &reason);
	if (rc < 0) {
		sampling->new->unreadable += rc != -ENOENT &&rc != -EIDRM; /* removed meanwhile */
		return 0;
	}
	struct top_line *line = add_line(sampling);
	if (line == NULL)
		return -ENOMEM;
	*line = (struct top_line){.stat = stat, .reason = reason, .wait = -1};
	snprintf(line->name, sizeof(line->name), "%s", name);
	const struct top_line *old = find_old(sampling, name, &stat);
	if (old != NULL)
		compare(line, old, (double)(sampling->new->at_ns - sampling->old->at_ns) / 1e9);
	history_push(&line->history, stat.waiting);
	return 0;
}

int
top_sample(struct top_model *model)
{
	struct top_model new = {.at_ns = monotonic_ns()};
	struct sampling sampling = {.old = model, .new = &new};
	int rc = tsem_list(sample_one, &sampling);
	if (rc < 0) {
		top_forget(&new);
		return rc;
	}
	top_forget(model);
	*model = new;
	return 0;
}

void
top_forget(struct top_model *model)
{
	free(model->lines);
	*model = (struct top_model){.n = 0};
}

/* ---- cells ---- */

double
share_of(const struct tsem_stat *stat)
{
	return stat->capacity == 0 ? (stat->held > 0 ? 1 : 0) : (double)stat->held / (double)stat->capacity;
}

static void
seconds_to_cell(double seconds, char *text)
{
	const double most = 1e9; /* only a damaged segment has more */
	if (seconds < 1)
		snprintf(text, CELL_BYTES_MAX, "%.1fms", seconds * 1e3);
	else if (seconds > most)
		snprintf(text, CELL_BYTES_MAX, "?");
	else
		duration_to_text((uint64_t)(seconds * 1e9), text);
}

void
top_to_cell(const struct top_line *line, enum top_column column, char *text)
{
	enum { TREND_WIDTH = 20 };
	const struct tsem_stat *stat = &line->stat;
	text[0] = '\0';
	switch (column) {
	case TOP_NAME:
		snprintf(text, CELL_BYTES_MAX, "%s", line->name);
		break;
	case TOP_USE:
		snprintf(text, CELL_BYTES_MAX, "%.0f%%", share_of(stat) * 100);
		break;
	case TOP_HELD:
		snprintf(text, CELL_BYTES_MAX, "%" PRIu64, stat->held);
		break;
	case TOP_CAPACITY:
		snprintf(text, CELL_BYTES_MAX, "%" PRIu32, stat->capacity);
		if (excess_of(stat) != 0)
			snprintf(text, CELL_BYTES_MAX, "%" PRIu32 "+%" PRIu64, stat->capacity, excess_of(stat));
		break;
	case TOP_WAITING:
		snprintf(text, CELL_BYTES_MAX, "%" PRIu32, stat->waiting);
		break;
	case TOP_RATE:
		snprintf(text, CELL_BYTES_MAX, "%.1f", line->rate);
		break;
	case TOP_WAIT:
		if (line->wait >= 0)
			seconds_to_cell(line->wait, text);
		break;
	case TOP_TREND:
		sparkline(&line->history, TREND_WIDTH, text);
		break;
	case TOP_REASON:
		if (line->reason.kind != REASON_NONE)
			snprintf(text, CELL_BYTES_MAX, "%s", reason_word(line->reason.kind));
		break;
	default:
		break;
	}
}

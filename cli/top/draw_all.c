/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top/draw_all.h"

#include <inttypes.h>
#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "top/frame.h"
#include "top/top_list.h"
#include "view/describe.h"

enum {
	NAME_WIDTH_MIN = 8,
	GAP = 2,
	BAR_WIDTH_MIN = 8,
	BAR_WIDTH_MAX = 30,
	TREND_MIN = 5,
	TREND_MAX = 60,
	TREND_OFF_SCREEN = 20
};

struct widths {
	int of[TOP_COLUMNS];
	int bar; /* after USE, with a gap; 0: no room */
};

/*
 * On a narrow screen, first the trend goes off the edge, then the bar goes. Then the edge cuts other columns, but never
 * a name in front.
 */
static struct widths
widths_for(const struct top_model *model)
{
	struct widths w = {
		.of = {[TOP_USE] = 5, [TOP_HELD] = 6, [TOP_CAPACITY] = 9, [TOP_WAITING] = 8, [TOP_RATE] = 8, [TOP_WAIT] = 8},
	};
	int left = COLS - GAP;
	for (size_t i = 0; i < TOP_SCREEN_COLUMNS; i++)
		left -= w.of[i];
	w.of[TOP_NAME] = NAME_WIDTH_MIN;
	for (size_t i = 0; i < model->n; i++) {
		const int length = (int)strlen(model->lines[i].name);
		w.of[TOP_NAME] = length > w.of[TOP_NAME] ? length : w.of[TOP_NAME];
	}
	left -= w.of[TOP_NAME];
	if (left >= BAR_WIDTH_MIN)
		w.bar = left / 2 < BAR_WIDTH_MIN ? BAR_WIDTH_MIN : left / 2 < BAR_WIDTH_MAX ? left / 2 : BAR_WIDTH_MAX;
	left -= w.bar;
	w.of[TOP_TREND] = left < TREND_MIN ? TREND_OFF_SCREEN : left > TREND_MAX ? TREND_MAX : left;
	return w;
}

static void
scroll_before(const struct top *top, enum top_column column, const struct widths *w, struct pen *pen)
{
	if (column == (first_column_stays(w->of[TOP_NAME]) ? TOP_USE : TOP_NAME))
		pen_scroll(pen, top->sideways);
}

static void
draw_headings(struct top *top, const struct widths *w)
{
	struct pen pen = pen_at(1);
	for (size_t i = 0; i < TOP_SCREEN_COLUMNS; i++) {
		const struct column *column = &top_columns.items[i];
		const bool right = (column->flags & COLUMN_RIGHT) != 0;
		const int blank = w->of[i] - (int)strlen(column->name);
		scroll_before(top, (enum top_column)i, w, &pen);
		if (i == TOP_TREND)
			pen_field(&pen, INK_PLAIN, "", GAP, false);
		pen_field(&pen, INK_PLAIN, "", right ? blank : 0, false);
		pen_write(&pen, i == top->rules.sort ? INK_SELECTED : INK_TITLE, column->name);
		pen_field(&pen, INK_PLAIN, "", right ? 0 : blank, false);
		if (i == TOP_USE)
			pen_field(&pen, INK_PLAIN, "", w->bar, false);
	}
	finish_row(top, &pen);
}

static void
draw_line(struct top *top, const struct top_line *line, const struct widths *w, int y, bool selected)
{
	struct pen pen = pen_at(y);
	char text[CELL_BYTES_MAX];
	for (size_t i = 0; i < TOP_SCREEN_COLUMNS; i++) {
		scroll_before(top, (enum top_column)i, w, &pen);
		top_to_cell(line, (enum top_column)i, text);
		switch (i) {
		case TOP_NAME:
			pen_field(&pen, selected ? INK_SELECTED : INK_PLAIN, text, w->of[i], false);
			break;
		case TOP_TREND:
			sparkline(&line->history, (size_t)w->of[i], text);
			pen_field(&pen, INK_PLAIN, "", GAP, false);
			pen_field(&pen, INK_BUSY, text, w->of[i], false);
			break;
		default:
			pen_field(&pen, INK_PLAIN, text, w->of[i], true);
			break;
		}
		if (i == TOP_USE && w->bar > 0) {
			bar(share_of(&line->stat), (size_t)(w->bar - GAP), text);
			pen_field(&pen, INK_PLAIN, "", GAP, false);
			pen_write(&pen, ink_of(&line->stat), text);
		}
	}
	finish_row(top, &pen);
}

/* In the line below the list. Returns the number of lines. */
static size_t
draw_reason(const struct top_line *line)
{
	char why[REASON_BYTES_MAX];
	char text[NAME_SIZE + 2 + REASON_BYTES_MAX];
	const size_t head = strlen(line->name) + 2;
	reason_to_fit(&line->reason, &line->stat, line->name, (size_t)COLS > head ? (size_t)COLS - head : 0, why);
	if (why[0] == '\0')
		return 0;
	snprintf(text, sizeof(text), "%s: %s", line->name, why);
	pen_line(LINES - 2, INK_BUSY, text);
	return 1;
}

void
draw_all(struct top *top)
{
	enum { HEAD_LINES = 2 };
	char title[LIST_TEXT_MAX + 128];
	uint64_t held = 0;
	uint64_t waiting = 0;
	const struct top_model *model = &top->model;
	for (size_t i = 0; i < top->rows.n; i++) {
		const struct tsem_stat *stat = &model->lines[top->rows.order[i]].stat;
		held += stat->held;
		waiting += stat->waiting;
	}
	list_to_text(top, model->n, "semaphore", title);
	size_t length = strlen(title);
	length += (size_t)sprintf(title + length, ", %" PRIu64 " permit%s held, %" PRIu64 " waiting", held,
	                          held == 1 ? "" : "s", waiting);
	if (model->unreadable > 0)
		sprintf(title + length, ", %" PRIu64 " that cannot be read", model->unreadable);
	draw_title(top, title);
	const struct widths w = widths_for(model);
	draw_headings(top, &w);

	size_t room = room_for_list(HEAD_LINES);
	if (room > 1 && top->row < top->rows.n)
		room -= draw_reason(&model->lines[top->rows.order[top->row]]);
	list_scroll(top, room);
	int y = HEAD_LINES;
	for (size_t i = top->first; i < top->rows.n && i < top->first + room; i++)
		draw_line(top, &model->lines[top->rows.order[i]], &w, y++, i == top->row);
}

/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top/draw_one.h"

#include <errno.h>
#include <inttypes.h>
#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "process.h"
#include "top/frame.h"
#include "top/top_list.h"
#include "view/describe.h"

enum { DRAWING_MIN = 8, DRAWING_MAX = 60 };

static const enum show_column of_one[] = {SHOW_STATE, SHOW_POSITION, SHOW_PID,      SHOW_USER,  SHOW_COUNT,
                                          SHOW_SLOT,  SHOW_TIME,     SHOW_DEADLINE, SHOW_ALIVE, SHOW_COMMAND};
static const int widths_of_one[] = {6, 9, 9, 10, 6, 5, 8, 9, 8, 0};

enum { COLUMNS_OF_ONE = sizeof(of_one) / sizeof(of_one[0]) };

/* Leaves out empty columns, as `tsem show` does, because the command needs the room. */
static uint32_t
columns_in_use(const struct snapshot *snapshot)
{
	uint32_t used = 0;
	for (size_t i = 0; i < COLUMNS_OF_ONE; i++) {
		if ((show_columns.items[of_one[i]].flags & COLUMN_SPARSE) == 0)
			used |= 1U << i;
	}
	for (size_t n = 0; n < snapshot->n; n++) {
		const struct participant participant = snapshot_participant(snapshot, n);
		for (size_t i = 0; i < COLUMNS_OF_ONE; i++) {
			char text[CELL_BYTES_MAX];
			if ((used & 1U << i) != 0)
				continue;
			participant_to_cell(&participant, of_one[i], text);
			if (text[0] != '\0')
				used |= 1U << i;
		}
	}
	return used;
}

static void
draw_cell(struct pen *pen, size_t i, enum ink ink, const char *text)
{
	if (widths_of_one[i] == 0) {
		pen_write(pen, ink, text);
		return;
	}
	pen_field(pen, ink, text, widths_of_one[i] - 1, (show_columns.items[of_one[i]].flags & COLUMN_RIGHT) != 0);
	pen_write(pen, INK_PLAIN, " ");
}

static enum ink
ink_of_owner(const struct tsem_owner *owner)
{
	return owner->alive == TSEM_DEAD   ? INK_BAD
	       : process_is_stopped(owner) ? INK_BUSY
	       : owner->position == 0      ? INK_GOOD
	                                   : INK_PLAIN;
}

/* `participant`: NULL for the headings. */
static void
draw_line(struct top *top, const struct participant *participant, uint32_t used, int y, bool selected)
{
	struct pen pen = pen_at(y);
	const enum ink ink = participant == NULL ? INK_TITLE : ink_of_owner(participant->owner);
	const size_t scrolled = first_column_stays(widths_of_one[0]) ? 1 : 0;
	for (size_t i = 0; i < COLUMNS_OF_ONE; i++) {
		char text[CELL_BYTES_MAX];
		if (i == scrolled)
			pen_scroll(&pen, top->sideways);
		if ((used & 1U << i) == 0)
			continue;
		if (participant == NULL)
			strcpy(text, show_columns.items[of_one[i]].name);
		else
			participant_to_cell(participant, of_one[i], text);
		draw_cell(&pen, i, selected && i == 0 ? INK_SELECTED : ink, text);
	}
	finish_row(top, &pen);
}

/* Returns the next line. */
static int
draw_reason(const struct top *top, int y)
{
	const struct snapshot *snapshot = &top->snapshot;
	char text[REASON_BYTES_MAX];
	reason_to_fit(&snapshot->reason, &snapshot->stat, top->one, (size_t)COLS, text);
	if (text[0] == '\0')
		return y;
	pen_line(y, INK_BUSY, text);
	return y + 1;
}

/* Returns the first line of the list. */
static int
draw_one_head(struct top *top, uint32_t used)
{
	const struct tsem_stat *stat = &top->snapshot.stat;
	char text[CELL_BYTES_MAX];
	char listed[LIST_TEXT_MAX] = "";
	char held[64];
	const int half = COLS / 2 - 4;
	const int width = half < DRAWING_MIN ? DRAWING_MIN : half > DRAWING_MAX ? DRAWING_MAX : half;
	held_to_text(stat, &top->snapshot.reason, held);
	if (top->filter[0] != '\0')
		list_to_text(top, top->snapshot.n, "row", listed);
	snprintf(text, sizeof(text), "%s%s%s%s: %" PRIu32 " permit%s, %" PRIu64 " available, %s, %" PRIu32 " waiting",
	         top->one, listed[0] != '\0' ? " (" : "", listed, listed[0] != '\0' ? ")" : "", stat->capacity,
	         stat->capacity == 1 ? "" : "s", stat->available, held, stat->waiting);
	const size_t length = strlen(text);
	if (excess_of(stat) != 0)
		snprintf(text + length, sizeof(text) - length, ", %" PRIu64 " in excess", excess_of(stat));
	draw_title(top, text);

	struct pen pen = pen_at(1);
	bar(share_of(stat), (size_t)width, text);
	pen_write(&pen, INK_PLAIN, "use ");
	pen_write(&pen, ink_of(stat), text);
	sparkline(&top->history, (size_t)width, text);
	pen_write(&pen, INK_PLAIN, "  wait ");
	pen_write(&pen, INK_BUSY, text);
	pen_finish(&pen, INK_PLAIN);

	const int y = draw_reason(top, 2);
	draw_line(top, NULL, used, y, false);
	return y + 1;
}

void
draw_one(struct top *top)
{
	char text[512];
	if (top->error != 0) {
		snprintf(text, sizeof(text), "%s: %s", top->one,
		         top->error == -ENOENT ? "no such semaphore any more" : error_text(top->one, top->error));
		draw_title(top, text);
		return;
	}
	const uint32_t used = columns_in_use(&top->snapshot);
	int y = draw_one_head(top, used);
	const size_t room = room_for_list(y);
	list_scroll(top, room);
	for (size_t i = top->first; i < top->rows.n && i < top->first + room; i++) {
		const struct participant participant = snapshot_participant(&top->snapshot, top->rows.order[i]);
		draw_line(top, &participant, used, y++, i == top->row);
	}
}

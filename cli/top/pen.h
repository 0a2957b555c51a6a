/* SPDX-License-Identifier: MIT */
/* Text that never leaves its place on the screen, however small the screen is. */
#ifndef TSEM_CLI_TOP_PEN_H
#define TSEM_CLI_TOP_PEN_H

#include <stdbool.h>

enum ink { INK_PLAIN, INK_GOOD, INK_BUSY, INK_BAD, INK_DIM, INK_TITLE, INK_SELECTED };

/* A position on one line of the screen. */
struct pen {
	int y;
	int x; /* may be outside the columns that are drawn */
	int start;
	int end; /* the first column that must not be written */
};

/* `colors`: use colours if the terminal has them. */
void pen_start(bool colors);

struct pen pen_at(int y);

/* Scrolls what is written next to the left by `columns`, under what is written already. */
void pen_scroll(struct pen *pen, int columns);

/* Writes multibyte text, of which only the part from start to end is drawn; malformed bytes become '?'. */
void pen_write(struct pen *pen, enum ink ink, const char *text);

/* The same in a field of `width` columns, aligned to its right edge if `right`. */
void pen_field(struct pen *pen, enum ink ink, const char *text, int width, bool right);

/* A whole line with one text. */
void pen_line(int y, enum ink ink, const char *text);

/* Blanks the rest of the line. */
void pen_finish(struct pen *pen, enum ink ink);

#endif

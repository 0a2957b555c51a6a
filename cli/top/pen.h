/* SPDX-License-Identifier: MIT */
/* Text that never leaves its place on the screen, however small the screen is. */
#ifndef TSEM_CLI_TOP_PEN_H
#define TSEM_CLI_TOP_PEN_H

#include <stdbool.h>

enum ink { INK_PLAIN, INK_GOOD, INK_BUSY, INK_BAD, INK_DIM, INK_TITLE, INK_SELECTED };

/* Where the next text goes, on one line of the screen. */
struct pen {
	int y;
	int x;
	int end; /* column behind the last one that may be written */
};

/* Colours, if the terminal has them and they are wanted. */
void pen_start(bool colors);

struct pen pen_at(int y);

/* Text in a multibyte encoding; what does not fit is left out, what is no character is shown as '?'. */
void pen_write(struct pen *pen, enum ink ink, const char *text);

/* The same in a field of so many columns, at its right edge if `right`. */
void pen_field(struct pen *pen, enum ink ink, const char *text, int width, bool right);

/* The rest of the line is empty. */
void pen_finish(struct pen *pen, enum ink ink);

#endif

/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top/pen.h"

#include <limits.h>
#include <ncurses.h>
#include <wchar.h>

static bool colorful;

void
pen_start(bool colors)
{
	colorful = colors && has_colors() && start_color() == OK;
	if (!colorful)
		return;
	const short background = use_default_colors() == OK ? -1 : COLOR_BLACK;
	init_pair(INK_GOOD, COLOR_GREEN, background);
	init_pair(INK_BUSY, COLOR_YELLOW, background);
	init_pair(INK_BAD, COLOR_RED, background);
}

static attr_t
attributes(enum ink ink)
{
	switch (ink) {
	case INK_GOOD:
	case INK_BUSY:
	case INK_BAD:
		return colorful ? (attr_t)COLOR_PAIR(ink) : A_NORMAL;
	case INK_DIM:
		return A_DIM;
	case INK_TITLE:
		return A_BOLD;
	case INK_SELECTED:
		return A_REVERSE;
	default:
		return A_NORMAL;
	}
}

struct pen
pen_at(int y)
{
	return (struct pen){.y = y, .x = 0, .end = y < LINES ? COLS : 0};
}

void
pen_scroll(struct pen *pen, int columns)
{
	pen->start = pen->x;
	pen->x -= columns;
}

/* Moves *text past the character. */
static wchar_t
next_character(const char **text, mbstate_t *state)
{
	wchar_t c = L'?';
	const size_t length = mbrtowc(&c, *text, MB_LEN_MAX, state);
	if (length == (size_t)-1 || length == (size_t)-2) {
		*state = (mbstate_t){0};
		*text += 1;
		return L'?';
	}
	*text += length;
	/* In an ASCII locale, musl makes surrogates of bytes that are not ASCII. */
	return c >= 0xd800 && c <= 0xdfff ? L'?' : c;
}

void
pen_write(struct pen *pen, enum ink ink, const char *text)
{
	mbstate_t state = {0};
	attrset((int)attributes(ink));
	while (*text != '\0') {
		wchar_t c[2] = {next_character(&text, &state), L'\0'};
		int width = wcwidth(c[0]);
		if (width < 0) {
			c[0] = L'?';
			width = 1;
		}
		if (pen->x >= pen->start && pen->x + width <= pen->end)
			mvaddwstr(pen->y, pen->x, c);
		pen->x += width;
	}
	attrset(A_NORMAL);
}

static int
columns_of(const char *text)
{
	mbstate_t state = {0};
	int columns = 0;
	while (*text != '\0') {
		const int width = wcwidth(next_character(&text, &state));
		columns += width < 0 ? 1 : width;
	}
	return columns;
}

static void
fill(struct pen *pen, enum ink ink, int columns)
{
	for (; columns > 0 && pen->x < pen->end; columns--)
		pen_write(pen, ink, " ");
}

void
pen_field(struct pen *pen, enum ink ink, const char *text, int width, bool right)
{
	const int end = pen->end;
	const int stop = pen->x + (width > 0 ? width : 0);
	if (right)
		fill(pen, ink, width - columns_of(text));
	pen->end = stop < end ? stop : end;
	pen_write(pen, ink, text);
	pen->end = end;
	fill(pen, ink, stop - pen->x);
	pen->x = stop;
}

void
pen_finish(struct pen *pen, enum ink ink)
{
	fill(pen, ink, pen->end - pen->x);
}

void
pen_line(int y, enum ink ink, const char *text)
{
	struct pen pen = pen_at(y);
	pen_write(&pen, ink, text);
	pen_finish(&pen, INK_PLAIN);
}

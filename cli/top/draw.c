/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top/draw.h"

#include <ncurses.h>
#include <stdio.h>

#include "top/draw_all.h"
#include "top/draw_help.h"
#include "top/draw_one.h"
#include "top/frame.h"
#include "top/top_list.h"
#include "top/question.h"

static void
last_line_to_text(struct top *top, char *text, size_t size)
{
	switch (top->asking) {
	case ASK_ARGUMENT:
	case ASK_CONFIRM:
		question_to_text(top, text, size);
		break;
	case ASK_FILTER:
		snprintf(text, size, "filter: %s_ (Enter keeps it, Esc clears it)", list_filter(top));
		break;
	case ASK_HELP:
		snprintf(text, size, "Up Down PgUp PgDn Home End scroll, any other key goes back");
		break;
	default:
		if (top->message[0] != '\0')
			snprintf(text, size, "%s", top->message);
		else
			snprintf(text, size, "q quit  h help  / filter  %s  r recover  c cancel  n permits",
			         top->one[0] != '\0' ? "Esc all  k signal" : "Enter show  s sort");
		break;
	}
}

static void
draw_last_line(struct top *top)
{
	char text[512];
	if (LINES < 2)
		return;
	last_line_to_text(top, text, sizeof(text));
	const bool asks = top->asking != ASK_NOTHING && top->asking != ASK_HELP;
	pen_line(LINES - 1, asks ? INK_TITLE : INK_DIM, text);
}

static void
draw_view(struct top *top)
{
	erase();
	top->beyond = -top->sideways; /* of an empty list */
	if (top->asking == ASK_HELP)
		draw_help(top);
	else if (top->one[0] != '\0')
		draw_one(top);
	else
		draw_all(top);
}

void
top_draw(struct top *top)
{
	do
		draw_view(top);
	while (top->asking != ASK_HELP && pull_back(top));
	draw_last_line(top);
	refresh();
}

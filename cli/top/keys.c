/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top/keys.h"

#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "top/draw_help.h"
#include "top/top_list.h"
#include "top/prompt.h"
#include "top/question.h"

enum { DELAY_MIN_NS = 100000000, DELAY_DOUBLINGS_MAX = 10 };

/* ---- moving ---- */

static size_t
page(void)
{
	return LINES > 4 ? (size_t)(LINES - 4) : 1;
}

/* Moves the position in a list of `n` rows. False if the key does not move it. */
static bool
move_in(size_t *at, size_t n, int key)
{
	const size_t last = n > 0 ? n - 1 : 0;
	size_t to = *at;
	switch (key) {
	case KEY_UP:
		to = to > 0 ? to - 1 : 0;
		break;
	case KEY_DOWN:
		to++;
		break;
	case KEY_PPAGE:
		to = to > page() ? to - page() : 0;
		break;
	case KEY_NPAGE:
		to += page();
		break;
	case KEY_HOME:
		to = 0;
		break;
	case KEY_END:
		to = last;
		break;
	default:
		return false;
	}
	*at = to < last ? to : last;
	return true;
}

static bool
select_by_key(struct top *top, int key)
{
	const bool moves = move_in(&top->row, top->rows.n, key);
	if (moves)
		list_select(top);
	return moves;
}

static void
show_one(struct top *top)
{
	if (top->row >= top->rows.n)
		return;
	const struct top_line *line = &top->model.lines[top->rows.order[top->row]];
	strcpy(top->one, line->name);
	top->history = line->history;
	top->process.pid = 0;
	top->filter[0] = '\0';
	top->row = 0;
	top->first = 0;
	top->sideways = 0;
}

static void
show_all(struct top *top)
{
	if (top->one[0] != '\0')
		strcpy(top->selected, top->one);
	top->one[0] = '\0';
	top->first = 0;
	top->sideways = 0;
}

static void
change_screen(struct top *top, int key)
{
	if (top->one[0] == '\0' && (prompt_is_enter(key) || key == KEY_RIGHT))
		show_one(top);
	else if (prompt_is_escape(key) || prompt_is_backspace(key) || key == KEY_LEFT)
		show_all(top);
}

/* ---- everything else ---- */

/* The list follows each letter, and can be moved in meanwhile. */
static void
edit_filter(struct top *top, int key)
{
	char *filter = list_filter(top);
	if (prompt_is_escape(key))
		filter[0] = '\0';
	if (prompt_is_escape(key) || prompt_is_enter(key))
		top->asking = ASK_NOTHING;
	else if (!select_by_key(top, key))
		prompt_edit(filter, FILTER_SIZE, key);
}

static void
change_delay(struct top *top, bool faster)
{
	if (faster && top->delay_ns / 2 >= DELAY_MIN_NS)
		top->delay_ns /= 2;
	else if (!faster && top->delay_ns < (uint64_t)DELAY_MIN_NS << DELAY_DOUBLINGS_MAX)
		top->delay_ns *= 2;
}

/* By half of the screen, and not beyond the ends. */
static void
scroll_sideways(struct top *top, bool right)
{
	const int half = COLS > 1 ? COLS / 2 : 1;
	const int room = right ? top->beyond : top->sideways;
	const int step = half < room ? half : room;
	top->sideways += right ? step : -step;
}

static bool
command_key(struct top *top, int key)
{
	if (question_begin(top, key))
		return true;
	switch (key) {
	case 'q':
		return false;
	case 'h':
	case '?':
		top->asking = ASK_HELP;
		top->help_first = 0;
		break;
	case 's':
		top->rules.sort = (enum top_column)((top->rules.sort + 1) % TOP_SCREEN_COLUMNS);
		break;
	case 'i':
		top->rules.inverted = !top->rules.inverted;
		break;
	case '+':
	case '-':
		change_delay(top, key == '+');
		break;
	case 'z':
		if (top->one[0] == '\0')
			top->rules.busy_only = !top->rules.busy_only;
		break;
	case 'k':
		snprintf(top->message, sizeof(top->message), "k signals a selected process (Enter shows those of a semaphore)");
		break;
	case '<':
	case '>':
		scroll_sideways(top, key == '>');
		break;
	case '/':
		top->asking = ASK_FILTER;
		break;
	default:
		change_screen(top, key);
		break;
	}
	return true;
}

bool
top_key(struct top *top, int key)
{
	if (key == KEY_RESIZE)
		return true;
	switch (top->asking) {
	case ASK_ARGUMENT:
	case ASK_CONFIRM:
		question_key(top, key);
		return true;
	case ASK_FILTER:
		edit_filter(top, key);
		return true;
	case ASK_HELP:
		if (!move_in(&top->help_first, help_positions(), key))
			top->asking = ASK_NOTHING;
		return true;
	default:
		break;
	}
	top->message[0] = '\0';
	return select_by_key(top, key) || command_key(top, key);
}

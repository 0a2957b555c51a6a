/* SPDX-License-Identifier: MIT */
#include "top/cmd_top.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "message.h"
#include "monotonic.h"
#include "top/draw.h"
#include "top/keys.h"
#include "top/top_list.h"
#include "top/plain.h"
#include "top/screen.h"
#include "top/top.h"
#include "view/show_table.h"

/* ---- reading ---- */

static void
read_one(struct top *top)
{
	top->error = snapshot_of(top->one, &top->snapshot);
	history_push(&top->history, top->error == 0 ? top->snapshot.stat.waiting : 0);
}

static int
top_read(struct top *top)
{
	if (top->one[0] != '\0') {
		read_one(top);
		return top->error == -ENOMEM ? -ENOMEM : rows_reserve(&top->rows, top->snapshot.n);
	}
	const int rc = top_sample(&top->model);
	return rc < 0 ? rc : rows_reserve(&top->rows, top->model.n);
}

/* ---- the loop ---- */

static void
draw(struct top *top)
{
	list_arrange(top);
	top_draw(top);
}

/* Handles keys until the next refresh is due. False: the program ends. */
static bool
handle_keys(struct top *top, uint64_t *due)
{
	while (true) {
		const uint64_t delay = top->delay_ns;
		const char was = top->one[0];
		const int key = screen_wait(*due);
		if (key == SCREEN_TICK)
			return true;
		if (key == SCREEN_GONE || !top_key(top, key))
			return false;
		/* These keys change what is shown, so a refresh is due now. */
		const bool looks = top->asking == ASK_NOTHING && (key == ' ' || key == 'y' || key == 'Y');
		if (looks || top->delay_ns != delay || top->one[0] != was) {
			*due = monotonic_ns();
			return true;
		}
		draw(top);
	}
}

static int
run_top(struct top *top)
{
	uint64_t due = monotonic_ns();
	for (uint32_t done = 0; top->o->top.iterations == 0 || done < top->o->top.iterations; done++) {
		int rc = top_read(top);
		if (rc < 0)
			return rc;
		draw(top);
		due = monotonic_ns() + top->delay_ns;
		if (!handle_keys(top, &due))
			break;
	}
	return 0;
}

static _Noreturn void
die_of_terminal(const char *name)
{
	const char *term = getenv("TERM");
	if (term == NULL || term[0] == '\0')
		die(name, "TERM is not set (set it to the type of this terminal, or use -b)");
	die(name,
	    "unknown or unsuitable terminal type '%s' (set TERM to a type that the system knows, such as xterm-256color, "
	    "or use -b)",
	    term);
}

static int
top_on_screen(const struct options *o)
{
	struct top top = {.o = o, .delay_ns = o->top.delay_ns, .rules = {.sort = o->top.sort}};
	if (o->name != NULL) {
		snprintf(top.one, sizeof(top.one), "%s", o->name);
		read_one(&top);
		if (top.error < 0)
			die_error(o->name, top.error);
		top.history.n = 0; /* the first refresh, due now, pushes this value again */
	}
	if (!screen_begin())
		die_of_terminal(o->name);
	const int rc = run_top(&top);
	screen_end();
	top_forget(&top.model);
	snapshot_free(&top.snapshot);
	rows_free(&top.rows);
	screen_die_of_signal();
	if (rc < 0)
		die_error(o->name, rc);
	return EXIT_DONE;
}

int
cmd_top(const struct options *o)
{
	require_stdout(o->name);
	const bool terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
	return terminal && !o->top.batch ? top_on_screen(o) : top_plain(o);
}

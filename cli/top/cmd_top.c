/* SPDX-License-Identifier: MIT */
#include "top/cmd_top.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "message.h"
#include "top/draw.h"
#include "top/keys.h"
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

/* Lines have come and gone, or their order has changed: the selected one is where its name is now. */
static void
find_selected(struct top *top)
{
	const struct top_model *model = &top->model;
	for (size_t i = 0; i < model->n; i++) {
		if (strcmp(model->lines[model->order[i]].name, top->selected) == 0) {
			top->row = i;
			return;
		}
	}
	if (top->row >= model->n)
		top->row = model->n > 0 ? model->n - 1 : 0;
	if (model->n > 0)
		strcpy(top->selected, model->lines[model->order[top->row]].name);
	else
		top->selected[0] = '\0';
}

static int
top_read(struct top *top)
{
	if (top->one[0] != '\0') {
		read_one(top);
		return top->error == -ENOMEM ? -ENOMEM : 0;
	}
	return top_sample(&top->model);
}

/* ---- the loop ---- */

static void
draw(struct top *top)
{
	if (top->one[0] == '\0') {
		top_sort(&top->model, top->sort, top->inverted);
		find_selected(top);
	}
	top_draw(top);
}

/* Keys until it is time to look again. False: the end. */
static bool
answer_keys(struct top *top, uint64_t *due)
{
	while (true) {
		const uint64_t delay = top->delay_ns;
		const char was = top->one[0];
		const int key = screen_wait(*due);
		if (key == SCREEN_TICK)
			return true;
		if (key == SCREEN_GONE || !top_key(top, key))
			return false;
		/* What is shown now has not been read yet, or was changed just now. */
		if (key == ' ' || key == 'y' || key == 'Y' || top->delay_ns != delay || top->one[0] != was) {
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
		if (!answer_keys(top, &due))
			break;
	}
	return 0;
}

static int
top_on_screen(const struct options *o)
{
	struct top top = {.o = o, .delay_ns = o->top.delay_ns, .sort = o->top.sort};
	if (o->name != NULL) {
		snprintf(top.one, sizeof(top.one), "%s", o->name);
		read_one(&top);
		if (top.error < 0)
			die_of_opening(o->name, top.error);
		top.history.n = 0; /* read again at once */
	}
	if (!screen_begin())
		die(o->name, "this terminal cannot be drawn on (set TERM to its type, or use -b)");
	const int rc = run_top(&top);
	screen_end();
	top_forget(&top.model);
	snapshot_free(&top.snapshot);
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

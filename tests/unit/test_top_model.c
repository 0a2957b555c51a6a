/* SPDX-License-Identifier: MIT */
/* What `tsem top` knows of each semaphore from one look to the next, and the order in which it shows them. */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "top/chart.h"
#include "top/rows.h"
#include "view/describe.h"

static struct top_model model;
static struct rows rows;

static int
tear_down(void **state)
{
	(void)state;
	top_forget(&model);
	rows_free(&rows);
	return 0;
}

/* Other programs may have semaphores, too. */
static const struct top_line *
line_of(const char *name)
{
	for (size_t i = 0; i < model.n; i++) {
		if (strcmp(model.lines[i].name, name) == 0)
			return &model.lines[i];
	}
	return NULL;
}

static const struct top_line *
look_at(const char *name)
{
	assert_int_equal(top_sample(&model), 0);
	const struct top_line *line = line_of(name);
	assert_non_null(line);
	return line;
}

/* ---- from one look to the next ---- */

TEST_BETWEEN(NULL, tear_down, the_rate_is_that_since_the_last_look)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 5, 0);
	assert_true(look_at(name)->rate == 0);
	const uint64_t before = model.at_ns;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tsem_take(sem, 5, NULL), 0);
		assert_int_equal(tsem_post(sem, 5, NULL), 0);
	}
	const struct top_line *line = look_at(name);
	const double seconds = (double)(model.at_ns - before) / 1e9;
	assert_true(line->rate * seconds > 14.999 && line->rate * seconds < 15.001);
	assert_true(look_at(name)->rate == 0);
	tsem_close(sem);
}

/* The mean is that of the waits that ended since the last look, not of all. */
TEST_BETWEEN(NULL, tear_down, the_wait_is_the_mean_of_the_last_ones)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	for (int waits = 1; waits <= 2; waits++) {
		assert_true(look_at(name)->wait < 0);
		const uint64_t before = stat_of(sem).wait_total_ns;
		for (int i = 0; i < waits; i++) {
			const struct timespec soon = deadline_in(2);
			assert_int_equal(tsem_take(sem, 1, &soon), -ETIMEDOUT);
		}
		const double total = (double)(stat_of(sem).wait_total_ns - before) / 1e9;
		const double wait = look_at(name)->wait;
		/* Both may be 0: on a busy machine the deadline may pass before the wait begins. */
		assert_true(wait * waits >= total * 0.999 && wait * waits <= total * 1.001);
	}
	tsem_close(sem);
}

TEST_BETWEEN(NULL, tear_down, the_history_has_the_last_looks)
{
	struct history history = {.n = 0};
	for (uint32_t i = 0; i < HISTORY_MAX + 5; i++)
		history_push(&history, i);
	assert_int_equal(history.n, HISTORY_MAX);
	assert_int_equal(history.waiting[0], 5);
	assert_int_equal(history.waiting[HISTORY_MAX - 1], HISTORY_MAX + 4);
}

TEST_BETWEEN(NULL, tear_down, another_semaphore_of_that_name_begins_anew)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 9, 0);
	look_at(name);
	assert_int_equal(look_at(name)->history.n, 2);
	tsem_close(sem);
	assert_int_equal(tsem_remove(name, 0), 0);
	sem = new_semaphore_named(name, 9, 0);
	assert_int_equal(tsem_take(sem, 9, NULL), 0);
	const struct top_line *line = look_at(name);
	assert_int_equal(line->history.n, 1);
	assert_true(line->rate == 0);
	assert_true(line->wait < 0);
	tsem_close(sem);
	assert_int_equal(tsem_remove(name, TSEM_FORCE), 0);
	assert_int_equal(top_sample(&model), 0);
	assert_null(line_of(name));
}

TEST_BETWEEN(NULL, tear_down, unreadable_files_are_counted)
{
	const char *name = fresh_name();
	FILE *file = fopen(file_of(name), "w");
	assert_non_null(file);
	assert_true(fputs("garbage", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(top_sample(&model), 0);
	assert_null(line_of(name));
	assert_true(model.unreadable >= 1);
}

/* ---- the order ---- */

enum { LINES = 4 };

static struct top_line
line_with(const char *name, uint64_t held, uint32_t capacity, uint32_t waiting, double rate, double wait)
{
	struct top_line line = {.rate = rate, .wait = wait};
	line.stat.held = held;
	line.stat.capacity = capacity;
	line.stat.waiting = waiting;
	strcpy(line.name, name);
	history_push(&line.history, 0);
	history_push(&line.history, waiting * 2);
	return line;
}

static const char *
order_by(enum top_column column, bool inverted)
{
	static char names[LINES + 1];
	rows_of_semaphores(&rows, &model, &(struct row_rules){.sort = column, .inverted = inverted});
	for (size_t i = 0; i < rows.n; i++)
		names[i] = model.lines[rows.order[i]].name[0];
	names[rows.n] = '\0';
	return names;
}

/* Each column gives another order here. Lines with equal cells are in the order of their names. */
TEST_BETWEEN(NULL, tear_down, each_column_sorts_by_what_it_shows)
{
	model = (struct top_model){.lines = calloc(LINES, sizeof(*model.lines)), .n = LINES};
	assert_true(model.lines != NULL && rows_reserve(&rows, LINES) == 0);
	model.lines[0] = line_with("a", 1, 4, 2, 7, -1);
	model.lines[1] = line_with("b", 1, 1, 0, 9, 0.5);
	model.lines[2] = line_with("c", 3, 9, 2, 8, 2);
	model.lines[3] = line_with("d", 2, 0, 5, 0, 0);
	assert_string_equal(order_by(TOP_NAME, false), "abcd");
	assert_string_equal(order_by(TOP_NAME, true), "dcba");
	assert_string_equal(order_by(TOP_USE, false), "bdca"); /* 25%, 100%, 33%, and 2 of 0 */
	assert_string_equal(order_by(TOP_HELD, false), "cdab");
	assert_string_equal(order_by(TOP_HELD, true), "abdc");
	assert_string_equal(order_by(TOP_CAPACITY, false), "cabd");
	assert_string_equal(order_by(TOP_WAITING, false), "dacb");
	assert_string_equal(order_by(TOP_WAITING, true), "bacd");
	assert_string_equal(order_by(TOP_RATE, false), "bcad");
	assert_string_equal(order_by(TOP_WAIT, false), "cbda");
	model.lines[1].history.waiting[0] = 100;
	assert_string_equal(order_by(TOP_TREND, false), "bdac");
}

static const char *
cell_of(const struct top_line *line, enum top_column column)
{
	static char text[CELL_BYTES_MAX];
	top_to_cell(line, column, text);
	return text;
}

TEST_BETWEEN(NULL, tear_down, each_column_of_a_line)
{
	const struct top_line line = line_with("name", 3, 4, 2, 7.25, 0.0123);
	assert_string_equal(cell_of(&line, TOP_NAME), "name");
	assert_string_equal(cell_of(&line, TOP_USE), "75%");
	assert_string_equal(cell_of(&line, TOP_HELD), "3");
	assert_string_equal(cell_of(&line, TOP_CAPACITY), "4");
	assert_string_equal(cell_of(&line, TOP_WAITING), "2");
	assert_string_equal(cell_of(&line, TOP_RATE), "7.2");
	assert_string_equal(cell_of(&line, TOP_WAIT), "12.3ms");
	assert_string_equal(cell_of(&line, TOP_TREND), " #"); /* ASCII in the C locale */
	const struct top_line slow = line_with("slow", 3, 0, 0, 0, 200);
	struct top_line over_posted = line;
	over_posted.stat.permits = 4;
	over_posted.stat.excess = 2;
	assert_string_equal(cell_of(&over_posted, TOP_CAPACITY), "4+2");
	assert_string_equal(cell_of(&slow, TOP_USE), "100%");
	assert_string_equal(cell_of(&slow, TOP_WAIT), "3m20s");
	const struct top_line idle = line_with("idle", 0, 0, 0, 0, -1);
	assert_string_equal(cell_of(&idle, TOP_USE), "0%");
	assert_string_equal(cell_of(&idle, TOP_WAIT), "");
}

static const char *
bar_of(double share)
{
	static char text[CELL_BYTES_MAX];
	bar(share, 10, text);
	return text;
}

TEST(a_bar_shows_the_share)
{
	assert_string_equal(bar_of(0), "..........");
	assert_string_equal(bar_of(0.001), "#........."); /* never empty while a permit is held */
	assert_string_equal(bar_of(0.5), "#####.....");
	assert_string_equal(bar_of(1), "##########");
	assert_string_equal(bar_of(7), "##########");
}

/* SPDX-License-Identifier: MIT */
#include "command_points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_POINTS = 3, PROGRAMS = 3 };

/* ---- the names of points ---- */

static const struct {
	int number;
	const char *name;
} error_names[] = {
	{EMFILE, "EMFILE"}, {ENFILE, "ENFILE"}, {EACCES, "EACCES"}, {ENOMEM, "ENOMEM"},
	{EIO, "EIO"},       {EINTR, "EINTR"},   {ENOSPC, "ENOSPC"}, {EINVAL, "EINVAL"},
	{EPERM, "EPERM"},   {EAGAIN, "EAGAIN"}, {ENOLCK, "ENOLCK"}, {ENOENT, "ENOENT"},
};

enum { ERROR_NAMES = sizeof(error_names) / sizeof(error_names[0]) };

static const char *
error_name(int number)
{
	for (size_t i = 0; i < ERROR_NAMES; i++) {
		if (error_names[i].number == number)
			return error_names[i].name;
	}
	return "?";
}

void
point_to_text(const struct point *point, char text[POINT_TEXT])
{
	const bool fails = point->action == ACTION_ERROR;
	snprintf(text, POINT_TEXT, "%s %s%s%s %s%u", point->situation->name, action_names[point->action], fails ? ":" : "",
	         fails ? error_name(point->error) : "", point->role == ROLE_CHILD ? "child:" : "", point->index);
}

static bool
find_situation(const char *name, struct point *point)
{
	for (size_t i = 0; i < situation_count; i++) {
		if (strcmp(situations[i].name, name) == 0)
			point->situation = &situations[i];
	}
	return point->situation != NULL;
}

static bool
find_action(const char *name, struct point *point)
{
	const size_t length = strcspn(name, ":");
	for (size_t i = 0; i < ERROR_NAMES && name[length] == ':'; i++) {
		if (strcmp(error_names[i].name, name + length + 1) == 0)
			point->error = error_names[i].number;
	}
	for (unsigned i = 0; i < ACTIONS; i++) {
		point->action = (enum action)i;
		if (strlen(action_names[i]) == length && strncmp(action_names[i], name, length) == 0)
			return i != ACTION_ERROR || point->error != 0;
	}
	return false;
}

bool
point_from_words(const char *const words[3], struct point *point)
{
	const bool of_child = strncmp(words[2], "child:", 6) == 0;
	*point = (struct point){.role = of_child ? ROLE_CHILD : ROLE_COMMAND};
	point->index = (unsigned)strtoul(words[2] + (of_child ? 6 : 0), NULL, 10);
	return find_situation(words[0], point) && find_action(words[1], point);
}

/* ---- the points of a situation ---- */

/*
 * The numbers decide which worker tries a point, so that two workers never try the same point, even if their runs
 * differed.
 */
static void
add_point(struct points *points, const struct point *point)
{
	const unsigned long number = (unsigned long)(point->situation - situations) + point->role + point->index / 2
	                             + (unsigned long)point->action + (unsigned long)point->error;
	if (number % points->workers != points->worker)
		return;
	if (points->n == points->room) {
		points->room = points->room == 0 ? 4096 : points->room * 2;
		points->all = realloc(points->all, points->room * sizeof(*points->all));
		if (points->all == NULL)
			abort();
	}
	points->all[points->n++] = *point;
}

static bool
is_entry(const struct boundary *boundary, enum role role, unsigned executed)
{
	return boundary->role == role && boundary->executed == executed && !boundary->call.is_exit;
}

static void
note_start(const struct result *result, unsigned executed, struct start *start)
{
	start->count = 0;
	for (size_t i = 0; i < result->boundary_count; i++) {
		if (is_entry(&result->boundaries[i], ROLE_COMMAND, executed))
			start->numbers[start->count++] = result->boundaries[i].call.number;
	}
}

static void
learn_start(const struct tools *tools, const struct situation *idle, unsigned executed, struct start *start)
{
	struct result result = {.boundaries = calloc(BOUNDARIES_MAX, sizeof(struct boundary))};
	const struct point point = {.situation = idle};
	if (result.boundaries == NULL)
		abort();
	run_point(tools, &point, NULL, &result);
	note_start(&result, executed, start);
	free(result.boundaries);
	if (start->count == 0) {
		fprintf(stderr, "command sweep: '%s' does not execute the program whose start is to be left out\n", idle->name);
		abort();
	}
}

/* Finds the boundaries that belong to the start of a program, before its own code. */
static void
find_starts(const struct result *result, const struct start *const programs[PROGRAMS], bool is_start[])
{
	size_t passed[PROGRAMS] = {0};
	bool before[ROLES] = {false};
	for (size_t i = 0; i < result->boundary_count; i++) {
		const struct boundary *boundary = &result->boundaries[i];
		const unsigned executed = boundary->executed;
		if (!boundary->call.is_exit && boundary->role == ROLE_COMMAND && executed > 0 && executed < PROGRAMS) {
			const struct start *start = programs[executed];
			size_t *at = &passed[executed];
			const bool same = *at < start->count && start->numbers[*at] == boundary->call.number;
			*at = same ? *at + 1 : SIZE_MAX;
			before[ROLE_COMMAND] = same;
		}
		is_start[i] = before[boundary->role];
	}
}

/* The child runs code of tsem until it executes another program. */
static bool
is_ours(const struct boundary *boundary)
{
	return boundary->role == ROLE_COMMAND || (boundary->role == ROLE_CHILD && boundary->executed == 0);
}

static void
add_errors(struct points *points, const struct situation *situation, const struct boundary *boundary)
{
	if (!is_ours(boundary) || boundary->call.is_exit || !calls_may_fail())
		return;
	for (const int *error = call_errors(&boundary->call); *error != 0; error++) {
		add_point(points, &(struct point){.situation = situation,
		                                  .action = ACTION_ERROR,
		                                  .error = *error,
		                                  .role = boundary->role,
		                                  .index = boundary->index});
	}
}

static void
add_actions(struct points *points, const struct situation *situation, const struct boundary *boundary, bool has_child,
            bool redundant)
{
	for (unsigned action = ACTION_KILL_COMMAND; action <= ACTION_ORPHAN; action++) {
		const bool needs_child = action == ACTION_KILL_CHILD || action == ACTION_KILL_BOTH || action == ACTION_ORPHAN;
		if (boundary->role == ROLE_OTHER || (needs_child && !has_child)
		    || (action == ACTION_ORPHAN && boundary->role != ROLE_CHILD))
			continue;
		add_point(points, &(struct point){.situation = situation,
		                                  .action = (enum action)action,
		                                  .role = boundary->role,
		                                  .index = boundary->index,
		                                  .redundant = redundant});
	}
}

void
points_learn_starts(const struct tools *tools, struct starts *starts)
{
	/* The programs find a mistake soon. */
	static const struct situation idle[] = {
		{"version", {"--version"}, 0, 0, EFFECT_NONE, 0, 0},
		{"show-nothing", {"show", "-o", "NONE", "{1}"}, 0, 0, EFFECT_NONE, 0, 125},
		{"top-nothing", {"top", "-b", "-i", "1", "{1}"}, 0, 0, EFFECT_NONE, 0, 125},
	};
	learn_start(tools, &idle[0], 1, &starts->tsem);
	learn_start(tools, &idle[1], 2, &starts->view);
	learn_start(tools, &idle[2], 2, &starts->top);
}

void
points_add(struct points *points, const struct situation *situation, const struct result *result,
           const struct starts *starts)
{
	static bool is_start[BOUNDARIES_MAX];
	const struct start *const programs[] = {NULL, &starts->tsem,
	                                        strcmp(situation->words[0], "top") == 0 ? &starts->top : &starts->view};
	bool has_child = false;
	find_starts(result, programs, is_start);
	for (size_t i = 0; i < result->boundary_count; i++)
		has_child = has_child || result->boundaries[i].role == ROLE_CHILD;
	for (size_t i = 0; i < result->boundary_count; i++) {
		const struct boundary *boundary = &result->boundaries[i];
		const bool redundant = is_start[i] || !is_ours(boundary) || call_is_private(&boundary->call);
		add_actions(points, situation, boundary, has_child, redundant);
		if (!is_start[i])
			add_errors(points, situation, boundary);
	}
}

/* ---- the order of points ---- */

static uint64_t
next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void
shuffle(struct points *points, uint64_t state)
{
	for (size_t i = points->n; i > 1; i--) {
		const size_t j = (size_t)(next_random(&state) % i);
		const struct point other = points->all[j];
		points->all[j] = points->all[i - 1];
		points->all[i - 1] = other;
	}
}

static void
move_to_front(struct points *points, size_t i, size_t *front)
{
	const struct point point = points->all[i];
	points->all[i] = points->all[*front];
	points->all[(*front)++] = point;
}

void
points_put_in_order(struct points *points, unsigned long seed)
{
	static unsigned seen[SITUATIONS_MAX][ACTIONS];
	size_t front = 0;
	shuffle(points, seed);
	for (size_t i = 0; i < points->n; i++) {
		const struct point *point = &points->all[i];
		if (!point->redundant && seen[point->situation - situations][point->action]++ < LEAST_POINTS)
			move_to_front(points, i, &front);
	}
	for (size_t i = front; i < points->n; i++) {
		if (!points->all[i].redundant)
			move_to_front(points, i, &front);
	}
}

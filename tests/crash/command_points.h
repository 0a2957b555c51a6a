/* SPDX-License-Identifier: MIT */
/* The points: which there are, their names, and the order in which the sweep tries them. */
#ifndef TSEM_TESTS_CRASH_COMMAND_POINTS_H
#define TSEM_TESTS_CRASH_COMMAND_POINTS_H

#include "command_run.h"

enum { SITUATIONS_MAX = 64, POINT_TEXT = 128 };

struct points {
	struct point *all;
	size_t n;
	size_t room;
	unsigned worker; /* this worker's number: only its points are in `all` */
	unsigned workers;
};

/*
 * The system calls of a program before its own code runs: those that it has in common with a run that only prints its
 * version. The sweep does not make them fail, because the program's own code would not be reached.
 */
struct start {
	size_t count;
	long numbers[BOUNDARIES_MAX];
};

/* Of the command, and of the programs that it becomes for some verbs. */
struct starts {
	struct start tsem;
	struct start view;
	struct start top;
};

void points_learn_starts(const struct tools *tools, struct starts *starts);

/* Adds the points of a situation, after a run without an action. */
void points_add(struct points *points, const struct situation *situation, const struct result *result,
                const struct starts *starts);

/*
 * Puts the points in random order, but a few points of each situation and action come first, and redundant ones come
 * last.
 */
void points_put_in_order(struct points *points, unsigned long seed);

/* The words that --replay takes. */
void point_to_text(const struct point *point, char text[POINT_TEXT]);
bool point_from_words(const char *const words[3], struct point *point);

#endif

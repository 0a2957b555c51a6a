/* SPDX-License-Identifier: MIT */
/* Which points there are, what they are called, and in which order they are tried. */
#ifndef TSEM_TESTS_CRASH_COMMAND_POINTS_H
#define TSEM_TESTS_CRASH_COMMAND_POINTS_H

#include "command_play.h"

enum { SITUATIONS_MAX = 64, POINT_TEXT = 128 };

struct points {
	struct point *all;
	size_t n;
	size_t room;
	unsigned worker; /* only the points of this one */
	unsigned workers;
};

/*
 * The system calls that a program makes before its own code runs: those that it has in common with a run that only prints
 * its version. They cannot be made to fail, because the program would not get as far as its own code.
 */
struct start {
	size_t count;
	long numbers[BOUNDARIES_MAX];
};

/* Of the command, and of what it becomes for some verbs. */
struct starts {
	struct start tsem;
	struct start view;
	struct start top;
};

void points_learn_starts(const struct tools *tools, struct starts *starts);

/* Adds the points of a situation, which was played without harm. */
void points_add(struct points *points, const struct situation *situation, const struct played *played,
                const struct starts *starts);

/*
 * At random, but a few points of each situation and action come first, and those at which other processes see no difference
 * come last.
 */
void points_put_in_order(struct points *points, unsigned long seed);

/* The words that --play takes. */
void point_to_text(const struct point *point, char text[POINT_TEXT]);
bool point_from_words(const char *const words[3], struct point *point);

#endif

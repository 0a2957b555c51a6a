/* SPDX-License-Identifier: MIT */
/* Plays one point of a plan and judges what is left. */
#ifndef TSEM_TESTS_CRASH_PLAY_H
#define TSEM_TESTS_CRASH_PLAY_H

#include "plan.h"
#include "scene.h"
#include "trace.h"

enum verdict { PLAY_FINE, PLAY_NOT_APPLICABLE, PLAY_FAULT };

struct played {
	enum verdict verdict;
	bool reached;    /* the first one got to step k, and no other way */
	bool sleeps;     /* and, where the plan says so, asleep behind it */
	bool ambiguous;  /* it was killed within an operation on permits that nobody is recorded for: */
	bool happened;   /* had it happened? */
	char fault[256]; /* in words */
};

/* `first` and `second`: the traces to follow. */
void play(struct scene *scene, const struct plan *plan, const struct trace *first, const struct trace *second,
          struct played *played);

/* Steps the first one's operation from end to end, nobody being killed, and notes each step. */
void play_and_learn(struct scene *scene, const struct plan *plan, struct trace *trace, struct played *played);

#endif

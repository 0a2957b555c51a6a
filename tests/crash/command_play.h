/* SPDX-License-Identifier: MIT */
/* Plays one point: a situation, an action, and the boundary at which it happens; and judges what is left. */
#ifndef TSEM_TESTS_CRASH_COMMAND_PLAY_H
#define TSEM_TESTS_CRASH_COMMAND_PLAY_H

#include <stdio.h>

#include "command_scene.h"

enum action {
	ACTION_NONE,
	ACTION_KILL_COMMAND,
	ACTION_KILL_CHILD,
	ACTION_KILL_BOTH,
	ACTION_TERM,
	ACTION_INT,
	ACTION_HUP,
	ACTION_STOP,   /* other commands run whole meanwhile */
	ACTION_ORPHAN, /* the command is killed, and its child stands still while other commands run whole */
	ACTION_ERROR,
	ACTIONS
};

extern const char *const action_names[ACTIONS];

struct point {
	const struct situation *situation;
	enum action action;
	int error;
	enum role role;
	unsigned index;
	bool dull; /* others see no difference to one before: comes last */
};

enum { FAULT_TEXT = 512, BOUNDARIES_MAX = 4096 };

struct played {
	bool reached;
	struct boundary at;
	char fault[FAULT_TEXT];      /* empty: none */
	struct boundary *boundaries; /* if not NULL: all that there were, up to BOUNDARIES_MAX */
	size_t boundary_count;
};

struct play {
	struct scene scene;
	const struct point *point;
	struct played *played;
	FILE *log;  /* NULL: none */
	pid_t held; /* the member that stands still */
	bool over;  /* the command has ended: what is traced now is left alone */
	bool others_ran;
	bool removed; /* one of the others has removed the semaphore */
	bool worked;  /* the child was seen at work */
};

void play(const struct tools *tools, const struct point *point, FILE *log, struct played *played);

/* For the books: the first fault counts. */
__attribute__((format(printf, 2, 3))) void play_fault(struct play *play, const char *format, ...);

/* While the child is at work. */
void books_check_work(struct play *play);
/* When the family is gone. */
void books_close(struct play *play);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Runs one point and checks what it leaves. A point is a situation, an action, and the boundary at which the action
 * happens.
 */
#ifndef TSEM_TESTS_CRASH_COMMAND_RUN_H
#define TSEM_TESTS_CRASH_COMMAND_RUN_H

#include <stdio.h>

#include "command_fixture.h"

enum action {
	ACTION_NONE,
	ACTION_KILL_COMMAND,
	ACTION_KILL_CHILD,
	ACTION_KILL_BOTH,
	ACTION_TERM,
	ACTION_INT,
	ACTION_HUP,
	ACTION_STOP,   /* the member is stopped while other commands run from beginning to end */
	ACTION_ORPHAN, /* the command is killed, and its child is stopped while other commands run from beginning to end */
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
	bool redundant; /* other processes see no difference to another point: comes last */
};

enum { FAULT_TEXT = 512, BOUNDARIES_MAX = 4096 };

struct result {
	bool reached;
	struct boundary at;
	char fault[FAULT_TEXT];      /* empty: none */
	struct boundary *boundaries; /* if not NULL: all boundaries of the run, up to BOUNDARIES_MAX */
	size_t boundary_count;
};

struct run {
	struct fixture fixture;
	const struct point *point;
	struct result *result;
	FILE *log;  /* NULL: none */
	pid_t held; /* the member that is stopped */
	bool over;  /* the command has ended: the action happens no more */
	bool others_ran;
	bool removed; /* one of the other commands has removed the semaphore */
	bool worked;  /* the child was seen at work */
};

void run_point(const struct tools *tools, const struct point *point, FILE *log, struct result *result);

/* Notes a fault; only the first one counts. */
__attribute__((format(printf, 2, 3))) void run_fault(struct run *run, const char *format, ...);

/* Called while the child is at work. */
void invariants_check_running(struct run *run);
/* Called when the family has ended. */
void invariants_check_end(struct run *run);

#endif

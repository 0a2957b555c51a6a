/* SPDX-License-Identifier: MIT */
/*
 * The processes of one point: the family of the traced command, which stops before and behind each system call, and the
 * companions beside it, which are not traced.
 */
#ifndef TSEM_TESTS_CRASH_COMMAND_STAGE_H
#define TSEM_TESTS_CRASH_COMMAND_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "command_calls.h"

enum { MEMBERS_MAX = 32, COMPANIONS_MAX = 32 };

/* Of the processes of the family: `tsem` itself, the first process that it starts, and the rest. */
enum role { ROLE_COMMAND, ROLE_CHILD, ROLE_OTHER, ROLES };

/* A thread of the family. */
struct member {
	pid_t pid;
	enum role role;
	bool known;        /* its parent's stop has said what it is */
	bool held;         /* at a boundary, until stage_let_go() */
	bool in_call;      /* between the entry and the exit */
	unsigned executed; /* how many programs the process has become */
	int error;         /* of the call that it is in: what is returned in its place */
	struct call call;
};

/* One stop before or behind a system call. */
struct boundary {
	enum role role;
	unsigned index; /* counted for each role */
	unsigned executed;
	struct call call;
};

/* False: the member is held there. */
typedef bool boundary_fn(void *arg, struct member *member, const struct boundary *boundary);

struct companion {
	pid_t pid;
	int fd; /* to it and from it */
	bool ended;
	int status;
};

struct stage {
	struct member members[MEMBERS_MAX];
	size_t n;
	pid_t pid[ROLES]; /* of the process, 0: there was none */
	bool ended[ROLES];
	int status[ROLES];
	unsigned boundaries[ROLES];
	boundary_fn *at_boundary;
	void *arg;
	struct companion companions[COMPANIONS_MAX];
	size_t companion_count;
};

/* Waits for the next event of any process for so long; false if there was none. */
bool stage_await(struct stage *stage, unsigned milliseconds);

/* ---- the family ---- */

/* Starts the command, traced from its first instruction on. */
void stage_start(struct stage *stage, char *const argv[], const int standard[3]);
bool stage_is_gone(const struct stage *stage);
/* Every member that is not held sleeps. */
bool stage_is_quiet(const struct stage *stage);
bool stage_lives(const struct stage *stage, enum role role);
/* Whether the child is another program already. */
bool stage_child_runs(const struct stage *stage);
/* Whether the child is a program that waits for its standard input. */
bool stage_child_works(const struct stage *stage);
void stage_let_go(struct stage *stage, pid_t pid);

/* ---- companions ---- */

struct companion *companion_fork(struct stage *stage, int (*act)(int fd, const void *arg), const void *arg);
struct companion *companion_run(struct stage *stage, char *const argv[], const int standard[3]);
bool companion_end(struct stage *stage, struct companion *companion, double seconds); /* false: it does not */
void companion_kill(struct stage *stage, struct companion *companion);
/* Kills all, and reaps what has been left to this process; false if a process is left that it does not know. */
bool stage_clear(struct stage *stage);

#endif

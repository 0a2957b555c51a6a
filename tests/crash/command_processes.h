/* SPDX-License-Identifier: MIT */
/*
 * The processes of one point: the family, which is the traced command and its descendants, and companions beside it,
 * which are not traced. The members of the family stop before and after each system call.
 */
#ifndef TSEM_TESTS_CRASH_COMMAND_PROCESSES_H
#define TSEM_TESTS_CRASH_COMMAND_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "command_calls.h"

enum { MEMBERS_MAX = 32, COMPANIONS_MAX = 32 };

/* The roles in the family: `tsem` itself, the first process that it starts, and all others. */
enum role { ROLE_COMMAND, ROLE_CHILD, ROLE_OTHER, ROLES };

/* A thread of the family. */
struct member {
	pid_t pid;
	enum role role;
	bool known;        /* its parent's stop has given its role */
	bool held;         /* stopped at a boundary until processes_resume() */
	bool in_call;      /* between the entry and the exit */
	unsigned executed; /* how often the process has executed a program */
	int error;         /* the error that replaces the result of the current call */
	struct call call;
};

/* A stop before or after a system call. */
struct boundary {
	enum role role;
	unsigned index; /* counted for each role */
	unsigned executed;
	struct call call;
};

/* False: the member stays stopped there. */
typedef bool boundary_fn(void *arg, struct member *member, const struct boundary *boundary);

struct companion {
	pid_t pid;
	int fd; /* a socket to the companion */
	bool ended;
	int status;
};

struct processes {
	struct member members[MEMBERS_MAX];
	size_t n;
	pid_t pid[ROLES]; /* of the process; 0: there was none */
	bool ended[ROLES];
	int status[ROLES];
	unsigned boundaries[ROLES];
	boundary_fn *at_boundary;
	void *arg;
	struct companion companions[COMPANIONS_MAX];
	size_t companion_count;
	double waited; /* seconds of all processes_await() */
};

/*
 * Waits for the next event of any process, for at most this long. False if there was none. `waited` grows by at most
 * this long: the time in which the machine or the sweep itself stands still is no reason to take a process for one that
 * hangs.
 */
bool processes_await(struct processes *processes, unsigned milliseconds);

/* ---- the family ---- */

/* Starts the command, traced from its first instruction on. */
void processes_start(struct processes *processes, char *const argv[], const int standard[3]);
bool processes_are_gone(const struct processes *processes);
/* Whether every member sleeps that is not held. */
bool processes_are_asleep(const struct processes *processes);
bool processes_has_live(const struct processes *processes, enum role role);
/* Whether the child has executed a program. */
bool processes_child_runs(const struct processes *processes);
/* Whether the child has executed a program that waits for its standard input. */
bool processes_child_works(const struct processes *processes);
void processes_resume(struct processes *processes, pid_t pid);

/* ---- companions ---- */

struct companion *companion_fork(struct processes *processes, int (*act)(int fd, const void *arg), const void *arg);
struct companion *companion_run(struct processes *processes, char *const argv[], const int standard[3]);
/* False: it has not ended after this long a wait. */
bool companion_end(struct processes *processes, struct companion *companion, double seconds);
/* For each of the process and its children: the state, the time that it ran and was queued in ns, system call, wait channel. */
void processes_describe(pid_t pid, char text[256]);
void companion_kill(struct processes *processes, struct companion *companion);
/* Kills and reaps all. False if there is a child that this structure does not know. */
bool processes_end_all(struct processes *processes);

#endif

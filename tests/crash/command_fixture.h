/* SPDX-License-Identifier: MIT */
/* What a command finds when it starts: semaphores, and processes that hold, wait, or have died. */
#ifndef TSEM_TESTS_CRASH_COMMAND_FIXTURE_H
#define TSEM_TESTS_CRASH_COMMAND_FIXTURE_H

#include "command_processes.h"
#include "tsem.h"

enum {
	HOLDER = 1 << 0,       /* a process holds the permit, and releases it when the command sleeps */
	HOLDER_STAYS = 1 << 1, /* a process holds the permit until the command has ended */
	DEAD_HOLDER = 1 << 2,  /* a process has died while it held the permit */
	WAITER = 1 << 3,       /* a process waits in the queue */
	TAKEN = 1 << 4,        /* one permit was taken anonymously */
	OWNER = 1 << 5,        /* there is a process that the command can acquire for */
	OWNED = 1 << 6,        /* that process holds the permit */
	SECOND = 1 << 7,       /* there is a second semaphore */
	RUNS = 1 << 8,         /* the command starts a program, which waits for its standard input */
	LINKED = 1 << 9,       /* files without a name cannot be made */
	FREE = 1 << 10,        /* the command never has a permit, and no process holds one: a try succeeds at any time */
	CONTAINED = 1 << 12,   /* the command is in a PID namespace of its own, whose processes other commands cannot see */
	BACKGROUND = 1 << 13,  /* the first process that the command starts runs the program, and is to succeed */
	MAY_FAIL = 1 << 11,    /* if a call fails, the status may be 75: the death of the holder is not noticed */
};

/* What the command changes if it succeeds. */
enum effect {
	EFFECT_NONE,
	EFFECT_TAKES,
	EFFECT_POSTS,
	EFFECT_CREATES,
	EFFECT_REMOVES,
	EFFECT_SETS,
	EFFECT_HOLDS,
	EFFECT_RELEASES
};

enum { WORDS_MAX = 12 };

struct situation {
	const char *name;
	const char *words[WORDS_MAX]; /* "{1}" and "{2}" are the names, "{pid}" is the owner, "{work}" the program to run */
	unsigned permits;             /* of each semaphore; 0: there is none */
	unsigned flags;
	enum effect effect;
	unsigned to; /* the capacity that EFFECT_SETS sets */
	int status;
};

extern const struct situation situations[];
extern const size_t situation_count;

/* What all points have in common. */
struct tools {
	const char *tsem;
	const char *work;
	char names[2][48];
	bool alone; /* in a /dev/shm that no other process uses */
	int null, out, err, other_out, other_err;
};

struct fixture {
	struct processes processes;
	const struct tools *tools;
	const struct situation *situation;
	struct companion *holder;
	struct companion *waiter;
	struct companion *owner;
	struct companion *first;    /* the first process of the command's own PID namespace; NULL: it has none */
	struct companion *newcomer; /* holds a permit of a new semaphore with the same name */
	tsem *old[2];               /* handles that were opened before the command started */
	struct tsem_stat before[2];
	int input; /* the command's standard input; -1: closed */
};

void fixture_open(struct fixture *fixture, const struct tools *tools, const struct situation *situation);
/* Starts `tsem` with these words, traced. */
void fixture_start(struct fixture *fixture, const char *const words[]);
void fixture_start_newcomer(struct fixture *fixture);
/* False if there is a process that does not belong to the fixture. */
bool fixture_close(struct fixture *fixture);

/* Makes the holder or the newcomer release. False if it could not. */
bool fixture_release(struct fixture *fixture, struct companion *holder);
void fixture_end_input(struct fixture *fixture);

/*
 * Runs `tsem` with these words, not traced. `text` receives its standard output. -1: it has not ended in time; `text` says
 * what it does instead.
 */
int fixture_run(struct fixture *fixture, const char *const words[], char text[256]);

/* The semaphore as it is now. False if there is none. */
bool fixture_stat(const char *name, struct tsem_stat *stat);

void read_text(int fd, char *text, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* What there is when a command starts: the semaphores, and the processes that hold, wait, or have died. */
#ifndef TSEM_TESTS_CRASH_COMMAND_SCENE_H
#define TSEM_TESTS_CRASH_COMMAND_SCENE_H

#include "command_stage.h"
#include "tsem.h"

enum {
	HOLDER = 1 << 0,       /* a process holds the permit, and releases it when the command sleeps */
	HOLDER_STAYS = 1 << 1, /* the same, until the command has ended */
	DEAD_HOLDER = 1 << 2,  /* a process has died with the permit */
	WAITER = 1 << 3,       /* a process waits in line */
	TAKEN = 1 << 4,        /* one permit was taken anonymously */
	OWNER = 1 << 5,        /* there is a process to hold for */
	OWNED = 1 << 6,        /* and it holds the permit */
	SECOND = 1 << 7,       /* there is a second semaphore */
	RUNS = 1 << 8,         /* the command starts another one, which waits for its standard input */
	LINKED = 1 << 9,       /* files without a name cannot be made */
	FREE = 1 << 10,        /* the command never has a permit, and nothing else has one: a try succeeds at any time */
	MAY_FAIL = 1 << 11,    /* where a call fails, the status may be 75: the look at the dead holder was in vain */
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
	unsigned permits;             /* of the semaphores; 0: there is none */
	unsigned flags;
	enum effect effect;
	unsigned to; /* the capacity that EFFECT_SETS sets */
	int status;
};

extern const struct situation situations[];
extern const size_t situation_count;

/* What stays the same from point to point. */
struct tools {
	const char *tsem;
	const char *work;
	char names[2][48];
	bool alone; /* in a /dev/shm that no other process uses */
	int null, out, err, other_out, other_err;
};

struct scene {
	struct stage stage;
	const struct tools *tools;
	const struct situation *situation;
	struct companion *holder;
	struct companion *waiter;
	struct companion *owner;
	struct companion *newcomer; /* holds a permit of a semaphore that has taken the name */
	tsem *old[2];               /* handles from before the command */
	struct tsem_stat before[2];
	int input; /* the command's standard input; -1: it has ended */
};

void scene_open(struct scene *scene, const struct tools *tools, const struct situation *situation);
/* Starts `tsem` with these words, traced. */
void scene_start(struct scene *scene, const char *const words[]);
void scene_start_newcomer(struct scene *scene);
/* False if a process is left that belongs to no part of the scene. */
bool scene_close(struct scene *scene);

/* The holder or the newcomer releases; false if it could not. */
bool scene_release(struct scene *scene, struct companion *holder);
void scene_end_input(struct scene *scene);

/* Runs `tsem` with these words, not traced; -1: it has not ended in time. `text` receives its standard output. */
int scene_run(struct scene *scene, const char *const words[], char text[256]);

/* The semaphore as it is now; false if there is none. */
bool scene_stat(const char *name, struct tsem_stat *stat);

void read_text(int fd, char *text, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* Situations in which a thread is cancelled that calls the library. */
#ifndef TSEM_TESTS_SITUATIONS_H
#define TSEM_TESTS_SITUATIONS_H

#include "support.h"

enum { CAPACITY = 100, PROCESSES_MAX = 3 };

/* What a situation consists of, in memory that the test shares with the process that acts in it. */
struct scene {
	tsem *sem; /* opened before the process was forked, which therefore has to find out who it is */
	tsem *other;
	const char *name;
	const char *unused; /* a name that no semaphore has */
	tsem_hold lent;
	pid_t processes[PROCESSES_MAX];
	uint32_t n;
	int lock; /* a descriptor */
	/* What became of it. */
	int line; /* of the last call */
	bool returned;
	bool as_expected;
	bool cancelled;
	struct tsem_stat stat;
};

struct situation {
	const char *function;
	const char *what;
	void (*arrange)(struct scene *scene);
	bool (*act)(struct scene *scene);
	uint32_t held; /* of scene->sem, afterwards */
};

extern const struct situation situations[];
extern const size_t situation_count;

/* One needs another process for it that is not a child of ThreadSanitizer's vfork(). */
bool needs_vfork(const struct situation *situation);

/* ---- arrangements of a semaphore with one permit ---- */

void nothing(struct scene *scene);
void held(struct scene *scene);

/* The holder is a zombie: its pid is still there, and /proc says that it is dead. */
void held_by_the_dead(struct scene *scene);

/* The holder lives, but /proc shows a zombie, so that a descriptor of the process has to tell. */
void held_without_first_thread(struct scene *scene);

void process_beside(struct scene *scene);
void lent_to_the_dead(struct scene *scene);

/* The permit is taken, and another process waits for it. */
void waited_for(struct scene *scene);

/* A place that was given up is behind the waiter. */
void waited_for_and_given_up(struct scene *scene);

void both_held(struct scene *scene);

/* To CAPACITY. */
void capacity_raised(struct scene *scene);

/* There is a semaphore under the unused name, and a process that has nothing to do with it has locked its file. */
void locked(struct scene *scene);

/* There is a file under the unused name. */
void no_semaphore_at_all(struct scene *scene);

#endif

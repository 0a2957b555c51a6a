/* SPDX-License-Identifier: MIT */
/* Situations in which the library is called by a thread that is being cancelled. */
#ifndef TSEM_TESTS_SITUATIONS_H
#define TSEM_TESTS_SITUATIONS_H

#include "support.h"

enum { CAPACITY = 100, PROCESSES_MAX = 3 };

/* The data of a situation, in memory that the test shares with the process that runs the situation. */
struct setup {
	tsem *sem; /* opened before the process was forked, so the process has to find out its identity */
	tsem *other;
	const char *name;
	const char *unused; /* a name that no semaphore has */
	tsem_hold lent;
	pid_t processes[PROCESSES_MAX];
	uint32_t n;
	int lock; /* a descriptor */
	/* The results. */
	int line; /* of the last call */
	bool returned;
	bool as_expected;
	bool cancelled;
	struct tsem_stat stat;
};

struct situation {
	const char *function;
	const char *what;
	void (*arrange)(struct setup *setup);
	bool (*act)(struct setup *setup);
	uint32_t held; /* of the semaphore, at the end */
};

extern const struct situation situations[];
extern const size_t situation_count;

/* The situation needs a process that is not a child of ThreadSanitizer's vfork(). */
bool needs_vfork(const struct situation *situation);

/* ---- arrangements of a semaphore with one permit ---- */

void nothing(struct setup *setup);
void held(struct setup *setup);

/* The holder is a zombie: its pid exists, and /proc says that it is dead. */
void held_by_a_dead_process(struct setup *setup);

/* The holder lives, but /proc shows a zombie, so that only a pidfd can tell that it lives. */
void held_without_first_thread(struct setup *setup);

void process_beside(struct setup *setup);
void lent_to_a_dead_process(struct setup *setup);

/* The permit is taken, and another process waits for it. */
void waited_for(struct setup *setup);

/* A ticket behind the waiter was given up. */
void waited_for_and_given_up(struct setup *setup);

void both_held(struct setup *setup);

/* To CAPACITY. */
void capacity_raised(struct setup *setup);

/* The unused name has a semaphore whose file another process has locked. */
void locked(struct setup *setup);

/* The unused name has a file that is no semaphore. */
void no_semaphore_at_all(struct setup *setup);

#endif

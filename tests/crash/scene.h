/* SPDX-License-Identifier: MIT */
/* Where the operations take place: a semaphore, and the processes that stand around it without being stepped. */
#ifndef TSEM_TESTS_CRASH_SCENE_H
#define TSEM_TESTS_CRASH_SCENE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "layout.h"
#include "operation.h"

struct bystander {
	_Atomic bool admitted;
	_Atomic bool may_go;
	_Atomic int result;
	bool told; /* that a permit had come back from a dead holder */
};

struct shared {
	struct actor actors[2];
	struct bystander bystander;
};

enum { CAPACITY_MAX = 3, SLOTS_LOOKED_AT = 8 };

struct scene {
	char name[64];
	char absent[80];
	uint32_t capacity;
	tsem *sem;
	tsem *beside[BESIDE];
	void *own_memory; /* the first of those is in */
	struct shared *shared;
	unsigned char *before; /* what scene_changes() compares with */
};

/*
 * The table has a few records only, so that an operation that looks at all of them takes some hundred steps and not
 * some thousand: the instructions are the same.
 */
void scene_open(struct scene *scene, uint32_t capacity);
void scene_close(struct scene *scene);

/* What the process `driver` may have left behind if it was killed. */
void scene_sweep_up(pid_t driver);

/* The same start every time, so that an operation takes the same steps: hints and time stamps, which may say anything. */
void scene_reset(struct scene *scene);
void scene_reset_hints(struct tsem *sem);

/* What others can see that has changed since the last call: NOTE_CHANGE and NOTE_BESIDE of enum note. */
unsigned scene_changes(struct scene *scene);

/* The first record that belongs to `pid`, and its state; NULL if there is none. */
const struct record *scene_record_of(const struct scene *scene, pid_t pid, enum state_kind *state);

/* A process that does nothing, to hand holds over to. */
pid_t scene_start_other(void);

/* A dead process that held what was available, and stood in line for more. False if it did not come to that. */
bool scene_leave_dead(const struct scene *scene, bool zombie, pid_t *pid);

/* A process that acquires one permit and keeps it until it may go; in line, or already admitted, at return. */
pid_t scene_start_bystander(const struct scene *scene);

void process_end(pid_t pid);

#endif

/* SPDX-License-Identifier: MIT */
/* What operations run on: a semaphore, and the processes around it that are not stepped. */
#ifndef TSEM_TESTS_CRASH_FIXTURE_H
#define TSEM_TESTS_CRASH_FIXTURE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "layout.h"
#include "operation.h"

struct bystander {
	_Atomic bool admitted;
	_Atomic bool may_go;
	_Atomic int result;
	bool notified; /* tsem_hold_recovered() was true */
};

struct shared {
	struct executor executors[2];
	struct bystander bystander;
};

enum { CAPACITY_MAX = 3, SLOTS_LOOKED_AT = 8 };

struct fixture {
	char name[64];
	char absent[80];
	uint32_t capacity;
	tsem *sem;
	tsem *beside[BESIDE];
	void *own_memory; /* the first of `beside` is here */
	struct shared *shared;
	unsigned char *before; /* the copy that fixture_changes() compares with */
};

/*
 * The table has few records, so that an operation that reads all of them takes some hundred steps instead of some
 * thousand. The instructions are the same.
 */
void fixture_open(struct fixture *fixture, uint32_t capacity);
void fixture_close(struct fixture *fixture);

/* Removes what a killed process `driver` may have left. */
void fixture_clean_up_after(pid_t driver);

/* Resets hints and time stamps, which may have any value, so that an operation takes the same steps each time. */
void fixture_reset(struct fixture *fixture);
void fixture_reset_hints(struct tsem *sem);

/* What has changed for other processes since the last call: NOTE_CHANGE and NOTE_BESIDE of enum note. */
unsigned fixture_changes(struct fixture *fixture);

/*
 * The first record that belongs to the process with this number in its own PID namespace, and its state; NULL if there
 * is none.
 */
const struct record *fixture_record_of(const struct fixture *fixture, pid_t pid, enum state_kind *state);

/* As fork(). The child is in a PID namespace of other processes than the driver's. */
pid_t fixture_fork_contained(void);

/* A process that does nothing, to hand holds over to. */
pid_t fixture_start_other(void);

/* Leaves a dead process that held all available permits and waited for one more. False if it could not. */
bool fixture_leave_dead_process(const struct fixture *fixture, bool zombie, pid_t *pid);

/* Starts a process that acquires one permit and holds it until it may go. Returns when it waits or holds. */
pid_t fixture_start_bystander(const struct fixture *fixture);

void process_end(pid_t pid);

#endif

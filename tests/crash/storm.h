/* SPDX-License-Identifier: MIT */
/*
 * The storm: hundreds of processes use a few semaphores while they are killed, stopped and signalled; a witness of its
 * own, which never asks a semaphore, watches that nobody is admitted who should not be.
 */
#ifndef TSEM_TESTS_CRASH_STORM_H
#define TSEM_TESTS_CRASH_STORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tsem.h"

/*
 * SINGLE has one permit and keeps it. Those from SET_FIRST on, up to ANONYMOUS, change their capacity; waiters of the last
 * of them are told to give up now and then. SET_FIRST is in memory of this program's own. ANONYMOUS has a maximum, of which
 * every other worker knows nothing: there are two roads for a post.
 */
enum {
	SEMAPHORES = 4,
	SINGLE = 0,
	SET_FIRST = 1,
	CANCELLED = 2,
	ANONYMOUS = 3,
	WORKERS_MAX = 1000,
	CHANGES_MAX = 1 << 18, /* for about half an hour; then the capacities stay */
	STORM_FAULTS_MAX = 5,
	MOST_POSTED = 1 << 24,              /* the maximum */
	TOO_MANY = MOST_POSTED + (1 << 16), /* whoever waits */
};

/* How a worker stands to the semaphore it uses, as it knows itself. */
enum stand {
	STAND_OUT,     /* has nothing that it knows of */
	STAND_CALLING, /* has called, and may have a ticket already */
	STAND_IN_LINE, /* has a ticket, for certain */
	STAND_HOLDING, /* has been admitted; set behind the acquire, cleared before the release */
	STAND_POSTING, /* an anonymous post may have happened */
};

/*
 * Written by the worker alone. Entries under-count: a worker that was admitted and has not said so is missing. So more
 * than the capacity among them is a proof of over-admission, whatever else happens.
 */
struct entry {
	_Atomic uint64_t word;   /* version << 8 | semaphore << 4 | stand; no value comes twice */
	_Atomic uint64_t called; /* sequence number from before the call */
	_Atomic uint64_t lined;  /* and from when it stood in line */
	_Atomic uint64_t since;  /* and from when it had been admitted */
	_Atomic uint32_t count;
	_Atomic bool patient;    /* will not give up its place */
	_Atomic uint64_t change; /* of a capacity, that it is about: index + 1, and the semaphore above */
	_Atomic bool doomed;     /* set before SIGKILL is sent: what it had may be somebody else's from now on */
	_Atomic int pid;
};

/* One call of tsem_set. */
struct change {
	_Atomic uint64_t began; /* sequence numbers, from before the call, 0 as long as it has not come to that; */
	_Atomic uint64_t ended; /* and from behind it, or from behind the caller's death; 0 until then */
	_Atomic bool certain;   /* it returned */
	uint32_t capacity;
};

struct storm {
	char names[SEMAPHORES][64];
	uint32_t capacity[SEMAPHORES];
	tsem *sems[SEMAPHORES];
	uint64_t seed;
	unsigned workers;
	_Atomic bool ending;
	_Atomic uint64_t sequence;
	_Atomic uint64_t surplus; /* permits of the anonymous one that the driver may have posted in excess */
	_Atomic unsigned faults;
	_Atomic uint64_t cancelled;                         /* sequence number from before the last tsem_cancel */
	_Atomic uint64_t died;                              /* the same, before the last death of a holder of SINGLE */
	_Atomic uint64_t told;                              /* and when a holder of it was last told that one had died */
	_Atomic uint64_t slots[SEMAPHORES][TSEM_SLOTS_MAX]; /* who says that it has it: see witness_slot() */
	_Atomic uint32_t change_count[SEMAPHORES];
	_Atomic uint32_t change_first[SEMAPHORES]; /* nobody can claim those before it any more */
	struct change changes[SEMAPHORES][CHANGES_MAX];
	_Atomic uint64_t several[2];
	_Atomic uint64_t tellings;
	_Atomic uint64_t idle[2];
	_Atomic uint64_t admissions[SEMAPHORES];
	_Atomic uint64_t waits[SEMAPHORES];
	_Atomic uint64_t timeouts;
	_Atomic uint64_t cancels;
	_Atomic uint64_t handed_over;
	_Atomic uint64_t checks;
	_Atomic uint64_t most[SEMAPHORES]; /* permits seen held at once */
	uint64_t most_locked[SEMAPHORES];  /* the same, as the locks show it */
	unsigned faults_from_outside;      /* of all faults, those that the locks show */
	bool intruders;                    /* some workers go in without asking, and the locks have to show that */
	struct entry entries[WORKERS_MAX];
};

/* ---- a generator that a seed replays ---- */

static inline uint64_t
next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline unsigned
below(uint64_t *state, unsigned limit)
{
	return (unsigned)(next_random(state) % limit);
}

/* ---- witness.c ---- */

void witness_stand(struct storm *storm, unsigned worker, unsigned semaphore, enum stand stand);
enum stand witness_stands(const struct storm *storm, unsigned worker, unsigned *semaphore);

/* Called by a worker that has just been admitted to `semaphore`: looks whether that can be right. */
void witness_check(struct storm *storm, unsigned worker, unsigned semaphore);

/* A slot of a hold of `semaphore` that the worker says it has, and that it is about to give back. */
void witness_slot(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t slot);
void witness_slot_end(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t slot);

/* Whether the worker's hold of SINGLE came with the word of a dead one; `died` is storm->died from before its call. */
void witness_told(struct storm *storm, bool told, uint64_t died);

/* Who holds permits of `semaphore`, and whether one of them has held them all the time since. */
void witness_note_holders(const struct storm *storm, unsigned semaphore, uint64_t words[WORKERS_MAX]);
bool witness_still_holds(const struct storm *storm, const uint64_t words[WORKERS_MAX]);

/* ---- storm_locks.c ---- */

/* Before the workers are started. */
void storm_create_locks(void);

/* A worker says to the kernel that it has permits, and that it is about to give them back. */
void storm_lock(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t count);
void storm_unlock(struct storm *storm, unsigned worker, unsigned semaphore);

/* By the driver while all workers are stopped: not more permits are held than there can be. */
void storm_count_locks(struct storm *storm, unsigned semaphore);

/* ---- storm_capacity.c ---- */

/* Sets another capacity; `change`, if not NULL, says meanwhile which one, for storm_abandon_change(). */
void storm_set_capacity(struct storm *storm, unsigned semaphore, uint32_t capacity, _Atomic uint64_t *change);

/* The setter is dead: it may have done it or not. */
void storm_abandon_change(struct storm *storm, uint64_t change);

/* Forgets those that nobody who is inside or has called, nor anybody who comes, can claim. By the driver alone. */
void storm_forget_changes(struct storm *storm, unsigned semaphore);

/* The largest capacity that may have been in force at some time since `from`. */
uint32_t storm_claimable(const struct storm *storm, unsigned semaphore, uint64_t from);

void storm_fault(struct storm *storm, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- storm_books.c ---- */

void storm_close_books(struct storm *storm, unsigned semaphore);

/* ---- storm_worker.c ---- */

/* What the worker says of itself, for the others. */
void storm_call(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t count, bool patient);
void storm_be_admitted(struct storm *storm, unsigned worker, unsigned semaphore);
void storm_pass_time(uint64_t *state);
void storm_expect(struct storm *storm, unsigned semaphore, int rc, int also, const char *state);

/* ---- storm_rest.c ---- */

/* Everything but acquiring, taking and giving back one by one. */
void storm_do_something_else(struct storm *storm, unsigned worker, uint64_t *state);

_Noreturn void storm_work(struct storm *storm, unsigned worker, unsigned life);

#endif

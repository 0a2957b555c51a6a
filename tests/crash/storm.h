/* SPDX-License-Identifier: MIT */
/*
 * The storm: hundreds of processes use a few semaphores while they are killed, stopped and signalled. A monitor that
 * does not read the semaphores checks that no process is admitted too early.
 */
#ifndef TSEM_TESTS_CRASH_STORM_H
#define TSEM_TESTS_CRASH_STORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tsem.h"

/*
 * SINGLE always has one permit. The capacities of SET_FIRST to CANCELLED change, and waiters of CANCELLED are cancelled
 * now and then. SET_FIRST is in memory of this program. ANONYMOUS has a maximum; every second worker does not know it,
 * so that posts take both paths.
 *
 * The first workers are in a few PID namespaces of their own, if that is permitted. The first worker of a namespace is
 * its first process, so the others die with it. These workers do not use SET_FIRST: it has no file, so it has no locks.
 */
enum {
	SEMAPHORES = 4,
	SINGLE = 0,
	SET_FIRST = 1,
	CANCELLED = 2,
	ANONYMOUS = 3,
	WORKERS_MAX = 1000,
	CHANGES_MAX = 1 << 18, /* enough for half an hour; after that the capacities stay */
	STORM_FAULTS_MAX = 5,
	NAMESPACES = 4,
	NAMESPACE_WORKERS = 4,              /* of each */
	MOST_POSTED = 1 << 24,              /* the maximum */
	TOO_MANY = MOST_POSTED + (1 << 16), /* beyond the maximum, whatever the number of waiters */
};

/* What a worker does with the semaphore that it uses, as far as the worker knows. */
enum activity {
	ACTIVITY_NONE,    /* has no permit that it knows of */
	ACTIVITY_CALLING, /* has called, and may have a ticket */
	ACTIVITY_QUEUED,  /* has a ticket */
	ACTIVITY_HOLDING, /* has been admitted; set after the acquire, cleared before the release */
	ACTIVITY_POSTING, /* may have posted */
};

/*
 * Only the worker writes its entry. Entries under-count, because a worker may be admitted before it says so. So if the
 * entries add up to more than the capacity, a worker was admitted too early.
 */
struct entry {
	_Atomic uint64_t word;        /* version << 8 | semaphore << 4 | activity; no value occurs twice */
	_Atomic uint64_t called_at;   /* sequence number from before the call */
	_Atomic uint64_t queued_at;   /* sequence number from when it had its ticket */
	_Atomic uint64_t admitted_at; /* sequence number from when it had been admitted */
	_Atomic uint32_t count;
	_Atomic bool stays;      /* waits until it is admitted */
	_Atomic bool cancels;    /* waiters of CANCELLED, or died of that; until storm_end_cancel() */
	_Atomic uint64_t change; /* its present change of a capacity: semaphore in the upper half, index + 1 */
	_Atomic bool doomed;     /* set before SIGKILL is sent: another worker may get its permits from now on */
	_Atomic int pid;
};

/* One call of tsem_set(). */
struct change {
	_Atomic uint64_t began; /* a sequence number from before the call; 0 until then */
	_Atomic uint64_t ended; /* a sequence number from after the call or after the caller's death; 0 until then */
	_Atomic bool certain;   /* the call returned 0 */
	uint32_t capacity;
};

struct storm {
	char names[SEMAPHORES][64];
	uint32_t capacity[SEMAPHORES];
	tsem *sems[SEMAPHORES];
	uint64_t seed;
	unsigned workers;
	unsigned contained; /* the number of workers in PID namespaces of their own */
	_Atomic bool ending;
	_Atomic uint64_t sequence;
	_Atomic uint64_t surplus; /* permits of ANONYMOUS that the driver may have posted in excess */
	_Atomic unsigned faults;
	_Atomic uint64_t cancelled;   /* sequence number from after the last tsem_cancel() */
	_Atomic uint64_t died;        /* sequence number from before the last death of a holder of SINGLE */
	_Atomic uint64_t notified_at; /* sequence number from when a holder of SINGLE last learnt of a death */
	_Atomic uint64_t slots[SEMAPHORES][TSEM_SLOTS_MAX]; /* the holder of each slot: see monitor_slot() */
	_Atomic uint32_t change_count[SEMAPHORES];
	_Atomic uint32_t change_first[SEMAPHORES]; /* earlier changes cannot be claimed any more */
	struct change changes[SEMAPHORES][CHANGES_MAX];
	_Atomic uint64_t several[2];
	_Atomic uint64_t notifications;
	_Atomic uint64_t idle[2];
	_Atomic uint64_t admissions[SEMAPHORES];
	_Atomic uint64_t waits[SEMAPHORES];
	_Atomic uint64_t timeouts;
	_Atomic uint64_t cancels;
	_Atomic uint64_t handed_over;
	_Atomic uint64_t checks;
	_Atomic uint64_t most[SEMAPHORES]; /* permits seen held at once */
	uint64_t most_locked[SEMAPHORES];  /* the same, as the locks show it */
	unsigned faults_by_locks;          /* the faults among them that the locks show */
	bool violations;                   /* some workers lock without acquiring, and the locks must show that */
	struct entry entries[WORKERS_MAX];
};

/* ---- random numbers that a seed repeats ---- */

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

/* ---- storm_monitor.c ---- */

void monitor_set_activity(struct storm *storm, unsigned worker, unsigned semaphore, enum activity activity);
enum activity monitor_activity(const struct storm *storm, unsigned worker, unsigned *semaphore);

/* Called by a worker that has just been admitted to `semaphore`: checks that the admission can be right. */
void monitor_check(struct storm *storm, unsigned worker, unsigned semaphore);

/* The worker's hold of `semaphore` has this slot; the worker is about to give it back. */
void monitor_slot(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t slot);
void monitor_slot_end(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t slot);

/* Whether the worker's hold of SINGLE says that a holder died; `died` is storm->died from before the call. */
void monitor_notified(struct storm *storm, bool notified, uint64_t died);

/* Notes the holders of `semaphore`, and says later whether one of them has held it ever since. */
void monitor_note_holders(const struct storm *storm, unsigned semaphore, uint64_t words[WORKERS_MAX]);
bool monitor_still_holds(const struct storm *storm, const uint64_t words[WORKERS_MAX]);

/* ---- storm_namespaces.c ---- */

/* Decides how many workers are in PID namespaces of their own. Called before the workers start. */
void storm_open_namespaces(struct storm *storm);

static inline bool
storm_is_contained(const struct storm *storm, unsigned worker)
{
	return worker < storm->contained;
}

/*
 * Some of the others never have a presence lock, as if they had used the semaphore before the first container did: only
 * workers of their PID namespace can find that they are dead.
 */
static inline bool
storm_is_lockless(const struct storm *storm, unsigned worker)
{
	return !storm_is_contained(storm, worker) && worker % 4 == 0;
}

/* The number of workers, from this one on, that die with it. */
static inline unsigned
storm_die_together(const struct storm *storm, unsigned worker)
{
	return storm_is_contained(storm, worker) && worker % NAMESPACE_WORKERS == 0 ? NAMESPACE_WORKERS : 1;
}

/* As fork(). The child is in the worker's namespace. */
pid_t storm_fork(struct storm *storm, unsigned worker);

/* ---- storm_locks.c ---- */

/* Called before the workers start. */
void storm_create_locks(void);

/* A worker locks as many bytes as it has permits, and unlocks them before it gives the permits back. */
void storm_lock(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t count);
void storm_unlock(struct storm *storm, unsigned worker, unsigned semaphore);

/* Called by the driver while all workers are stopped: checks that no more permits are held than can be. */
void storm_count_locks(struct storm *storm, unsigned semaphore);

/* ---- storm_capacity.c ---- */

/* Sets another capacity. Meanwhile `change`, if not NULL, says which one, for storm_abandon_change(). */
void storm_set_capacity(struct storm *storm, unsigned semaphore, uint32_t capacity, _Atomic uint64_t *change);

/* The setter is dead: it may have set the capacity or not. */
void storm_abandon_change(struct storm *storm, uint64_t change);

/* Forgets changes that neither present nor later callers can claim. Called by the driver only. */
void storm_forget_changes(struct storm *storm, unsigned semaphore);

/* The largest capacity that may have been in force at some time from `from` on. */
uint32_t storm_claimable(const struct storm *storm, unsigned semaphore, uint64_t from);

void storm_fault(struct storm *storm, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- storm_invariants.c ---- */

void storm_check_end(struct storm *storm, unsigned semaphore);

/* ---- storm_worker.c ---- */

/* The worker writes its entry. `stays`: it waits until it is admitted. */
void storm_call(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t count, bool stays);
void storm_be_admitted(struct storm *storm, unsigned worker, unsigned semaphore);
void storm_pass_time(uint64_t *state);
void storm_expect(struct storm *storm, unsigned semaphore, int rc, int also, const char *state);

/* ---- storm_other.c ---- */

/* Operations other than acquiring, taking and giving back a single hold. */
void storm_other_operation(struct storm *storm, unsigned worker, uint64_t *state);

/* The worker no longer cancels, or is dead. */
void storm_end_cancel(struct storm *storm, unsigned worker);

_Noreturn void storm_work(struct storm *storm, unsigned worker, unsigned life);

#endif

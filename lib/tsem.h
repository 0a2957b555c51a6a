/* SPDX-License-Identifier: MIT */
/*
 * libtsem: semaphores that processes share, strictly first come, first served, which lose no permit when a process is
 * killed.
 *
 * At most three processes do the work of this program at the same time. If one is killed, its permit comes back:
 *
 *     #include <stdio.h>
 *     #include <tsem.h>
 *
 *     int main(void)
 *     {
 *         const struct tsem_config config = {.size = sizeof(config), .permits = 3, .flags = TSEM_EXIST_OK};
 *         tsem *sem;
 *         tsem_hold hold;
 *         if (tsem_create("encode", &config, &sem) < 0 || tsem_acquire(sem, 1, NULL, &hold) < 0)
 *             return 1;
 *         puts("working");
 *         return tsem_release(&hold) < 0;
 *     }
 *
 * A function returns 0 or a negative error number, unless its comment says otherwise. On failure nothing has changed.
 * A signal handler does not end a wait, unless TSEM_INTERRUPTIBLE is given.
 *
 * tsem(3) is the reference, tsem(7) the model and the promises.
 */
#ifndef TSEM_H
#define TSEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* tsem_stat() beside struct tsem_stat */
#endif
#pragma GCC visibility push(default) /* the library itself is compiled with everything else hidden */

/* A handle on one semaphore. Threads may share it, and a child of fork() may use it. */
typedef struct tsem tsem;

/*
 * Permits that are recorded for a process, their owner. The caller provides the memory; the content is private. A copy
 * is as good as the original, but only one of them may be used.
 */
typedef struct tsem_hold {
	uint64_t private_words[16];
} tsem_hold;

/* A hold without permits, which every function refuses. */
/* clang-format off */
#define TSEM_HOLD_INIT {{0}}
/* clang-format on */

/* A process that tsem_find_process() has found. The content is private; a copy is as good as the original. */
typedef struct tsem_process {
	uint64_t private_words[4];
} tsem_process;

/* Flags of tsem_create(), tsem_open(), tsem_remove(), tsem_unlink() and tsem_recover_owner(). */
#define TSEM_FORCE 1U      /* tsem_remove, tsem_unlink, tsem_recover_owner: each says what it does */
#define TSEM_FOREIGN 2U    /* also a semaphore of another user; that user can spoil its counts */
#define TSEM_READ_ONLY 4U  /* tsem_open: for tsem_available(), tsem_stat(), tsem_owners() and tsem_snapshot() only */
#define TSEM_EXIST_OK 8U   /* tsem_create: open it if it exists with this number of permits */
#define TSEM_GROUP 128U    /* tsem_create: the file gets the group of the configuration */
#define TSEM_BOUNDED 64U   /* tsem_create: posts only give back what was taken, so no post raises the limit */
#define TSEM_INITIAL 2048U /* tsem_create: that many permits are available at first */
#define TSEM_UMASK 4096U   /* tsem_create: the umask is applied to the mode, and 0 means 0 */
/* tsem_create, tsem_open: closes the file's descriptor, where possible; for many semaphores in one process */
#define TSEM_NO_DESCRIPTOR 8192U

/* Flags of struct tsem_wait; the first is one of tsem_wait_idle(), too. */
#define TSEM_INTERRUPTIBLE 256U /* a signal handler that ran ends the wait with EINTR, unless progress returns 0 then */
#define TSEM_ALL 512U           /* tsem_acquire_wait with count 0: as many permits as the capacity is now */
#define TSEM_QUEUED 1024U       /* progress is also called as soon as the caller is in the queue, before it sleeps */
#define TSEM_RESTART 16384U     /* with TSEM_INTERRUPTIBLE: not if the handler was installed with SA_RESTART */
#define TSEM_REALTIME 32768U    /* the deadline is a time of CLOCK_REALTIME */
#define TSEM_CANCELABLE 65536U  /* the wait is a cancellation point; not of tsem_acquire_all() and tsem_acquire_any() */

#define TSEM_HOLDERS 16U   /* tsem_wait_idle: wait for holders only, not for waiters */
#define TSEM_ABANDONED 32U /* tsem_reap: the owner did not end in order */

#define TSEM_NO_SLOT UINT32_MAX /* in place of a slot: there is none */
#define TSEM_SLOTS_MAX 1024U    /* slots are numbered from 0 to one below this */
#define TSEM_SEMAPHORES_MAX 64U /* of tsem_acquire_all() and tsem_acquire_any() */

/* What tsem_create() and tsem_init_at() make. */
struct tsem_config {
	size_t size;        /* sizeof(struct tsem_config) */
	uint32_t permits;   /* 0 to UINT32_MAX; with 0 only posts make permits available */
	uint32_t max;       /* posts do not raise `available` above this; at least `permits`; 0: no maximum */
	mode_t mode;        /* permissions up to 0777, umask not applied; 0: 0600 */
	unsigned flags;     /* TSEM_EXIST_OK, TSEM_FOREIGN, TSEM_BOUNDED, TSEM_GROUP, TSEM_INITIAL, TSEM_UMASK,
	                       TSEM_NO_DESCRIPTOR */
	gid_t group;        /* with TSEM_GROUP */
	uint64_t available; /* with TSEM_INITIAL: up to UINT32_MAX, `max`, and with TSEM_BOUNDED `permits` */
};

/* How to wait. */
struct tsem_wait {
	size_t size;                     /* sizeof(struct tsem_wait) */
	const struct timespec *deadline; /* of CLOCK_MONOTONIC; NULL: none */
	unsigned flags;                  /* TSEM_INTERRUPTIBLE, TSEM_RESTART, TSEM_CANCELABLE, TSEM_REALTIME, TSEM_ALL,
	                                    TSEM_QUEUED */
	/*
	 * Called during the wait with the place in the queue, 1 is next; not 0 ends the wait with ECANCELED. With
	 * TSEM_INTERRUPTIBLE it is also called when a signal handler has run, and not 0 then means EINTR. If the permits
	 * come at that moment, the caller has them all the same.
	 */
	int (*progress)(void *arg, uint32_t position);
	void *arg;            /* for progress */
	uint32_t every_ms;    /* between two calls of progress; 0: 800 ms, and the place is given as 0 */
	uint32_t max_waiting; /* the call fails with EAGAIN if this many live processes wait already; 0: no limit */
};

/* ---- creating, opening, removing ---- */

/*
 * Creates the semaphore `name`, and opens it if `out` is not NULL. With TSEM_EXIST_OK it opens an existing one that has
 * this number of permits. The name has 1 to 200 letters, digits, '.', '_' and '-', and starts with neither '.' nor '-'.
 */
int tsem_create(const char *name, const struct tsem_config *config, tsem **out);

/* Opens an existing semaphore. `flags`: TSEM_FOREIGN, TSEM_READ_ONLY, TSEM_NO_DESCRIPTOR. */
int tsem_open(const char *name, unsigned flags, tsem **out);

/*
 * Closes the handle; `sem` may be NULL. It must be the last call on the handle. Holds that came through the handle stay
 * until their owner ends.
 */
void tsem_close(tsem *sem);

/*
 * Removes the semaphore: its waiters fail with EIDRM. Without TSEM_FORCE it fails with EBUSY while the semaphore is in
 * use. `flags`: TSEM_FORCE, TSEM_FOREIGN.
 */
int tsem_remove(const char *name, unsigned flags);

/*
 * Removes the name only, as sem_unlink() does: the semaphore lives on for the processes that have it open, and another
 * one may get the name. With TSEM_FORCE also a file that is no semaphore. `flags`: TSEM_FORCE, TSEM_FOREIGN.
 */
int tsem_unlink(const char *name, unsigned flags);

/* ---- anonymous permits ---- */

/*
 * Takes `count` permits without recording an owner: only tsem_post() brings them back. Waits in the queue until
 * `deadline`, a time of CLOCK_MONOTONIC; NULL waits without end.
 */
int tsem_take(tsem *sem, uint32_t count, const struct timespec *deadline);

/* Takes at once, or fails with EAGAIN. */
int tsem_try_take(tsem *sem, uint32_t count);

/* Takes, and waits as `wait` says; NULL waits without end. */
int tsem_take_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait);

/*
 * Posts `count` permits: waiters get them in queue order, the rest stays available. `previous`, if not NULL, receives
 * the number of permits that were available before. Async-signal-safe.
 */
int tsem_post(tsem *sem, uint32_t count, uint32_t *previous);

/*
 * Posts one permit to `post_to` and takes one from `take_from`. The caller has its place in that queue before it posts.
 * If the wait fails, the post has happened.
 */
int tsem_post_and_take(tsem *post_to, tsem *take_from);
/* The same, and waits as `wait` says. */
int tsem_post_and_take_wait(tsem *post_to, tsem *take_from, const struct tsem_wait *wait);

/* ---- owned permits ---- */

/*
 * Acquires `count` permits for the calling process, which come back by tsem_release() or by the death of the process.
 * Waits in the queue until `deadline`, a time of CLOCK_MONOTONIC; NULL waits without end.
 */
int tsem_acquire(tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold);

/* Acquires at once, or fails with EAGAIN. */
int tsem_try_acquire(tsem *sem, uint32_t count, tsem_hold *hold);

/* Acquires, and waits as `wait` says; NULL waits without end. */
int tsem_acquire_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait, tsem_hold *hold);

/* Gives the permits back. It also ends a loan of tsem_lend(). EPERM: the hold is not, or no longer, this process's. */
int tsem_release(tsem_hold *hold);

/*
 * Returns the slot of the hold: a number that no other live hold has, the lowest free one from 0 on at the first call.
 * TSEM_NO_SLOT if there is none.
 */
uint32_t tsem_hold_slot(const tsem_hold *hold);

/* Stores the lowest `n` slots in ascending order, and returns how many the hold has: one for each permit. */
size_t tsem_hold_slots(const tsem_hold *hold, uint32_t *slots, size_t n);

/*
 * Whether an owner died with permits before this hold was admitted, and no holder was told since: the data that the
 * semaphore protects may be incomplete.
 */
bool tsem_hold_recovered(const tsem_hold *hold);

/* For compilers with the attribute `cleanup`, such as gcc and clang. */
#ifdef __GNUC__
static inline void
tsem_scoped_hold_end(tsem_hold *hold)
{
	(void)tsem_release(hold);
}

static inline void
tsem_scoped_handle_end(tsem **sem)
{
	tsem_close(*sem);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): a declared name cannot stand in parentheses */
/* Declares a void hold, which the end of the scope releases. It must end before its handle is closed. */
#define TSEM_SCOPED_HOLD(name) __attribute__((cleanup(tsem_scoped_hold_end))) tsem_hold name = TSEM_HOLD_INIT
/* Declares a null handle, which the end of the scope closes. */
#define TSEM_SCOPED_HANDLE(name) __attribute__((cleanup(tsem_scoped_handle_end))) tsem *name = NULL
/* NOLINTEND(bugprone-macro-parentheses) */
#endif

/* ---- another owner ---- */

/* Finds the process that has the number `pid` now. The caller must know that this is the process that it means. */
int tsem_find_process(pid_t pid, tsem_process *process);

/*
 * Makes `process` the owner of this process's hold, until that process ends or tsem_release_for(). The hold is void
 * afterwards.
 */
int tsem_hand_over_to(tsem_hold *hold, const tsem_process *process);

/* tsem_find_process() and tsem_hand_over_to() in one call, for a process that the caller knows to live. */
int tsem_hand_over(tsem_hold *hold, pid_t pid);

/* Gives back the newest hold that was handed over to the process `pid`. Any process may call it. */
int tsem_release_for(tsem *sem, pid_t pid);

/*
 * Makes `process` the owner of this process's hold, until the caller ends the loan with tsem_release(), or with
 * tsem_reap() when the process has ended.
 */
int tsem_lend(tsem_hold *hold, const tsem_process *process);

/*
 * Makes the hold of the parent the hold of the calling child, until the child ends. Async-signal-safe, and safe in a
 * child of vfork().
 */
int tsem_adopt(tsem_hold *hold);

/*
 * Gives back a hold whose owner has ended: a child that adopted it, or the borrower of a loan. `flags`: TSEM_ABANDONED.
 * EBUSY: the owner may be alive.
 */
int tsem_reap(tsem_hold *hold, unsigned flags);

/* ---- several semaphores ---- */

/*
 * Acquires one permit of each of `n` semaphores, or none; holds[i] is that of sems[i]. Callers that name the same
 * semaphores in any order never deadlock.
 */
int tsem_acquire_all(tsem *const sems[], size_t n, const struct tsem_wait *wait, tsem_hold holds[]);

/* Acquires one permit of the semaphore that grants it first; `which` receives its index. */
int tsem_acquire_any(tsem *const sems[], size_t n, const struct tsem_wait *wait, tsem_hold *hold, size_t *which);

/* ---- governing ---- */

/* Changes the capacity, from 0 (no process is admitted any more) to UINT32_MAX. No process loses a permit. */
int tsem_set(tsem *sem, uint32_t permits);

/* Changes the permissions of the file, up to 0777, and its group. 0 and (gid_t)-1 leave them as they are. */
int tsem_set_access(tsem *sem, mode_t mode, gid_t group);

/*
 * Corrects the count: what is available becomes the capacity less what is recorded for processes. `correction`, if not
 * NULL, receives the number of permits that came back; a negative number was withdrawn.
 */
int tsem_set_exact(tsem *sem, int64_t *correction);

/*
 * Waits until no process holds and no process waits. Permits that were taken and not posted back count as held.
 * `flags`: TSEM_HOLDERS, TSEM_INTERRUPTIBLE.
 */
int tsem_wait_idle(tsem *sem, unsigned flags, const struct timespec *deadline);

/* Ends all present waits for permits with ECANCELED. */
int tsem_cancel(tsem *sem);

/* Ends the present waits of one process with ECANCELED. `pid` and `pid_ns` are as for tsem_recover_owner(). */
int tsem_cancel_owner(tsem *sem, pid_t pid, uint32_t pid_ns);

/* ---- memory of the program ---- */

/* Returns the size of a semaphore for that many processes and threads that hold or wait at the same time. */
size_t tsem_size_at(uint32_t participants);
/*
 * Makes a semaphore in memory of the program, shared and aligned to 64 bytes. Exactly one process calls it. In
 * `config`, mode is 0, and flags are a combination of TSEM_BOUNDED and TSEM_INITIAL.
 */
int tsem_init_at(void *memory, size_t size, const struct tsem_config *config, tsem **out);
/* Opens such a semaphore in another process, by its own mapping of the memory. */
int tsem_open_at(void *memory, size_t size, tsem **out);

/* ---- looking and repairing ---- */

/*
 * Gives back the permits of dead owners, and skips the places of dead waiters, at once. Waiters do the same by
 * themselves. `recovered`, if not NULL, receives the number of permits that came back.
 */
int tsem_recover(tsem *sem, uint32_t *recovered);

/*
 * The same for all holds and waits of one owner. If `pid_ns` is 0, `pid` is its number here, otherwise its number in
 * that PID namespace. TSEM_FORCE declares the owner dead if no process can tell (TSEM_UNKNOWN).
 */
int tsem_recover_owner(tsem *sem, pid_t pid, uint32_t pid_ns, unsigned flags, uint32_t *recovered);

/* Stores how many permits are available, 0 while processes wait. It reads the counters and no record. */
int tsem_available(tsem *sem, uint64_t *available);

#define TSEM_HISTOGRAM_BINS 48 /* in the histogram of struct tsem_stat */

/* The counts of a semaphore. */
struct tsem_stat {
	size_t size;              /* sizeof(struct tsem_stat), set by the caller */
	uint32_t permits;         /* the creator's number */
	uint32_t capacity;        /* permits that exist now */
	uint32_t max;             /* 0: no maximum */
	uint32_t waiting;         /* waiters in the queue */
	uint64_t available;       /* free permits */
	uint64_t held;            /* permits taken or held */
	uint64_t ticket;          /* tickets drawn, modulo 2^48 */
	uint64_t grant;           /* grants, modulo 2^48 */
	int64_t created;          /* seconds since the Epoch */
	uid_t uid;                /* of the owner of the file */
	mode_t mode;              /* of the file */
	unsigned char uuid[16];   /* of the semaphore; a new one of the same name has another */
	uint64_t contended;       /* waits that neither the arrival nor a short spin ended, successful or not */
	uint64_t wait_total_ns;   /* duration of all contended waits */
	uint64_t wait_longest_ns; /* duration of the longest one */
	uint64_t recovered;       /* permits that came back from dead owners */
	uint64_t timeouts;        /* waits that were given up, for any reason */
	uint64_t handed_over;     /* holds that were handed over or lent */
	uint64_t histogram[TSEM_HISTOGRAM_BINS]; /* bin i: contended waits below 2^i us that bin i - 1 does not count */
	uint64_t excess;                         /* permits posted beyond those taken; 0 with TSEM_BOUNDED */
	gid_t gid;                               /* of the file */
	unsigned flags;                          /* TSEM_BOUNDED */
	uint64_t first_wanted;                   /* permits that the first waiter wants; 0: none waits */
	int64_t first_free; /* free for it, or for a newcomer if none waits; below 0: more are held than exist */
};

/* Stores the counts. The caller has set stat->size. */
int tsem_stat(tsem *sem, struct tsem_stat *stat);

/* Whether an owner is alive; TSEM_UNKNOWN: no process can tell from here. */
enum tsem_alive { TSEM_DEAD, TSEM_ALIVE, TSEM_UNKNOWN };

/* One holder or waiter. */
struct tsem_owner {
	size_t size;           /* of the library's structure: do not read members beyond it */
	pid_t pid;             /* in the PID namespace of that process */
	uid_t uid;             /* effective user of the process that acquired or waits */
	uint32_t count;        /* permits */
	uint32_t position;     /* 0: holds; from 1: place in the queue */
	enum tsem_alive alive; /* whether the process is alive */
	bool owned;            /* false: waits in tsem_take() */
	bool handed_over;      /* or lent */
	bool foreign_pid;      /* `pid` means nothing to the caller: it is of another PID namespace, or this is not known */
	uint64_t ticket;       /* the first of its tickets */
	uint64_t elapsed_ns;   /* since it holds or waits */
	int64_t remaining_ns;  /* of a waiter: until its deadline; -1: none */
	uint32_t slot;         /* of a holder that has asked for one: the lowest of its slots; else TSEM_NO_SLOT */
	uint32_t slot_count;   /* how many slots it has */
	const uint32_t *slots; /* all of them, ascending; valid during the call */
	pid_t pid_here;        /* in the PID namespace of the caller; 0: it has none there, or that is not known */
	uint32_t pid_ns;       /* the PID namespace of `pid`, as lsns(8) numbers them; 0: not known */
};

/* Functions of the program. A result that is not 0 ends the enumeration, which returns it. */
typedef int tsem_owner_fn(const struct tsem_owner *owner, void *arg);
typedef int tsem_name_fn(const char *name, void *arg);

/* Calls `each` for every holder, oldest first, and then for every waiter in queue order. */
int tsem_owners(tsem *sem, tsem_owner_fn *each, void *arg);

/* tsem_stat() and tsem_owners() of the same instant. `stat` is filled in before the first call of `each`. */
int tsem_snapshot(tsem *sem, struct tsem_stat *stat, tsem_owner_fn *each, void *arg);

/* Calls `each` for the name of every semaphore, sorted as by strverscmp(3): sem.2 comes before sem.10. */
int tsem_list(tsem_name_fn *each, void *arg);

/* ---- errors and times ---- */

/*
 * Returns what the error number means here, negative or not: what happened, and mostly what to do about it. The text is
 * that of strerror(3) for a number that no function returns by itself, and else constant.
 */
const char *tsem_strerror(int error);

/* Returns the deadline that is `ms` milliseconds from now. Async-signal-safe. */
struct timespec tsem_deadline(uint64_t ms);

#pragma GCC visibility pop
#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif

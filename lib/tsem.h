/* SPDX-License-Identifier: MIT */
/*
 * libtsem: semaphores between processes that are strictly first come, first served, that lose no permit when somebody
 * is killed, that need no daemon, and that cost no system call while nobody waits.
 *
 * Conventions of every function below, unless it says otherwise:
 *
 *   - It returns 0, or a negative errno; on failure nothing was taken or given, and outputs are untouched.
 *   - It never prints, never exits, and never changes a signal disposition or mask.
 *   - Threads may share a handle, and may call any function on it at the same time, tsem_close() excepted. A hold may
 *     pass between threads, but only one may use it at a time.
 *   - A handle stays usable in a child after fork(); holds do not pass to the child: there, tsem_release() on a hold of
 *     the parent's fails with EPERM. exec() keeps the process's holds (but not the handle).
 *   - Deadlines are absolute times of CLOCK_MONOTONIC; NULL waits for ever, one in the past makes a try.
 *   - Signal handlers that run during a wait do not disturb it, unless TSEM_INTERRUPTIBLE was asked for.
 *   - No function is a cancellation point: a thread for which pthread_cancel() was called comes back from the function,
 *     from a wait, too. The functions of the program that the library calls run with cancellation disabled. What ends a
 *     wait are a deadline, `progress`, tsem_cancel() and, with TSEM_INTERRUPTIBLE, a signal. A thread must not have the
 *     type PTHREAD_CANCEL_ASYNCHRONOUS during a call.
 *   - `count` is a number of permits, from 1 to the largest of the semaphore's capacity, its creator's number of
 *     permits and its maximum; anything else is EINVAL. Of a semaphore made with neither permits nor a maximum any
 *     number may be asked for. A waiter for more than a capacity that was lowered meanwhile waits, and so do those
 *     behind it, until it is raised again.
 *
 * tsem(3) is this text as a manual page; tsem(7) has the model, the promises, and what is not promised.
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

/* A handle on one semaphore: a mapping of its segment, or, opened with TSEM_READ_ONLY, no more than its open file. */
typedef struct tsem tsem;

/*
 * A hold: permits that are recorded for a process. The caller provides the memory; the content is private. It may be moved:
 * a copy is as good as the original, and one of them may be used.
 */
typedef struct tsem_hold {
	uint64_t private_words[16];
} tsem_hold;

/* A process, as tsem_find_process() has found it. The content is private. */
typedef struct tsem_process {
	uint64_t private_words[4];
} tsem_process;

/* Flags of tsem_create(), tsem_open() and tsem_remove(). */
#define TSEM_FORCE 1U     /* tsem_remove: also while it is in use */
#define TSEM_FOREIGN 2U   /* also a semaphore that belongs to another user, who could spoil its counts */
#define TSEM_READ_ONLY 4U /* tsem_open: for tsem_stat(), tsem_owners() and tsem_snapshot() only */
#define TSEM_EXIST_OK 8U  /* tsem_create: open it if it exists with the same number of permits */

/* Flag of struct tsem_wait and of tsem_wait_idle(). */
#define TSEM_INTERRUPTIBLE 1U /* a signal handler that ran ends the wait with EINTR */

#define TSEM_HOLDERS 16U   /* tsem_wait_idle: until nobody holds, even if somebody waits */
#define TSEM_ABANDONED 32U /* tsem_reap: the owner did not end as it should */

#define TSEM_NO_SLOT UINT32_MAX
#define TSEM_SLOTS_MAX 1024U    /* slots are numbered from 0 to one below this */
#define TSEM_SEMAPHORES_MAX 64U /* of tsem_acquire_all() and tsem_acquire_any() */

struct tsem_config {
	size_t size;      /* sizeof(struct tsem_config) */
	uint32_t permits; /* 0 to UINT32_MAX; with 0 there is only what is posted */
	uint32_t max;     /* what `available` may reach by posting, at least `permits`; 0: no maximum */
	mode_t mode;      /* permissions, umask not applied; 0: 0600 */
	unsigned flags;   /* TSEM_EXIST_OK, TSEM_FOREIGN */
};

/*
 * How to wait. `progress`, if given, is called from within the waiting call, about every `every_ms` milliseconds, with
 * the place in line (1: next). With 0 it is called whenever the waiter wakes up anyway to look around, at least every
 * 800 ms, or 400 ms unless many wait, and the place is not looked up: it is 0 then, and also while the waiter has no place
 * because all records are in use. If it returns non-zero the wait is given up with ECANCELED.
 */
struct tsem_wait {
	size_t size; /* sizeof(struct tsem_wait) */
	const struct timespec *deadline;
	unsigned flags;
	int (*progress)(void *arg, uint32_t position);
	void *arg;
	uint32_t every_ms;
};

/*
 * Creates the semaphore `name` (1 to 200 letters, digits, '.', '_' and '-', not starting with '.' or '-') and opens it.
 * The name appears complete or not at all, whenever this process dies. `out` may be NULL: then it is not opened.
 *
 * EEXIST: it exists (with TSEM_EXIST_OK: with another number of permits). EINVAL: name, size, permits, max or flags.
 * ENAMETOOLONG. ENOSPC: shared memory is full. EFBIG: RLIMIT_FSIZE. EROFS, EACCES, EMFILE, ENFILE, ENOMEM. With
 * TSEM_EXIST_OK also the errors of tsem_open().
 */
int tsem_create(const char *name, const struct tsem_config *config, tsem **out);

/*
 * Opens an existing semaphore. `flags`: TSEM_FOREIGN, TSEM_READ_ONLY.
 *
 * ENOENT: there is none of that name. EACCES: its mode does not let you. EPERM: another user's (not root's), and
 * TSEM_FOREIGN was not given. EMLINK: the file has another name, a hard link, which another user may have made. EBADMSG:
 * not a semaphore, or damaged. EPROTONOSUPPORT: made by a build with another layout. EIDRM: removed, but the name is still
 * there. EBUSY: another process has a lease on the file. ENOMEM: also if all memory is locked, and
 * RLIMIT_MEMLOCK does not allow 3 MiB more. EINVAL, ENAMETOOLONG, EROFS, EMFILE, ENFILE.
 *
 * A process that may write the file can truncate it. A process that has the semaphore open dies of SIGBUS then, when it
 * next touches what is gone. A handle opened with TSEM_READ_ONLY is safe from that: each call on it reads the file, as
 * it is then, into memory of its own.
 */
int tsem_open(const char *name, unsigned flags, tsem **out);

/*
 * Frees the handle. Holds taken through it stay; they end with the process, but cannot be released any more. No other call
 * on the handle may be under way, but for a tsem_post() whose permit the calling thread has taken. A tsem_release() is over
 * when it returns, and not when the next waiter is admitted.
 */
void tsem_close(tsem *sem);

/*
 * Removes the name; whoever waits fails at once with EIDRM. Without TSEM_FORCE it first acquires the whole capacity, so
 * that nobody slips in. `flags`: 0, TSEM_FORCE, TSEM_FOREIGN.
 *
 * EBUSY: somebody holds or waits, or permits that were taken have not been posted back; or another process is removing the
 * name, and has not ended within a second: it may be stopped. EOVERFLOW: more than 2^38 permits are available (not with
 * TSEM_FORCE). ENOENT, and the other errors of tsem_open() and tsem_try_acquire(). With TSEM_FORCE, a file that is damaged or
 * of another version is removed, too; of a file with several names this name is removed, and the semaphore goes on.
 *
 * Whenever this process dies, the semaphore is as it was, or it is removed, and no handle on it gets a permit any more: EIDRM.
 * Then a tsem_post() may succeed until another process has noticed.
 */
int tsem_remove(const char *name, unsigned flags);

/*
 * Takes `count` permits that nobody is recorded for: they come back by tsem_post() and in no other way. Waits in line
 * until `deadline`.
 *
 * ETIMEDOUT, EINVAL, EIDRM: removed meanwhile. EUSERS: all 32,766 records are in use and stay so until the deadline.
 * ENOSPC, EFBIG: waiting needs a record, and shared memory is full, or RLIMIT_FSIZE too low, for more of them.
 * EOVERFLOW: the counters' range. EPERM: opened read-only. EBADMSG: the segment is damaged, or out of reach because the
 * program closed its descriptor. ENOMEM, EMFILE, ENFILE: of a forked child's first call only.
 * A process killed during the call has taken the permits or it has not; if it was waiting, its place is skipped.
 */
int tsem_take(tsem *sem, uint32_t count, const struct timespec *deadline);

/* The same with all of struct tsem_wait (NULL: waits for ever); also EINTR and ECANCELED. */
int tsem_take_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait);

/* Takes at once or fails with EAGAIN; before it fails it gives back what the dead held. */
int tsem_try_take(tsem *sem, uint32_t count);

/*
 * Posts `count` permits, at least 1: waiters get them in queue order, the rest stays available. `previous`, if not NULL,
 * receives how many were available before. EOVERFLOW: `available` would pass the maximum or the counters' range; nothing
 * has changed. EINVAL, EIDRM, EPERM (opened read-only), EBADMSG (damaged).
 *
 * The post touches neither the semaphore's memory nor the handle once the permits can be had. So a thread that took the last
 * permit it will ever need may close the handle, and unmap the memory, while the call is still under way in another thread.
 * Three kinds of post are excepted, and are over when the call returns: of 4,096 permits or more; of several permits, while
 * places of waiters that gave up are left in the queue; and while a thread is in tsem_wait_idle().
 *
 * Async-signal-safe: it needs up to 3 KiB of stack, if the compiler has optimized the library.
 */
int tsem_post(tsem *sem, uint32_t count, uint32_t *previous);

/*
 * Posts one permit to `post_to` and takes one from `take_from` (SignalObjectAndWait of Windows). The place in the line of
 * `take_from` is taken first: nobody whom the post lets in gets in front of the caller there. If that or the post fails,
 * neither has happened; if the wait fails (tsem_post_and_take_wait() only), the post has. A process killed during the
 * call may have posted without having taken; it has never taken a place without giving it back. They may be the same.
 *
 * Errors of tsem_take_wait() and tsem_post().
 */
int tsem_post_and_take(tsem *post_to, tsem *take_from);
int tsem_post_and_take_wait(tsem *post_to, tsem *take_from, const struct tsem_wait *wait);

/*
 * Acquires `count` permits for the calling process, recorded in `hold` until tsem_release(), or until the process
 * dies: then they come back by themselves. Errors as tsem_take().
 */
int tsem_acquire(tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold);

/* The same with all of struct tsem_wait (NULL: waits for ever); also EINTR and ECANCELED. */
int tsem_acquire_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait, tsem_hold *hold);

/* Acquires at once or fails with EAGAIN; before it fails it gives back what the dead held. */
int tsem_try_acquire(tsem *sem, uint32_t count, tsem_hold *hold);

/* Gives the hold back. EPERM: it is not this process's: inherited by fork(), handed over, or released before. */
int tsem_release(tsem_hold *hold);

/*
 * Finds the process that has the number `pid` now. The caller must know that this is the process that it means, as a
 * parent knows it of a child that it has not waited for. `process` tells it from a later process of the same number by
 * the time when it started, see tsem(7); without a usable /proc the number is all that there is. A copy is as good,
 * also in another process of the same PID namespace.
 *
 * ESRCH: there is none, or it has ended; the id of a thread is not one. ENOMEM, EMFILE, ENFILE.
 */
int tsem_find_process(pid_t pid, tsem_process *process);

/*
 * Makes `process` the owner of this process's hold: it now lasts as long as that process, or until tsem_release_for().
 * The caller's `hold` is void afterwards; what tsem_hold_recovered() said of it is told to the next holder, too.
 *
 * ESRCH: the process has ended, even if its number is another one's now; the hold is still the caller's. EPERM: not the
 * caller's hold. ENOMEM, EMFILE, ENFILE.
 */
int tsem_hand_over_to(tsem_hold *hold, const tsem_process *process);

/*
 * tsem_find_process() and tsem_hand_over_to() in one, for a process that the caller knows to live. A caller that waits
 * after it was told the number may give the hold to an unrelated process that has the number by now.
 */
int tsem_hand_over(tsem_hold *hold, pid_t pid);

/*
 * Gives back the newest hold that was handed over to the process that has the number `pid` now, whoever calls, but not
 * lent to it. What was handed over to an earlier process of that number is left alone: it comes back by itself. ENOENT:
 * there is none. ESRCH: no such process. EPERM: opened read-only. ENOMEM, EMFILE, ENFILE.
 */
int tsem_release_for(tsem *sem, pid_t pid);

/*
 * tsem_hand_over_to() for a command that the caller looks after: the hold lasts as long as the process, but no longer
 * than until tsem_release() (or tsem_reap(), once the process has ended) of `hold`, which stays good for these two;
 * tsem_release_for() leaves it alone. As with a hold that a child adopted, a process that ended by itself has abandoned
 * nothing. Same errors.
 */
int tsem_lend(tsem_hold *hold, const tsem_process *process);

/*
 * In a child that the holder forked: makes the parent's hold the child's own, before it executes a command, say. From
 * then on the hold lasts as long as the child, and `hold` is void in the parent but for tsem_reap(). EPERM: the hold is
 * not the parent's any more (the parent has died, and it has been recovered): the child has no permit. EXDEV: the child
 * was born into another PID namespace than its parent's, where its number would mean nothing to the others.
 * EMFILE, ENFILE: the child has no descriptor left to read in /proc who it is. The hold is still the parent's.
 *
 * Async-signal-safe, and safe in a child of vfork().
 */
int tsem_adopt(tsem_hold *hold);

/*
 * In the parent, when the child that adopted the hold has ended and before it is reaped (waitid() with WNOWAIT): gives it
 * back at once, where otherwise the next waiter would find out within half a second. 0: given back, by this or by
 * somebody else. EBUSY: the owner may be alive. A hold that nobody adopted, and that is the caller's own, is released. The
 * same for what was lent to a process that has ended.
 *
 * `flags`: TSEM_ABANDONED, if the child was killed, or the caller was told so and has not used the hold: then the next
 * holder is told, see tsem_hold_recovered(). A child that ended by itself has given its permits back in order, unless the
 * parent was dead before it.
 */
int tsem_reap(tsem_hold *hold, unsigned flags);

/*
 * The hold's slot: a number from 0 on that no other live hold has, the lowest that is free when it is first asked for; it
 * stays until the hold ends. Below the capacity, unless more is held than that (it was lowered, or more was posted).
 * Several threads of the holder may ask at the same time. TSEM_NO_SLOT: the hold is void, or all slots are taken.
 */
uint32_t tsem_hold_slot(const tsem_hold *hold);

/* One slot for each permit of the hold: stores the lowest `n` of them, ascending, and returns how many it has. */
size_t tsem_hold_slots(const tsem_hold *hold, uint32_t *slots, size_t n);

/*
 * Whether a permit has come back from a holder that died, since the last time a holder was told so: what the semaphore
 * protects may have been left half-way. Of all holders admitted after that, one is told (if it dies, another one).
 */
bool tsem_hold_recovered(const tsem_hold *hold);

/*
 * With a compiler that has the attribute `cleanup` (gcc, clang): declare a variable, a void hold or a null handle, that is
 * released, or closed, at the end of its scope, however that is left: by return, break and goto, too, but not by longjmp()
 * or exit().
 *
 *     TSEM_SCOPED_HOLD(hold);
 *     int rc = tsem_acquire(sem, 1, NULL, &hold);
 *     if (rc < 0)
 *         return rc;
 *
 * What was released before, or handed over, or never acquired, is left alone. The scope must end before the handle is closed;
 * scoped variables end in the reverse order of their declarations, so the handle is declared first.
 */
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

/* NOLINTBEGIN(bugprone-macro-parentheses): what is declared cannot stand in any */
#define TSEM_SCOPED_HOLD(name) __attribute__((cleanup(tsem_scoped_hold_end))) tsem_hold name = {{0}}
#define TSEM_SCOPED_HANDLE(name) __attribute__((cleanup(tsem_scoped_handle_end))) tsem *name = NULL
/* NOLINTEND(bugprone-macro-parentheses) */
#endif

/*
 * One permit of each of `n` semaphores, from 1 to TSEM_SEMAPHORES_MAX, or none: whatever fails, what was acquired is given
 * back. They are acquired one after the other in the order of their UUIDs, so callers that name the same ones in any order
 * never wait for each other in a circle. holds[i] is that of sems[i]. `wait` (NULL: for ever) is for all of them together.
 *
 * EINVAL also: one semaphore twice. Other errors as tsem_acquire_wait().
 */
int tsem_acquire_all(tsem *const sems[], size_t n, const struct tsem_wait *wait, tsem_hold holds[]);

/*
 * One permit of whichever semaphore grants it first; the places in the other lines are given up. `which` receives the
 * index. If several have one at once it is that of the first. `progress` is told the place in the line of the first.
 * What ends the wait for one of them (ECANCELED, EIDRM) ends it for all. EUSERS: no permit at once, and all records of one
 * of them are in use, for which it does not wait. Other errors as tsem_acquire_all().
 */
int tsem_acquire_any(tsem *const sems[], size_t n, const struct tsem_wait *wait, tsem_hold *hold, size_t *which);

/*
 * Changes the capacity, from 0 (nobody is admitted any more: the semaphore drains) to UINT32_MAX. Nobody loses a permit:
 * whoever held, or was enabled before a lowering, keeps it; whoever a raise enables is woken at once. The creator's number
 * stays what it was.
 *
 * EOVERFLOW: above the maximum, or the counters' range. EPERM: opened read-only. EIDRM. EUSERS, ENOSPC, EFBIG: lowering
 * needs a record. In all these cases nothing has changed.
 */
int tsem_set(tsem *sem, uint32_t permits);

/*
 * Waits until nobody holds and nobody waits, or with TSEM_HOLDERS until nobody holds. Permits that were taken and not
 * posted back count as held. Others may come in the same instant; see tsem_set() to keep them away. Dead holders are
 * recovered as by any waiter. `flags`: TSEM_HOLDERS, TSEM_INTERRUPTIBLE.
 *
 * ETIMEDOUT, EINTR, EIDRM, EINVAL, EPERM: opened read-only.
 */
int tsem_wait_idle(tsem *sem, unsigned flags, const struct timespec *deadline);

/* Everybody who waits for a permit now gives up, with ECANCELED; who comes later waits again. EIDRM, EPERM. */
int tsem_cancel(tsem *sem);

/*
 * Gives back what dead processes held, and skips the places of dead waiters, at once; `recovered`, if not NULL,
 * receives how many permits came back to the semaphore. Never needed for progress: waiters do it by themselves.
 * EPERM: opened read-only.
 */
int tsem_recover(tsem *sem, uint32_t *recovered);

#define TSEM_HISTOGRAM_BINS 48

struct tsem_stat {
	size_t size;        /* sizeof(struct tsem_stat), set by the caller */
	uint32_t permits;   /* the creator's number */
	uint32_t capacity;  /* permits that exist now */
	uint32_t max;       /* 0: no maximum */
	uint32_t waiting;   /* waiters in line */
	uint64_t available; /* permits nobody has */
	uint64_t held;      /* permits taken or held */
	uint64_t ticket;    /* the two counters, modulo 2^48 */
	uint64_t grant;
	int64_t created; /* seconds since the Epoch */
	uid_t uid;       /* of the owner of the segment */
	mode_t mode;
	unsigned char uuid[16];
	uint64_t contended;     /* waits that had to sleep */
	uint64_t wait_total_ns; /* how long they took, together and at the longest */
	uint64_t wait_longest_ns;
	uint64_t recovered; /* permits that came back from the dead */
	uint64_t timeouts;  /* waits that were given up */
	uint64_t handed_over;
	uint64_t histogram[TSEM_HISTOGRAM_BINS]; /* bin i counts waits below 2^i microseconds and above bin i - 1 */
};

/*
 * A snapshot. EINVAL: stat->size is not that of a known version. EBADF: the program closed the handle's descriptor. With a
 * handle opened with TSEM_READ_ONLY also EBADMSG: the file was truncated or spoilt since; and ENOMEM.
 */
int tsem_stat(tsem *sem, struct tsem_stat *stat);

enum tsem_alive { TSEM_DEAD, TSEM_ALIVE, TSEM_UNKNOWN };

struct tsem_owner {
	size_t size;
	pid_t pid; /* in the PID namespace of that process */
	uid_t uid;
	uint32_t count;    /* permits */
	uint32_t position; /* 0: holds; from 1: place in line */
	enum tsem_alive alive;
	bool owned; /* false: waits in tsem_take() */
	bool handed_over;
	bool foreign_pid; /* of another PID namespace than the caller's, or it cannot be told: not to be looked up */
	uint64_t ticket;
	uint64_t elapsed_ns;  /* held or waited for so long */
	int64_t remaining_ns; /* of a waiter: until its deadline; -1: none */
	uint32_t slot;        /* of a holder that has asked for one: the lowest of its slots; else TSEM_NO_SLOT */
	uint32_t slot_count;
	const uint32_t *slots; /* all of them, ascending; valid during the call */
};

/* Non-zero ends the enumeration and is returned by the function that enumerates. */
typedef int tsem_owner_fn(const struct tsem_owner *owner, void *arg);
typedef int tsem_name_fn(const char *name, void *arg);

/*
 * Calls `each` for every holder, oldest first, then for every waiter, first in line first. ENOMEM. With a handle opened
 * with TSEM_READ_ONLY also EBADMSG and EBADF, as tsem_stat().
 */
int tsem_owners(tsem *sem, tsem_owner_fn *each, void *arg);

/*
 * tsem_stat() and tsem_owners() of the same instant, so that the counts agree with who is named; `stat` is filled in before
 * `each` is called. On a semaphore that changes more often than its records can be read, that may not succeed: then the
 * owners are those of a moment later. Errors of both.
 */
int tsem_snapshot(tsem *sem, struct tsem_stat *stat, tsem_owner_fn *each, void *arg);

/* Calls `each` for the name of every semaphore there is, sorted. ENOMEM, and what opendir() says. */
int tsem_list(tsem_name_fn *each, void *arg);

/*
 * A semaphore in memory of the program's own, as an unnamed sem_t with `pshared`: `memory` is shared by the processes that
 * use it (MAP_SHARED), aligned to 64 bytes, and of `size` bytes, at least tsem_size_at() of the number of processes and
 * threads that may hold or wait at the same time. Same promises, but it cannot grow: with all records in use, others wait
 * for one, and tries fail with EUSERS. tsem_close() frees the handle; the memory stays the program's. Of `config`, mode and
 * flags are 0.
 *
 * tsem_init_at() makes it, once; other processes call tsem_open_at() on their own mapping, children of fork() may use
 * their parent's handle. EINVAL: memory, size (too small, or smaller than it was made with) or config. EBADMSG: not made
 * yet. EPROTONOSUPPORT, ENOMEM, EMFILE, ENFILE.
 */
size_t tsem_size_at(uint32_t participants);
int tsem_init_at(void *memory, size_t size, const struct tsem_config *config, tsem **out);
int tsem_open_at(void *memory, size_t size, tsem **out);

#pragma GCC visibility pop
#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * libtsem: semaphores that processes share. They are strictly first come, first served. They lose no permit when a
 * process is killed. They need no daemon, and make no system call while no process waits.
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
 * Permits are taken without an owner, or acquired by a process, their owner:
 *
 *     function                 | owner        | the hold ends by            | is `hold` void?
 *     -------------------------+--------------+-----------------------------+----------------------
 *     tsem_take()              | none         | tsem_post()                 | there is none
 *     tsem_acquire()           | caller       | tsem_release()              | no
 *     tsem_hand_over(), _to()  | that process | tsem_release_for()          | yes
 *     tsem_lend()              | that process | tsem_release(), tsem_reap() | good for these
 *     tsem_adopt() in a child  | child        | tsem_release()              | no
 *       the parent's copy      | child        | tsem_reap()                 | good for this
 *     tsem_release(), _for()   | none         |                             | yes
 *     tsem_reap()              | none         |                             | yes
 *     fork(), the child's copy | parent       |                             | good for tsem_adopt()
 *     exec(), tsem_close()     | unchanged    |                             | must not be used
 *
 * Every hold also ends with its owner: when a process needs permits, or calls tsem_recover(), the library finds that
 * the owner is dead and gives the permits back. tsem_release() ends a hold in the process that owns or has lent it.
 * tsem_reap() ends it in the parent or the lender, when the owner has ended. Any process may call tsem_post() and
 * tsem_release_for().
 *
 * A function that waits has three forms:
 *
 *     tsem_X(.., deadline)      waits until `deadline`, an absolute time of CLOCK_MONOTONIC; NULL waits without end
 *     tsem_try_X(..)            does not wait, but fails with EAGAIN
 *     tsem_X_wait(.., wait)     waits as struct tsem_wait says; NULL waits without end
 *
 * X is take or acquire. tsem_post_and_take() has no deadline, and the third form beside it. tsem_acquire_all() and
 * tsem_acquire_any() take a struct tsem_wait, and tsem_wait_idle() takes a deadline. With a deadline in the past no
 * form sleeps. No form looks at the deadline before it has found that there is something to wait for.
 *
 * Rules for every function, unless its comment says otherwise:
 *
 *   - It returns 0 or a negative error number. On failure it has taken and given nothing, and outputs are unchanged.
 *   - It never prints, never ends the process, and never changes a signal's disposition or mask.
 *   - Threads may share a handle and call any function on it at the same time, but tsem_close() must be the last call.
 *     Threads may pass a hold to each other, but only one thread at a time may use it.
 *   - A child of fork() may use its parent's handles. exec() closes the handles, but the process keeps what it holds.
 *   - A process outside of the first PID namespace, or that shares a semaphore with one, keeps one more descriptor for
 *     each semaphore that it has acquired: a lock by which other namespaces notice its death. Children and executed
 *     programs inherit it: see tsem(7), "Other PID namespaces".
 *   - A signal handler that runs during a wait does not disturb the wait, unless TSEM_INTERRUPTIBLE is set.
 *   - No function is a cancellation point. The functions of the program that the library calls run with cancellation
 *     disabled. A wait ends by its deadline, by `progress`, by tsem_cancel(), or by a signal with TSEM_INTERRUPTIBLE. A
 *     thread must not have the type PTHREAD_CANCEL_ASYNCHRONOUS during a call.
 *   - `count` is a number of permits. It is at least 1, and at most the largest of four numbers: the semaphore's
 *     capacity, its creator's number of permits, its maximum, and what is available at that moment. Any other count is
 *     EINVAL. A semaphore that was created with neither permits nor a maximum allows every count. If the capacity is
 *     lowered below the count of a waiter, this waiter and those behind it wait until the capacity is raised.
 *   - A structure that may grow begins with its size. The caller sets it to sizeof, as it was compiled; the library
 *     accepts older and newer programs. Members that one side does not know are 0 for it; EINVAL if the program sets
 *     one that the library does not know, or if the size is that of no version (4,096 bytes at most).
 *
 * tsem(3) is this text as a manual page. tsem(7) describes the model, what is promised, and what is not.
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

/* A handle on one semaphore: a mapping of its segment. A handle opened with TSEM_READ_ONLY is only an open file. */
typedef struct tsem tsem;

/*
 * A hold: permits that are recorded for a process. The caller provides the memory; the content is private. A hold may
 * be moved: a copy is as good as the original, and only one of them may be used. A hold of zeros (TSEM_HOLD_INIT) is
 * void, and every function refuses it. What a function does with one that was never initialised is undefined.
 */
typedef struct tsem_hold {
	uint64_t private_words[16];
} tsem_hold;

/* clang-format off */
#define TSEM_HOLD_INIT {{0}}
/* clang-format on */

/* A process that tsem_find_process() has found. The content is private; a copy is as good as the original. */
typedef struct tsem_process {
	uint64_t private_words[4];
} tsem_process;

/* Flags of tsem_create(), tsem_open() and tsem_remove(). */
#define TSEM_FORCE 1U     /* tsem_remove: also while the semaphore is in use */
#define TSEM_FOREIGN 2U   /* also a semaphore of another user, who could spoil its counts */
#define TSEM_READ_ONLY 4U /* tsem_open: for tsem_stat(), tsem_owners() and tsem_snapshot() only */
#define TSEM_EXIST_OK 8U  /* tsem_create: open it if it exists with this number of permits */
#define TSEM_GROUP 128U   /* tsem_create: the file gets the group of the configuration */
#define TSEM_BOUNDED 64U  /* tsem_create: posts only give back what was taken, so no post raises the limit */

/* Flag of struct tsem_wait and of tsem_wait_idle(). */
#define TSEM_INTERRUPTIBLE 256U /* a signal handler that ran ends the wait with EINTR */

#define TSEM_HOLDERS 16U   /* tsem_wait_idle: wait for holders only, not for waiters */
#define TSEM_ABANDONED 32U /* tsem_reap: the owner did not end in order */

#define TSEM_NO_SLOT UINT32_MAX
#define TSEM_SLOTS_MAX 1024U    /* slots are numbered from 0 to one below this */
#define TSEM_SEMAPHORES_MAX 64U /* of tsem_acquire_all() and tsem_acquire_any() */

struct tsem_config {
	size_t size;      /* sizeof(struct tsem_config) */
	uint32_t permits; /* 0 to UINT32_MAX; with 0 only posts make permits available */
	uint32_t max;     /* posts do not raise `available` above this; at least `permits`; 0: no maximum */
	mode_t mode;      /* permissions, umask not applied; 0: 0600 */
	unsigned flags;   /* TSEM_EXIST_OK, TSEM_FOREIGN, TSEM_BOUNDED, TSEM_GROUP */
	gid_t group;      /* with TSEM_GROUP */
};

/*
 * How to wait. The waiting thread calls `progress`, if it is not NULL, with the waiter's place in the queue; 1 is next.
 * If it returns non-zero, the wait fails with ECANCELED.
 *
 * With `every_ms` above 0 the call comes about every `every_ms` milliseconds. With 0 it comes every 800 ms, and the place
 * is not looked up, and is given as 0. The place is also 0 while the waiter has none, because all records are in use.
 */
struct tsem_wait {
	size_t size; /* sizeof(struct tsem_wait) */
	const struct timespec *deadline;
	unsigned flags; /* TSEM_INTERRUPTIBLE */
	int (*progress)(void *arg, uint32_t position);
	void *arg;
	uint32_t every_ms;
};

/* ---- creating, opening, removing ---- */

/*
 * Creates the semaphore `name` and opens it. The name has 1 to 200 letters, digits, '.', '_' and '-', and starts with
 * neither '.' nor '-'. If `out` is NULL, the semaphore is not opened. If this process dies during the call, the
 * semaphore is there and complete, or it is not there.
 *
 * With TSEM_EXIST_OK the function opens an existing semaphore if `permits` is its creator's number of permits or its
 * capacity, which tsem_set() has changed; but while the capacity is 0, only the creator's number is accepted. Maximum,
 * mode, group and TSEM_BOUNDED are not compared.
 *
 * With TSEM_BOUNDED a post gives back what was taken by tsem_take(), and fails with EOVERFLOW if that is less than what
 * it posts. So the permits that are available and those that processes have are never more than the capacity, which
 * only tsem_set() changes. Such a post looks at all records, and takes longer while others use the semaphore.
 *
 * EEXIST: it exists; with TSEM_EXIST_OK: with other numbers of permits. EINVAL: the name or a member of `config`.
 * EPERM: this process may not give a file to that group.
 * ENAMETOOLONG: the name has more than 200 characters. ENOSPC: shared memory is full. EFBIG: RLIMIT_FSIZE does not
 * allow a file of 32 KiB. EROFS, EACCES, EMFILE, ENFILE, ENOMEM. With TSEM_EXIST_OK also the errors of tsem_open().
 */
int tsem_create(const char *name, const struct tsem_config *config, tsem **out);

/*
 * Opens an existing semaphore. `flags`: TSEM_FOREIGN, TSEM_READ_ONLY.
 *
 * ENOENT: no semaphore has this name. EACCES: its mode does not allow it. EPERM: it belongs to another user, who is not
 * root, and TSEM_FOREIGN is not set. EMLINK: the file has another name, a hard link, which another user may have made.
 * EBADMSG: the file is not a semaphore, or it is damaged. EPROTONOSUPPORT: a build with another layout made it. EIDRM:
 * it is being removed. EBUSY: another process has a lease on the file (fcntl(2)); with TSEM_EXIST_OK also: the process
 * that removes a semaphore of this name does not go on. ENOMEM: also if the program has locked all its memory, and
 * RLIMIT_MEMLOCK does not allow 3 MiB more. EINVAL: the name or `flags`. ENAMETOOLONG, EROFS, EMFILE, ENFILE.
 *
 * A process that may write the file can truncate it. SIGBUS then kills each process that has the semaphore open, when
 * it next touches the part that is gone. A handle opened with TSEM_READ_ONLY is safe from this: each call on it reads
 * the file into memory of its own.
 */
int tsem_open(const char *name, unsigned flags, tsem **out);

/*
 * Closes the handle; `sem` may be NULL. Holds that came through the handle stay, and end with their owner; the program
 * can no longer release them through a tsem_hold. When the call begins, no other call on the handle may be under way,
 * except a tsem_post() whose permit the calling thread has taken. A tsem_release() is under way until it returns, even
 * if the next waiter has been admitted before.
 */
void tsem_close(tsem *sem);

/*
 * Removes the semaphore: its waiters fail with EIDRM at once. Without TSEM_FORCE the function first acquires all
 * permits, so that it cuts off no process that uses the semaphore. `flags`: TSEM_FORCE, TSEM_FOREIGN.
 *
 * With TSEM_FORCE it also removes a file that is damaged or of another version. If the file has several names,
 * TSEM_FORCE removes this name only, and the semaphore stays in use.
 *
 * EBUSY: a process holds or waits, or permits that were taken have not been posted back; or another process removes the
 * name and has not ended within a second: it may be stopped. EOVERFLOW: more than 2^38 permits are available (not with
 * TSEM_FORCE). ENOENT: no semaphore has this name, or another process has removed it meanwhile. The other errors of
 * tsem_open() and tsem_try_acquire(), and those of unlink(2).
 *
 * If this process dies during the call, the semaphore is as it was, or it is removed. Once it is removed, no handle
 * gets a permit: EIDRM. A tsem_post() may still succeed until another process has noticed the removal.
 */
int tsem_remove(const char *name, unsigned flags);

/* ---- anonymous permits ---- */

/*
 * Takes `count` permits without recording an owner: only tsem_post() brings them back, so the death of this process
 * does not. Waits in the queue until `deadline`. A process that is killed during the call has taken the permits or it
 * has not; the queue skips the place of a killed waiter.
 *
 * ETIMEDOUT: before this error the function recovers what dead processes held, and looks for permits once more. EINVAL:
 * `count` or `deadline`. EIDRM: the semaphore is removed. ECANCELED: tsem_cancel(). EUSERS: all 32,766 records are in
 * use, also after those of dead processes have been recovered. ENOSPC, EFBIG: the wait needs a record, and shared memory is full, or
 * RLIMIT_FSIZE does not allow the file to grow. EOVERFLOW: the range of the counters. EPERM: the handle is read-only.
 * EBADMSG: the semaphore is damaged, or the program has closed the handle's file descriptor. ENOMEM, EMFILE, ENFILE: in
 * the first call of a forked child only.
 */
int tsem_take(tsem *sem, uint32_t count, const struct timespec *deadline);

/*
 * EAGAIN: there are not enough permits, or a process is in the queue. Before this error the function recovers what dead
 * processes held, but at most every 10 ms on one handle. Other errors as tsem_take().
 */
int tsem_try_take(tsem *sem, uint32_t count);

/* Errors as tsem_take(). EINTR: with TSEM_INTERRUPTIBLE. ECANCELED: also if `progress` returned non-zero. */
int tsem_take_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait);

/*
 * Posts `count` permits, at least 1: waiters get them in queue order, the rest stays available. `previous`, if not
 * NULL, receives the number of permits that were available before, UINT32_MAX at most.
 *
 * EOVERFLOW: `available` would exceed the maximum or the range of the counters; or with TSEM_BOUNDED: fewer permits
 * were taken by tsem_take() and not posted back. EINVAL: `count` is 0. EIDRM: the semaphore is removed. EPERM: the
 * handle is read-only. EBADMSG: the semaphore is damaged.
 *
 * The call touches neither the semaphore's memory nor the handle after the permits can be taken. So a thread that takes
 * the last permit it needs may then close the handle and unmap the memory, although the posting thread has not
 * returned. Three kinds of post may touch both until they return: a post of 4,096 permits or more; a post of several
 * permits while the queue contains places that waiters gave up; and a post while a thread is in tsem_wait_idle().
 *
 * Async-signal-safe. Needs up to 3 KiB of stack, if the compiler has optimized the library.
 */
int tsem_post(tsem *sem, uint32_t count, uint32_t *previous);

/*
 * Posts one permit to `post_to`, and takes one permit from `take_from`; both may be the same semaphore. The caller gets
 * its place in the queue of `take_from` before it posts: no process that the post admits gets in front of it there.
 *
 * If the caller gets no place, or if the post fails, neither has happened. If the wait fails, the post has happened. A
 * process that is killed during the call may have posted without having taken; its place is skipped.
 *
 * Errors of tsem_take_wait() and tsem_post().
 */
int tsem_post_and_take(tsem *post_to, tsem *take_from);
int tsem_post_and_take_wait(tsem *post_to, tsem *take_from, const struct tsem_wait *wait);

/* ---- owned permits ---- */

/* Acquires `count` permits for the calling process. Waits in the queue until `deadline`. Errors as tsem_take(). */
int tsem_acquire(tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold);

/* As tsem_try_take(). */
int tsem_try_acquire(tsem *sem, uint32_t count, tsem_hold *hold);

/* As tsem_take_wait(). */
int tsem_acquire_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait, tsem_hold *hold);

/*
 * Gives the permits back. It also ends a loan, and returns 0 even if the borrower has died and the permits have come
 * back by that.
 *
 * EPERM: this process neither owns the hold nor has lent it. The hold is void or was released before, or the process
 * has inherited it by fork(), or another process has it by tsem_hand_over() or tsem_adopt(), or has declared this one
 * dead by tsem_recover_owner(). EBADMSG: the semaphore is damaged.
 */
int tsem_release(tsem_hold *hold);

/*
 * The slot of a hold: a number that no other live hold has. It is the lowest free number, from 0 on, at the first call,
 * and stays the same until the hold ends. It is below the capacity, unless more permits are held than that, because the
 * capacity was lowered or more was posted. Several threads of the owner may ask at the same time.
 *
 * TSEM_NO_SLOT: the hold is void, or all slots are in use.
 */
uint32_t tsem_hold_slot(const tsem_hold *hold);

/*
 * The slots of a hold of several permits, one for each permit. Stores the lowest `n` slots in ascending order, and
 * returns how many the hold has.
 */
size_t tsem_hold_slots(const tsem_hold *hold, uint32_t *slots, size_t n);

/*
 * Whether an owner died with permits before this hold was admitted, and no holder was told since: the data that the
 * semaphore protects may be incomplete. One of the holders admitted after the death is told. If this holder dies or
 * hands the hold over, a later holder is told again.
 */
bool tsem_hold_recovered(const tsem_hold *hold);

/*
 * For compilers with the attribute `cleanup` (gcc, clang). Each macro declares a variable: a void hold or a null
 * handle. The end of the scope releases or closes it, also after return, break and goto, but not after longjmp() or
 * exit().
 *
 *     TSEM_SCOPED_HOLD(hold);
 *     int rc = tsem_acquire(sem, 1, NULL, &hold);
 *     if (rc < 0)
 *         return rc;
 *
 * A hold that was never acquired, or that was released or handed over, is left alone; a loan ends. The hold must end
 * before its handle is closed. Scoped variables end in the reverse order of their declarations, so declare the handle
 * first.
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

/* NOLINTBEGIN(bugprone-macro-parentheses): a declared name cannot stand in parentheses */
#define TSEM_SCOPED_HOLD(name) __attribute__((cleanup(tsem_scoped_hold_end))) tsem_hold name = TSEM_HOLD_INIT
#define TSEM_SCOPED_HANDLE(name) __attribute__((cleanup(tsem_scoped_handle_end))) tsem *name = NULL
/* NOLINTEND(bugprone-macro-parentheses) */
#endif

/* ---- another owner ---- */

/*
 * Finds the process that has the number `pid` now. The caller must know that this is the process that it means, as a
 * parent knows it of a child that it has not waited for. `process` also contains the start time, which tells this
 * process from a later one with the same number (tsem(7)). Without a usable /proc it contains the number only.
 * `process` is valid in all processes of the same PID namespace.
 *
 * ESRCH: no process has this number, or it has ended; the number of a thread is not one. ENOMEM, EMFILE, ENFILE.
 */
int tsem_find_process(pid_t pid, tsem_process *process);

/*
 * Makes `process` the owner of this process's hold. The hold lasts until that process ends, or until
 * tsem_release_for(). The new owner is not told what tsem_hold_recovered() says of the hold; the next holder is.
 *
 * ESRCH: the process has ended, even if another process has its number now; the hold is unchanged. EPERM: the hold is
 * not this process's own. ENOMEM, EMFILE, ENFILE.
 */
int tsem_hand_over_to(tsem_hold *hold, const tsem_process *process);

/*
 * tsem_find_process() and tsem_hand_over_to() in one call, for a process that the caller knows to live. A caller that
 * waits for permits after it learned the number uses the two functions: the number may be another process's by now.
 */
int tsem_hand_over(tsem_hold *hold, pid_t pid);

/*
 * Gives back the newest hold that was handed over to the process that has the number `pid` now. Any process may call
 * it. Holds that were lent to the process are left alone, and so are holds of an earlier process with this number,
 * which come back by themselves.
 *
 * ENOENT: there is no such hold. ESRCH: no process has this number. EPERM: the handle is read-only. EBADMSG: the
 * semaphore is damaged. ENOMEM, EMFILE, ENFILE.
 */
int tsem_release_for(tsem *sem, pid_t pid);

/*
 * Makes `process` the owner of this process's hold, as tsem_hand_over_to() does and with the same errors, but the
 * caller ends the hold: by tsem_release() at any time, or by tsem_reap() when the process has ended. A process that
 * ends by itself has abandoned nothing; see tsem_hold_recovered().
 */
int tsem_lend(tsem_hold *hold, const tsem_process *process);

/*
 * Makes the hold of the parent the hold of the calling child, for example before the child executes a command. The hold
 * lasts until the child ends. The parent must not release it at the same time.
 *
 * EPERM: the parent does not own the hold any more: it has died or has released the hold; or the caller is the owner
 * itself. The child has no permit. EXDEV: the child was born into another PID namespace than its parent's, where its
 * number would mean nothing to other processes. EMFILE, ENFILE: the child has no descriptor left to read its start time
 * in /proc. After EXDEV, EMFILE and ENFILE the parent still owns the hold.
 *
 * Async-signal-safe, and safe in a child of vfork().
 */
int tsem_adopt(tsem_hold *hold);

/*
 * Gives back a hold whose owner has ended: a child that adopted it, or the borrower of a loan. A parent calls it before
 * it reaps the child, after waitid() with WNOWAIT. Without this call the next waiter finds the death within half a
 * second. A hold that the caller still owns is released. Returns 0 also if the hold has come back by another way.
 *
 * `flags`: TSEM_ABANDONED if the owner was killed, or if the caller was told that another owner had died and has not
 * used the hold. Then the next holder is told; see tsem_hold_recovered(). A child that ended by itself has given its
 * permits back in order, unless the parent died before it.
 *
 * EBUSY: the owner may be alive; it keeps the hold, and the caller may try again. EPERM: the hold is void. EINVAL:
 * `flags`.
 */
int tsem_reap(tsem_hold *hold, unsigned flags);

/* ---- several semaphores ---- */

/*
 * Acquires one permit of each of `n` semaphores, or none: after a failure the function has given back what it had
 * acquired. holds[i] is that of sems[i]. `n` is 1 to TSEM_SEMAPHORES_MAX. The semaphores are acquired one after the
 * other in the order of their UUIDs, so callers that name the same ones in any order never deadlock. `wait` is for all
 * of them together.
 *
 * EINVAL: also `n`, or the same semaphore twice. Other errors as tsem_acquire_wait().
 */
int tsem_acquire_all(tsem *const sems[], size_t n, const struct tsem_wait *wait, tsem_hold holds[]);

/*
 * Acquires one permit of the semaphore that grants it first, and gives up its places in the other queues. `which`
 * receives the index. If several have a permit at once, the first of them grants it. `progress` gets the place in the
 * queue of sems[0]. An event that ends the wait for one semaphore (ECANCELED, EIDRM) ends it for all.
 *
 * Errors as tsem_acquire_all().
 */
int tsem_acquire_any(tsem *const sems[], size_t n, const struct tsem_wait *wait, tsem_hold *hold, size_t *which);

/* ---- governing ---- */

/*
 * Changes the capacity, from 0 (no process is admitted any more: the semaphore drains) to UINT32_MAX. No process loses
 * a permit: holders keep theirs, and so does a waiter that was enabled before the capacity was lowered. A raise wakes
 * the waiters that it enables. The creator's number stays the same.
 *
 * EOVERFLOW: above the maximum or the range of the counters. EPERM: the handle is read-only. EIDRM: the semaphore is
 * removed. EUSERS, ENOSPC, EFBIG: lowering needs a record. EBADMSG: the semaphore is damaged. After an error nothing
 * has changed.
 */
int tsem_set(tsem *sem, uint32_t permits);

/*
 * Changes the permissions of the semaphore's file, up to 0777, and its group. 0 and (gid_t)-1 leave them as they are.
 * Processes that have the semaphore open can use it as before.
 *
 * EPERM: only its owner and root can change them, and the owner only to a group that it is in. EINVAL: `mode`. EBADF:
 * the semaphore is in memory of the program, or the program has closed the handle's file descriptor. EROFS.
 */
int tsem_set_access(tsem *sem, mode_t mode, gid_t group);

/*
 * Corrects the count: what is available becomes the capacity less what is recorded for processes. Permits that were
 * taken by tsem_take() and not posted back come back, at most UINT32_MAX at once; permits that were posted beyond those
 * taken are withdrawn. If such a permit is not available, it is withdrawn when it comes back, but the waiters that are
 * in the queue now come first. Holders, waiters and the capacity stay as they are.
 *
 * The correction is one step, as of one instant of the call: a take or a post that ends before the call is corrected, a
 * later one counts as usual, and of two corrections at the same time only one has an effect. A process that has taken
 * permits and posts them after this call posts them in excess, or fails with TSEM_BOUNDED.
 *
 * `*correction` receives the number of permits that came back; a negative number was withdrawn. It may be NULL.
 *
 * EPERM: the handle is read-only. EIDRM: the semaphore is removed. EOVERFLOW: the range of the counters. EBADMSG: the
 * semaphore is damaged.
 */
int tsem_set_exact(tsem *sem, int64_t *correction);

/*
 * Waits until no process holds and no process waits, or with TSEM_HOLDERS until no process holds. Permits that were
 * taken and not posted back count as held. Other processes may come at the same instant; tsem_set() keeps them away.
 * Dead holders are recovered as by any waiter. `flags`: TSEM_HOLDERS, TSEM_INTERRUPTIBLE.
 *
 * ETIMEDOUT, EINTR. EIDRM: the semaphore is removed. EINVAL: `flags` or `deadline`. EPERM: the handle is read-only.
 */
int tsem_wait_idle(tsem *sem, unsigned flags, const struct timespec *deadline);

/*
 * Ends all present waits for permits with ECANCELED. Holders are unaffected; later arrivals wait as usual. EIDRM: the
 * semaphore is removed. EPERM: the handle is read-only.
 */
int tsem_cancel(tsem *sem);

/*
 * Ends the present waits of one process with ECANCELED. `pid` and `pid_ns` as for tsem_recover_owner(). A waiter that
 * is stopped keeps its place until it goes on.
 *
 * ENOENT: the process does not wait. ENOTUNIQ, EINVAL, EPERM: as tsem_recover_owner(). EIDRM: the semaphore is removed.
 */
int tsem_cancel_owner(tsem *sem, pid_t pid, uint32_t pid_ns);

/* ---- memory of the program ---- */

/*
 * A semaphore in memory that the program provides, as an unnamed sem_t with `pshared`. The processes that use it share
 * `memory` (MAP_SHARED), which is aligned to 64 bytes. Promises are the same, but the semaphore cannot grow: when all
 * records are in use, a call that needs one fails with EUSERS. tsem_close() frees the handle; the memory
 * stays the program's.
 *
 * tsem_size_at() returns the size for a number of processes and threads that may hold or wait at the same time.
 * tsem_init_at() makes the semaphore; exactly one process calls it. In `config`, mode is 0, and flags are 0 or
 * TSEM_BOUNDED. Other processes call tsem_open_at() with their own mapping of the memory; a child of fork() may use its
 * parent's handle.
 *
 * EINVAL: `memory`, `config`, or `size` (too small, or smaller than the semaphore was made with). EBADMSG:
 * tsem_init_at() has not finished yet. EPROTONOSUPPORT, ENOMEM, EMFILE, ENFILE.
 */
size_t tsem_size_at(uint32_t participants);
int tsem_init_at(void *memory, size_t size, const struct tsem_config *config, tsem **out);
int tsem_open_at(void *memory, size_t size, tsem **out);

/* ---- looking and repairing ---- */

/*
 * Gives back the permits of dead owners, and skips the places of dead waiters, at once. `recovered`, if not NULL,
 * receives the number of permits that came back. Progress never needs this call: waiters do the same. EPERM: the handle
 * is read-only.
 */
int tsem_recover(tsem *sem, uint32_t *recovered);

/*
 * The same for one owner; for all of its holds and waits. If `pid_ns` is 0, `pid` is the owner's number here, or its
 * own one if it has none here: tsem_owners() reports both, as pid_here and pid. Otherwise `pid_ns` is the owner's PID
 * namespace, and `pid` its number there.
 *
 * TSEM_FORCE declares the owner dead if no process can tell (TSEM_UNKNOWN), because the caller knows it: the permits
 * come back, and the next holder is told; see tsem_hold_recovered(). If the owner lives all the same, there may be as
 * many holders too many as it has permits, until it notices: its releases fail with EPERM, and its waits with
 * ECANCELED. If it was stopped in the middle of an acquire or a release, its permits may come back a second time, which
 * tsem_set_exact() corrects. A record stays in use for each of its holds, until a process can tell that it has died.
 *
 * EBUSY: the owner is alive; its permits come back when it ends. EXDEV: no process can tell from here, and `flags` is
 * 0. ENOTUNIQ: owners in several PID namespaces have this number, and `pid_ns` is 0. ENOENT: the owner neither holds
 * nor waits. EINVAL: `flags` or `pid`. EPERM: the handle is read-only. After an error nothing has changed.
 */
int tsem_recover_owner(tsem *sem, pid_t pid, uint32_t pid_ns, unsigned flags, uint32_t *recovered);

#define TSEM_HISTOGRAM_BINS 48

struct tsem_stat {
	size_t size;        /* sizeof(struct tsem_stat), set by the caller */
	uint32_t permits;   /* the creator's number */
	uint32_t capacity;  /* permits that exist now */
	uint32_t max;       /* 0: no maximum */
	uint32_t waiting;   /* waiters in the queue */
	uint64_t available; /* free permits */
	uint64_t held;      /* permits taken or held */
	uint64_t ticket;    /* the two counters, modulo 2^48 */
	uint64_t grant;
	int64_t created; /* seconds since the Epoch */
	uid_t uid;       /* of the owner of the file */
	mode_t mode;
	unsigned char uuid[16];
	uint64_t contended;     /* waits that neither the arrival nor a short spin ended, successful or not */
	uint64_t wait_total_ns; /* duration of all contended waits, and of the longest */
	uint64_t wait_longest_ns;
	uint64_t recovered;                      /* permits that came back from dead owners */
	uint64_t timeouts;                       /* waits that were given up, for any reason */
	uint64_t handed_over;                    /* holds that were handed over or lent */
	uint64_t histogram[TSEM_HISTOGRAM_BINS]; /* bin i: contended waits below 2^i us that bin i - 1 does not count */
	uint64_t excess;                         /* permits posted beyond those taken; 0 with TSEM_BOUNDED */
	gid_t gid;                               /* of the file */
	unsigned flags;                          /* TSEM_BOUNDED */
	/*
	 * At the front of the queue: the permits that the first waiter wants, 0 if none waits; and those that are free for
	 * it, or without waiters for a newcomer, below 0 while more are held than exist. Those that are too few for the
	 * first waiter are kept for it, and `available` does not count them.
	 */
	uint64_t first_wanted;
	int64_t first_free;
};

/*
 * Fills in a snapshot of the counts. The caller has set stat->size.
 *
 * EINVAL: stat->size. EBADF: the program has closed the handle's file descriptor. With a handle opened with
 * TSEM_READ_ONLY also EBADMSG: the file was truncated or spoilt since; and ENOMEM.
 */
int tsem_stat(tsem *sem, struct tsem_stat *stat);

enum tsem_alive { TSEM_DEAD, TSEM_ALIVE, TSEM_UNKNOWN };

struct tsem_owner {
	size_t size; /* of the library's structure: do not read members beyond it */
	pid_t pid;   /* in the PID namespace of that process */
	uid_t uid;
	uint32_t count;    /* permits */
	uint32_t position; /* 0: holds; from 1: place in the queue */
	enum tsem_alive alive;
	bool owned;       /* false: waits in tsem_take() */
	bool handed_over; /* or lent */
	bool foreign_pid; /* `pid` means nothing to the caller: it is of another PID namespace, or this is not known */
	uint64_t ticket;
	uint64_t elapsed_ns;  /* since it holds or waits */
	int64_t remaining_ns; /* of a waiter: until its deadline; -1: none */
	uint32_t slot;        /* of a holder that has asked for one: the lowest of its slots; else TSEM_NO_SLOT */
	uint32_t slot_count;
	const uint32_t *slots; /* all of them, ascending; valid during the call */
	pid_t pid_here;        /* in the PID namespace of the caller; 0: it has none there, or that is not known */
	uint32_t pid_ns;       /* the PID namespace of `pid`, as lsns(8) numbers them; 0: not known */
};

/* A non-zero result ends the enumeration; the function that enumerates returns it. */
typedef int tsem_owner_fn(const struct tsem_owner *owner, void *arg);
typedef int tsem_name_fn(const char *name, void *arg);

/*
 * Calls `each` for every holder, oldest first, and then for every waiter in queue order.
 *
 * ENOMEM. With a handle opened with TSEM_READ_ONLY also EBADMSG and EBADF, as tsem_stat().
 */
int tsem_owners(tsem *sem, tsem_owner_fn *each, void *arg);

/*
 * tsem_stat() and tsem_owners() of the same instant, so that the counts agree with the owners. `stat` is filled in
 * before the first call of `each`. On a semaphore that changes faster than its records can be read, the owners may be
 * those of a moment later. Errors of both.
 */
int tsem_snapshot(tsem *sem, struct tsem_stat *stat, tsem_owner_fn *each, void *arg);

/* Calls `each` for the name of every semaphore, sorted. ENOMEM, and the errors of opendir(3). */
int tsem_list(tsem_name_fn *each, void *arg);

#pragma GCC visibility pop
#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif

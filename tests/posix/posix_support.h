/* SPDX-License-Identifier: MIT */
/* What the tests of libtsem-posix share: POSIX names, the calls that block, and processes that wait. */
#ifndef TSEM_TESTS_POSIX_SUPPORT_H
#define TSEM_TESTS_POSIX_SUPPORT_H

#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>

#ifndef __GLIBC__
int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *deadline);
#endif

/* ---- names ---- */

/* A POSIX name that no other test uses. Its file is removed at the end, also if the test fails. */
const char *fresh_posix_name(void);

/* The name for tsem_open(), in a static buffer. */
const char *tsem_name_of(const char *posix);

/* The tsem semaphore below the POSIX semaphore, opened to be read; or it fails the test. */
tsem *look_at(const char *posix);

/* How many processes and threads wait, UINT32_MAX: it cannot be found out. Children may call it. */
uint32_t waiting_for(const char *posix);

/* How many permits are recorded for processes that own them. */
uint32_t owned_permits(tsem *look);

/* ---- semaphores ---- */

/* Creates a semaphore, or opens one that exists, or fails the test. */
sem_t *new_posix(const char *posix, unsigned value);
sem_t *open_posix(const char *posix);

/* The value, INT_MIN: sem_getvalue() has failed. Children may call it. */
int value_of(sem_t *sem);

/* Whether the tests run with holds. */
bool with_holds(void);

/* A call that returns -1 with this error number; the second one is for children. */
#define EXPECT_ERROR(number, call)       \
	do {                                 \
		errno = 0;                       \
		assert_int_equal((call), -1);    \
		assert_int_equal(errno, number); \
	} while (0)
#define CHECK_ERROR(number, call) CHECK((errno = 0, (call)) == -1 && errno == (number))

/* The same for sem_open(). */
#define EXPECT_OPEN_ERROR(number, call)       \
	do {                                      \
		errno = 0;                            \
		assert_ptr_equal((call), SEM_FAILED); \
		assert_int_equal(errno, number);      \
	} while (0)
#define CHECK_OPEN_ERROR(number, call) CHECK((errno = 0, (call)) == SEM_FAILED && errno == (number))

/* ---- calls that block ---- */

/* The time of `clock` in that many milliseconds. */
struct timespec time_from_now(clockid_t clock, long milliseconds);

/* sem_wait(), and the calls with a deadline that is an hour away. */
struct blocking_call {
	const char *name;
	int (*wait)(sem_t *sem);
};

enum { BLOCKING_CALLS = 4 };
extern const struct blocking_call blocking_calls[BLOCKING_CALLS];

/* ---- processes ---- */

/* Runs body(arg) in a child that ends after a minute at the latest. */
pid_t start_bounded(int (*body)(void *arg), void *arg);

/* The same, and returns its exit status. */
int run_bounded(int (*body)(void *arg), void *arg);

/* Runs body(arg) as the first process of a new PID namespace, which dies with the test. -1: that is refused here. */
pid_t start_in_pid_namespace(int (*body)(void *arg), void *arg);

/* Waits for a condition in a child, which its alarm ends. */
#define AWAIT(condition)      \
	do {                      \
		while (!(condition))  \
			pause_a_moment(); \
	} while (0)

/* A process that waits, and that stays until it may end: with its hold, if there is one. It is in shared memory. */
struct waiter {
	sem_t *sem;
	int (*wait)(sem_t *sem);
	int (*prepare)(struct waiter *waiter); /* NULL: nothing; returns 0 */
	_Atomic int handled;                   /* signals */
	_Atomic bool is_back;
	_Atomic bool may_end;
	int rc;
	int error;
	pid_t pid;
};

/* Starts it. */
struct waiter *new_waiter(sem_t *sem, int (*wait)(sem_t *sem));
struct waiter *new_waiter_prepared(sem_t *sem, int (*wait)(sem_t *sem), int (*prepare)(struct waiter *waiter));

/* The waiter of this process. */
extern struct waiter *this_waiter;

/* Waits until the process sleeps in the kernel. */
void await_sleep(pid_t pid);

/* Waits until it is back with 0. */
void expect_success(struct waiter *waiter);

/* Waits until it is back with -1 and this error number. */
void expect_failure(struct waiter *waiter, int error);

/* Lets it end, and frees it. */
void end_waiter(struct waiter *waiter);

/* Kills it, and frees it. */
void kill_waiter(struct waiter *waiter);

/* Stops it, and waits until it has stopped. */
void stop_child(pid_t pid);

#endif

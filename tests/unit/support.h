/* SPDX-License-Identifier: MIT */
/*
 * What the tests share: names that nobody else has and that vanish with the test, children that never outlive it, and
 * waiting for a condition. Includes cmocka with what that wants before it.
 */
#ifndef TSEM_TESTS_SUPPORT_H
#define TSEM_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
#include <cmocka.h>

#include "tsem.h"

/* Some things a test cannot ask for under a sanitizer. ThreadSanitizer's vfork() is a fork(), and it makes calls of its
 * own; both they and AddressSanitizer map memory as they need it. */
#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER true
#else
#define UNDER_THREAD_SANITIZER false
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define UNDER_SANITIZER true
#else
#define UNDER_SANITIZER UNDER_THREAD_SANITIZER
#endif

/* For bodies of children, where assertions do not reach: the first that does not hold makes the exit status. */
#define CHECK(condition)               \
	do {                               \
		if (!(condition))              \
			return __LINE__ % 251 + 1; \
	} while (0)

/* Skips the running test, and says why. */
#define SKIP(...)                        \
	do {                                 \
		print_message("# " __VA_ARGS__); \
		print_message("\n");             \
		skip();                          \
	} while (0)

/*
 * To be called first in main(). The program is ended after `seconds`, so that nothing hangs for ever; what the names
 * below lead to is removed then, at exit, and on SIGTERM.
 */
void support_start(unsigned seconds);

/* A name that no other test uses, valid until the program ends. */
const char *fresh_name(void);

/* The file of a semaphore called `name`, in a static buffer. */
const char *file_of(const char *name);

/* A new semaphore, open; fails the test if that cannot be. */
tsem *new_semaphore(uint32_t permits, uint32_t max);
tsem *new_semaphore_named(const char *name, uint32_t permits, uint32_t max);

/* Another handle on it. */
tsem *open_semaphore(const char *name);

struct tsem_stat stat_of(tsem *sem);

/* Nobody holds or waits, and all of the capacity is available: nothing was lost, and nothing given back twice. */
void expect_at_rest(tsem *sem, uint32_t capacity);

/* Runs body(arg) in a child that dies with the test; its result is the exit status. */
pid_t start_child(int (*body)(void *arg), void *arg);

/* Bodies of children that stay until they are killed; the first one holds a permit of the semaphore `sem` meanwhile. */
int hold_until_killed(void *sem);
int stay_until_killed(void *unused);

/* Memory that is this process's and its children's; fails the test if there is none. */
void *shared_memory(size_t size);

/* Waits for the child to end: its exit status, or 128 + the signal that killed it. */
int end_of_child(pid_t pid);

void kill_child(pid_t pid);

/* The child has ended, and is a zombie from here on until end_of_child(). */
void await_zombie(pid_t pid);

struct timespec deadline_in(long milliseconds);

/* Waits until the condition holds; fails the test after ten seconds, which is only there against hanging. */
#define EVENTUALLY(condition)                                                        \
	do {                                                                             \
		const struct timespec give_up_ = deadline_in(10000);                         \
		while (!(condition)) {                                                       \
			if (deadline_has_passed(&give_up_))                                      \
				fail_msg("%s:%d: still not so: %s", __FILE__, __LINE__, #condition); \
			pause_a_moment();                                                        \
		}                                                                            \
	} while (0)

bool deadline_has_passed(const struct timespec *deadline);
void pause_a_moment(void);

#ifdef __cplusplus
}
#endif

#endif

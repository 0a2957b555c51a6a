/* SPDX-License-Identifier: MIT */
/*
 * What all tests in C share: names that no other test has and that are removed with the test, children that never
 * outlive it, and waiting for a condition. Includes cmocka, and before it the headers that cmocka needs.
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

/*
 * Sanitizers limit what a test can expect: ThreadSanitizer turns vfork() into fork() and makes system calls, and both
 * it and AddressSanitizer map memory at any time.
 */
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

/* For bodies of children, where cmocka's assertions do not work: the first failure gives the exit status. */
#define CHECK(condition)               \
	do {                               \
		if (!(condition))              \
			return __LINE__ % 251 + 1; \
	} while (0)

/* Skips the running test with a reason. */
#define SKIP(...)                        \
	do {                                 \
		print_message("# " __VA_ARGS__); \
		print_message("\n");             \
		skip();                          \
	} while (0)

/*
 * Begins the definition of a test, and registers it. Tests run in the order of their definitions. A set-up or tear-down
 * function may be NULL.
 */
#define TEST(name) TEST_BETWEEN(NULL, NULL, name)
#define TEST_BETWEEN(set_up, tear_down, name)                          \
	static void name(void **state);                                    \
	__attribute__((constructor)) static void register_##name(void)     \
	{                                                                  \
		register_test(#name, name, set_up, tear_down, NULL, __LINE__); \
	}                                                                  \
	static void name(__attribute__((unused)) void **state)

void register_test(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up, CMFixtureFunction tear_down,
                   const void *initial_state, int line);

/*
 * Runs the tests, and returns the exit status. After three times `seconds` the program ends, so that no test hangs. The
 * files of all fresh names are removed then, at exit, and on SIGTERM. A test program without a main() gets one that
 * calls this with 110.
 */
int run_all_tests(unsigned seconds);

/* A name that no other test uses, valid until the program ends. */
const char *fresh_name(void);

/* The same, with a beginning of its own. */
const char *fresh_name_after(const char *beginning);

/* The file of a semaphore called `name`, in a static buffer. */
const char *file_of(const char *name);

/* Creates and opens a semaphore, or fails the test. */
tsem *new_semaphore(uint32_t permits, uint32_t max);
tsem *new_semaphore_named(const char *name, uint32_t permits, uint32_t max);

/* Opens another handle. */
tsem *open_semaphore(const char *name);

struct tsem_stat stat_of(tsem *sem);

/* No process holds or waits, and the whole capacity is available: no permit was lost or returned twice. */
void expect_at_rest(tsem *sem, uint32_t capacity);

/* Runs body(arg) in a child that dies with the test; its result is the exit status. */
pid_t start_child(int (*body)(void *arg), void *arg);

/* Bodies of children that end with what they got. They return 0, or the error number. */
int take_one(void *sem);
int acquire_one(void *sem);

/* Bodies of children that stay until they are killed. The first one holds a permit of the semaphore `sem`. */
int hold_until_killed(void *sem);
int stay_until_killed(void *unused);

/* Memory that this process shares with its children. Fails the test if there is none. */
void *shared_memory(size_t size);

/* Waits for the child's end. Returns its exit status, or 128 + the signal that killed it. */
int end_of_child(pid_t pid);

void kill_child(pid_t pid);

/* Waits until the child is a zombie. It stays one until end_of_child(). */
void await_zombie(pid_t pid);

struct timespec deadline_in(long milliseconds);

/* Waits until the condition is true. Fails the test after ten seconds, so that it does not hang. */
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

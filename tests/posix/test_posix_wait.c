/* SPDX-License-Identifier: MIT */
/*
 * sem_wait(), sem_trywait(), sem_timedwait(), sem_clockwait(), sem_post() and sem_getvalue() for named semaphores. What
 * is quoted is POSIX.1-2017, or a page of the Linux man-pages where it says so.
 */
#include "posix_support.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the value ---- */

TEST(a_wait_locks_at_once_while_the_value_is_positive)
{
	sem_t *sem = new_posix(fresh_posix_name(), BLOCKING_CALLS);
	/* "shall lock the semaphore referenced by sem by performing a semaphore lock operation" */
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		/* "shall return zero if the calling process successfully performed the semaphore lock operation" */
		assert_int_equal(blocking_calls[i].wait(sem), 0);
		assert_int_equal(value_of(sem), BLOCKING_CALLS - 1 - i);
	}
	assert_int_equal(sem_close(sem), 0);
}

TEST(trywait_locks_only_what_is_not_locked)
{
	sem_t *sem = new_posix(fresh_posix_name(), 2);
	/* "shall lock the semaphore referenced by sem only if the semaphore is currently not locked" */
	assert_int_equal(sem_trywait(sem), 0);
	assert_int_equal(value_of(sem), 1);
	assert_int_equal(sem_trywait(sem), 0);
	assert_int_equal(value_of(sem), 0);
	/* "[EAGAIN] The semaphore was already locked, so it cannot be immediately locked by the sem_trywait() operation." */
	EXPECT_ERROR(EAGAIN, sem_trywait(sem));
	/* "If the call was unsuccessful, the state of the semaphore shall be unchanged" */
	assert_int_equal(value_of(sem), 0);
	/* "shall remain locked until the sem_post() function is executed and returns successfully" */
	EXPECT_ERROR(EAGAIN, sem_trywait(sem));
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(sem_trywait(sem), 0);
	assert_int_equal(sem_close(sem), 0);
}

/* A process locks the semaphore and ends. With holds, the permit comes back then. */
static int
lock_once(void *sem)
{
	CHECK(sem_wait(sem) == 0);
	return 0;
}

TEST(it_remains_locked_when_the_process_ends)
{
	if (with_holds())
		SKIP("with holds, the permit comes back");
	sem_t *sem = new_posix(fresh_posix_name(), 1);
	assert_int_equal(run_bounded(lock_once, sem), 0);
	/* "shall remain locked until the sem_post() function is executed and returns successfully" */
	assert_int_equal(value_of(sem), 0);
	EXPECT_ERROR(EAGAIN, sem_trywait(sem));
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(value_of(sem), 1);
	assert_int_equal(sem_close(sem), 0);
}

TEST(a_wait_blocks_until_a_post)
{
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		const char *name = fresh_posix_name();
		sem_t *sem = new_posix(name, 0);
		struct waiter *waiter = new_waiter(sem, blocking_calls[i].wait);
		/* "If the semaphore value is currently zero, then the calling thread shall not return" */
		EVENTUALLY(waiting_for(name) == 1);
		await_sleep(waiter->pid);
		assert_false(waiter->is_back);
		/* "one of the threads blocked waiting for the semaphore shall be allowed to return successfully" */
		assert_int_equal(sem_post(sem), 0);
		expect_success(waiter);
		assert_int_equal(value_of(sem), 0);
		assert_int_equal(waiting_for(name), 0);
		end_waiter(waiter);
		assert_int_equal(sem_close(sem), 0);
	}
}

TEST(a_post_without_waiters_increments_the_value)
{
	sem_t *sem = new_posix(fresh_posix_name(), 0);
	/* "no threads were blocked [...] the semaphore value is simply incremented" */
	for (int i = 1; i <= 5; i++) {
		assert_int_equal(sem_post(sem), 0);
		assert_int_equal(value_of(sem), i);
	}
	for (int i = 0; i < 5; i++)
		assert_int_equal(sem_trywait(sem), 0);
	EXPECT_ERROR(EAGAIN, sem_trywait(sem));
	assert_int_equal(sem_close(sem), 0);
}

/* Two threads use what the semaphore protects. The last one destroys both, while the other one may not have returned yet. */
struct shared {
	sem_t *sem;
	int users;
};

static void *
leave(void *arg)
{
	struct shared *shared = arg;
	sem_t *sem = shared->sem;
	int failures = sem_wait(sem) != 0;
	const bool is_last = --shared->users == 0;
	failures += sem_post(sem) != 0;
	if (is_last)
		failures += sem_close(sem) != 0;
	return failures == 0 ? NULL : shared;
}

TEST(the_last_user_closes_it_while_the_other_one_posts)
{
	enum { TIMES = 3000 };
	const char *name = fresh_posix_name();
	for (int i = 0; i < TIMES; i++) {
		struct shared shared = {.sem = new_posix(name, 1), .users = 2};
		pthread_t thread;
		void *failed;
		assert_int_equal(sem_unlink(name), 0);
		assert_int_equal(pthread_create(&thread, NULL, leave, &shared), 0);
		assert_null(leave(&shared));
		assert_int_equal(pthread_join(thread, &failed), 0);
		assert_null(failed);
	}
}

TEST(each_post_lets_one_waiter_return)
{
	enum { WAITERS = 3 };
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	struct waiter *waiters[WAITERS];
	for (unsigned i = 0; i < WAITERS; i++) {
		waiters[i] = new_waiter(sem, blocking_calls[0].wait);
		EVENTUALLY(waiting_for(name) == i + 1);
	}
	/* "one of the threads blocked waiting for the semaphore shall be allowed to return successfully" */
	for (unsigned i = 0; i < WAITERS; i++) {
		assert_int_equal(sem_post(sem), 0);
		expect_success(waiters[i]);
		for (unsigned j = i + 1; j < WAITERS; j++)
			assert_false(waiters[j]->is_back);
		assert_int_equal(waiting_for(name), WAITERS - 1 - i);
		assert_int_equal(value_of(sem), 0);
	}
	for (unsigned i = 0; i < WAITERS; i++)
		end_waiter(waiters[i]);
	assert_int_equal(sem_close(sem), 0);
}

TEST(getvalue_tells_the_value_and_leaves_it)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 3);
	int value = -99;
	/* "shall update the location referenced by the sval argument [...] without affecting the state of the semaphore" */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(sem_getvalue(sem, &value), 0);
		assert_int_equal(value, 3);
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(sem_wait(sem), 0);
	assert_int_equal(value_of(sem), 0);

	struct waiter *waiters[2];
	for (unsigned i = 0; i < 2; i++) {
		waiters[i] = new_waiter(sem, blocking_calls[0].wait);
		EVENTUALLY(waiting_for(name) == i + 1);
	}
	/* "either be set to zero or to a negative number whose absolute value represents the number of processes waiting" */
	value = value_of(sem);
	if (value != 0)
		assert_int_equal(value, -2);
	assert_int_equal(waiting_for(name), 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(sem_post(sem), 0);
		expect_success(waiters[i]);
	}
	assert_int_equal(value_of(sem), 0);
	for (unsigned i = 0; i < 2; i++)
		end_waiter(waiters[i]);
	assert_int_equal(sem_close(sem), 0);
}

TEST(a_post_beyond_the_highest_value_fails)
{
	sem_t *sem = new_posix(fresh_posix_name(), (unsigned)SEM_VALUE_MAX - 1);
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(value_of(sem), SEM_VALUE_MAX);
	/* sem_post(3): "EOVERFLOW The maximum allowable value for a semaphore would be exceeded." */
	for (int i = 0; i < 3; i++) {
		EXPECT_ERROR(EOVERFLOW, sem_post(sem));
		/* "If unsuccessful, the state of the semaphore shall be unchanged" */
		assert_int_equal(value_of(sem), SEM_VALUE_MAX);
	}
	assert_int_equal(sem_wait(sem), 0);
	assert_int_equal(value_of(sem), SEM_VALUE_MAX - 1);
	assert_int_equal(sem_post(sem), 0);
	EXPECT_ERROR(EOVERFLOW, sem_post(sem));
	assert_int_equal(sem_close(sem), 0);
}

/* The call on the semaphore, which has this value: whether it does what a number would do. */
static int
lock_with_any_call(sem_t *sem, unsigned which, int value)
{
	const struct timespec past = {0};
	errno = 0;
	switch (which) {
	case 0:
		return sem_timedwait(sem, &past);
	case 1:
		return sem_clockwait(sem, CLOCK_MONOTONIC, &past);
	case 2:
		return value > 0 ? sem_wait(sem) : sem_trywait(sem);
	default:
		return sem_trywait(sem);
	}
}

static int
compare_with_a_number(void *arg)
{
	sem_t *sem = arg;
	int number = 0;
	uint32_t random = 12345;
	for (int i = 0; i < 5000; i++) {
		random = random * 1664525 + 1013904223;
		const unsigned which = random >> 28 & 7;
		if (which > 3 && number < 8) {
			CHECK(sem_post(sem) == 0);
			number++;
		} else {
			const int rc = lock_with_any_call(sem, which, number);
			CHECK(rc == (number > 0 ? 0 : -1));
			CHECK(rc == 0 || errno == EAGAIN || errno == ETIMEDOUT);
			number -= number > 0;
		}
		CHECK(value_of(sem) == number);
	}
	return 0;
}

TEST(a_sequence_of_calls_agrees_with_a_number)
{
	sem_t *sem = new_posix(fresh_posix_name(), 0);
	assert_int_equal(run_bounded(compare_with_a_number, sem), 0);
	assert_int_equal(sem_close(sem), 0);
}

/* ---- mutual exclusion ---- */

enum { ROUNDS = 300 };

struct counted {
	sem_t *sem;
	int number; /* not atomic: the semaphore protects it */
	_Atomic int inside;
	_Atomic int faults;
};

static void *
count_up(void *arg)
{
	struct counted *counted = arg;
	for (int i = 0; i < ROUNDS; i++) {
		while (blocking_calls[i % BLOCKING_CALLS].wait(counted->sem) != 0)
			counted->faults += errno != EINTR;
		counted->faults += ++counted->inside != 1;
		counted->number++;
		counted->inside--;
		counted->faults += sem_post(counted->sem) != 0;
	}
	return NULL;
}

static int
count_up_in_two_threads(void *counted)
{
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, count_up, counted) == 0);
	count_up(counted);
	CHECK(pthread_join(thread, NULL) == 0);
	return 0;
}

/* "The following functions synchronize memory with respect to other threads: [...] sem_post() [...] sem_wait()" */
TEST(what_it_protects_has_one_user_at_a_time)
{
	struct counted *counted = shared_memory(sizeof(*counted));
	counted->sem = new_posix(fresh_posix_name(), 1);
	const pid_t one = start_bounded(count_up_in_two_threads, counted);
	const pid_t other = start_bounded(count_up_in_two_threads, counted);
	assert_int_equal(end_of_child(one), 0);
	assert_int_equal(end_of_child(other), 0);
	assert_int_equal(counted->faults, 0);
	assert_int_equal(counted->number, 4 * ROUNDS);
	assert_int_equal(value_of(counted->sem), 1);
	assert_int_equal(sem_close(counted->sem), 0);
	munmap(counted, sizeof(*counted));
}

struct ring {
	sem_t *room;
	sem_t *items;
	int slots[3];
};

static int
produce(void *arg)
{
	struct ring *ring = arg;
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(sem_wait(ring->room) == 0);
		ring->slots[i % 3] = i;
		CHECK(sem_post(ring->items) == 0);
	}
	return 0;
}

static int
consume(void *arg)
{
	struct ring *ring = arg;
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(sem_wait(ring->items) == 0);
		CHECK(ring->slots[i % 3] == i);
		CHECK(sem_post(ring->room) == 0);
	}
	return 0;
}

TEST(items_pass_from_one_process_to_another)
{
	if (with_holds())
		SKIP("a process that posts what it did not take is not for holds");
	struct ring *ring = shared_memory(sizeof(*ring));
	ring->room = new_posix(fresh_posix_name(), 3);
	ring->items = new_posix(fresh_posix_name(), 0);
	const pid_t producer = start_bounded(produce, ring);
	const pid_t consumer = start_bounded(consume, ring);
	assert_int_equal(end_of_child(producer), 0);
	assert_int_equal(end_of_child(consumer), 0);
	assert_int_equal(value_of(ring->room), 3);
	assert_int_equal(value_of(ring->items), 0);
	assert_int_equal(sem_close(ring->room), 0);
	assert_int_equal(sem_close(ring->items), 0);
	munmap(ring, sizeof(*ring));
}

/* ---- deadlines ---- */

static int
timedwait_until(sem_t *sem, clockid_t clock, const struct timespec *deadline)
{
	(void)clock;
	return sem_timedwait(sem, deadline);
}

static const struct timed_call {
	int (*wait)(sem_t *sem, clockid_t clock, const struct timespec *deadline);
	clockid_t clock;
	const char *name;
} timed_calls[] = {
	{timedwait_until, CLOCK_REALTIME, "sem_timedwait()"},
	{sem_clockwait, CLOCK_REALTIME, "sem_clockwait(CLOCK_REALTIME)"},
	{sem_clockwait, CLOCK_MONOTONIC, "sem_clockwait(CLOCK_MONOTONIC)"},
};

enum { TIMED_CALLS = sizeof(timed_calls) / sizeof(timed_calls[0]) };

static int
wait_until(const struct timed_call *call, sem_t *sem, const struct timespec *deadline)
{
	return call->wait(sem, call->clock, deadline);
}

TEST(no_timeout_if_it_can_be_locked_at_once)
{
	static const struct timespec deadlines[] = {
		{0, 0}, {0, 1}, {-1, 0}, {1, 999999999}, {(time_t)INT64_MIN, 0}, {(time_t)INT64_MAX, 0}};
	sem_t *sem = new_posix(fresh_posix_name(), 1);
	for (int i = 0; i < TIMED_CALLS; i++) {
		/* "Under no circumstance shall the function fail with a timeout if the semaphore can be locked immediately." */
		for (size_t j = 0; j < sizeof(deadlines) / sizeof(deadlines[0]); j++) {
			assert_int_equal(wait_until(&timed_calls[i], sem, &deadlines[j]), 0);
			assert_int_equal(value_of(sem), 0);
			assert_int_equal(sem_post(sem), 0);
		}
	}
	assert_int_equal(sem_close(sem), 0);
}

static const struct timespec invalid[] = {{0, -1},       {0, 1000000000},         {0, LONG_MAX},
                                          {0, LONG_MIN}, {(time_t)INT32_MAX, -1}, {(time_t)INT32_MAX, 1000000000}};

TEST(a_deadline_is_not_checked_if_it_can_be_locked_at_once)
{
	sem_t *sem = new_posix(fresh_posix_name(), 1);
	for (int i = 0; i < TIMED_CALLS; i++) {
		/* sem_wait(3): "Furthermore, the validity of abs_timeout is not checked in this case." */
		for (size_t j = 0; j < sizeof(invalid) / sizeof(invalid[0]); j++) {
			assert_int_equal(wait_until(&timed_calls[i], sem, &invalid[j]), 0);
			assert_int_equal(sem_post(sem), 0);
		}
	}
	assert_int_equal(sem_close(sem), 0);
}

TEST(an_invalid_deadline_is_refused_if_it_would_block)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	for (int i = 0; i < TIMED_CALLS; i++) {
		/* "[EINVAL] The process or thread would have blocked, and the abstime parameter specified a nanoseconds field" */
		for (size_t j = 0; j < sizeof(invalid) / sizeof(invalid[0]); j++)
			EXPECT_ERROR(EINVAL, wait_until(&timed_calls[i], sem, &invalid[j]));
	}
	assert_int_equal(waiting_for(name), 0);
	assert_int_equal(value_of(sem), 0);
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(value_of(sem), 1);
	assert_int_equal(sem_close(sem), 0);
}

struct deadline {
	const struct timed_call *call;
	const char *name;
	sem_t *sem;
};

/* For children, so that only they hang if a deadline does not pass. */
static void
run_for_each_timed_call(int (*body)(void *deadline))
{
	for (int i = 0; i < TIMED_CALLS; i++) {
		struct deadline deadline = {.call = &timed_calls[i], .name = fresh_posix_name()};
		deadline.sem = new_posix(deadline.name, 0);
		const int status = run_bounded(body, &deadline);
		if (status != 0)
			fail_msg("%s: %d", timed_calls[i].name, status);
		/* "If the call was unsuccessful, the state of the semaphore shall be unchanged" */
		assert_int_equal(waiting_for(deadline.name), 0);
		assert_int_equal(value_of(deadline.sem), 0);
		assert_int_equal(sem_post(deadline.sem), 0);
		assert_int_equal(value_of(deadline.sem), 1);
		assert_int_equal(sem_close(deadline.sem), 0);
	}
}

static int
wait_until_times_that_have_passed(void *arg)
{
	const struct deadline *deadline = arg;
	struct timespec now;
	clock_gettime(deadline->call->clock, &now);
	const struct timespec passed[] = {{0, 0},          {0, 999999999},         {1, 0}, {-1, 0},
	                                  {-1, 999999999}, {(time_t)INT64_MIN, 0}, now};
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		CHECK_ERROR(ETIMEDOUT, wait_until(deadline->call, deadline->sem, &passed[i]));
	return 0;
}

/* "or if the absolute time specified by abstime has already been passed at the time of the call" */
TEST(a_deadline_that_has_passed)
{
	run_for_each_timed_call(wait_until_times_that_have_passed);
}

static bool
is_before(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec < other->tv_sec || (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

static int
wait_until_times_that_pass(void *arg)
{
	const struct deadline *deadline = arg;
	for (long ms = 1; ms <= 16; ms *= 4) {
		const struct timespec soon = time_from_now(deadline->call->clock, ms);
		CHECK_ERROR(ETIMEDOUT, wait_until(deadline->call, deadline->sem, &soon));
		struct timespec now;
		clock_gettime(deadline->call->clock, &now);
		CHECK(!is_before(&now, &soon));
	}
	return 0;
}

/* "The timeout shall expire [...] when the value of that clock equals or exceeds abstime" */
TEST(a_timeout_comes_no_earlier_than_its_deadline)
{
	run_for_each_timed_call(wait_until_times_that_pass);
}

static int
wait_until_the_other_clock_has_this_time(void *arg)
{
	const struct deadline *deadline = arg;
	const struct timespec uptime = time_from_now(CLOCK_MONOTONIC, 3600000);
	if (deadline->call->clock == CLOCK_REALTIME)
		CHECK_ERROR(ETIMEDOUT, wait_until(deadline->call, deadline->sem, &uptime));
	return 0;
}

/* "The timeout shall be based on the CLOCK_REALTIME clock." A time of the other clock has passed long ago. */
TEST(the_clocks_are_not_mixed_up)
{
	const struct timespec uptime = time_from_now(CLOCK_MONOTONIC, 3600000);
	const struct timespec since_1970 = time_from_now(CLOCK_REALTIME, 0);
	if (!is_before(&uptime, &since_1970))
		SKIP("the clock of this machine is not set");
	run_for_each_timed_call(wait_until_the_other_clock_has_this_time);
}

static int
wait_since_1970(sem_t *sem)
{
	const struct timespec since_1970 = time_from_now(CLOCK_REALTIME, 0);
	return sem_clockwait(sem, CLOCK_MONOTONIC, &since_1970);
}

#define LAST_SECOND ((time_t)(sizeof(time_t) == sizeof(int64_t) ? INT64_MAX : INT32_MAX))

static int
wait_until_the_end_of_time(sem_t *sem)
{
	const struct timespec end = {LAST_SECOND, 999999999};
	return sem_timedwait(sem, &end);
}

static int
wait_until_the_end_of_time_monotonic(sem_t *sem)
{
	const struct timespec end = {LAST_SECOND, 999999999};
	return sem_clockwait(sem, CLOCK_MONOTONIC, &end);
}

static int
wait_until_the_end_of_time_realtime(sem_t *sem)
{
	const struct timespec end = {LAST_SECOND, 999999999};
	return sem_clockwait(sem, CLOCK_REALTIME, &end);
}

TEST(a_wait_with_a_deadline_far_away_ends_with_a_post)
{
	static int (*const calls[])(sem_t * sem) = {wait_since_1970, wait_until_the_end_of_time,
	                                            wait_until_the_end_of_time_monotonic,
	                                            wait_until_the_end_of_time_realtime};
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct waiter *waiter = new_waiter(sem, calls[i]);
		EVENTUALLY(waiting_for(name) == 1);
		await_sleep(waiter->pid);
		assert_false(waiter->is_back);
		assert_int_equal(sem_post(sem), 0);
		expect_success(waiter);
		assert_int_equal(value_of(sem), 0);
		kill_waiter(waiter);
		if (with_holds())
			EVENTUALLY(sem_trywait(sem) == 0);
	}
	assert_int_equal(sem_close(sem), 0);
}

/* POSIX.1-2024: "[EINVAL] [...] the clock_id argument does not specify a known clock" */
TEST(only_two_clocks)
{
	static const clockid_t clocks[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, 12345, -1, INT_MIN, INT_MAX};
	const char *name = fresh_posix_name();
	const struct timespec past = {0};
	const struct timespec future = {(time_t)INT64_MAX, 0};
	sem_t *sem = new_posix(name, 0);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		EXPECT_ERROR(EINVAL, sem_clockwait(sem, clocks[i], &past));
		EXPECT_ERROR(EINVAL, sem_clockwait(sem, clocks[i], &future));
	}
	assert_int_equal(waiting_for(name), 0);
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(value_of(sem), 1);
	assert_int_equal(sem_close(sem), 0);
}

/* As in glibc: an unknown clock is refused before anything else. */
TEST(an_unknown_clock_is_refused_if_it_can_be_locked_at_once)
{
	const struct timespec future = {(time_t)INT64_MAX, 0};
	sem_t *sem = new_posix(fresh_posix_name(), 1);
	EXPECT_ERROR(EINVAL, sem_clockwait(sem, 12345, &future));
	assert_int_equal(value_of(sem), 1);
	assert_int_equal(sem_close(sem), 0);
}

struct timeout_race {
	sem_t *sem;
	_Atomic int round; /* the poster posts once in each */
};

static void *
post_in_each_round(void *arg)
{
	struct timeout_race *race = arg;
	for (int posted = 0; posted < ROUNDS; posted++) {
		while (race->round <= posted)
			sched_yield();
		if (sem_post(race->sem) != 0)
			return "sem_post() failed";
	}
	return NULL;
}

/* A post at the moment of the deadline goes to the waiter, or stays in the semaphore. */
static int
race_with_deadlines(void *sem)
{
	struct timeout_race race = {.sem = sem};
	pthread_t poster;
	void *fault = NULL;
	CHECK(pthread_create(&poster, NULL, post_in_each_round, &race) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		const struct timed_call *call = &timed_calls[i % TIMED_CALLS];
		struct timespec deadline = time_from_now(call->clock, 0);
		deadline.tv_nsec += i % 10 * 10000;
		if (deadline.tv_nsec > 999999999)
			deadline.tv_nsec = 999999999;
		race.round = i + 1;
		const int rc = wait_until(call, sem, &deadline);
		CHECK(rc == 0 || (rc == -1 && errno == ETIMEDOUT));
		if (rc != 0)
			CHECK(sem_wait(sem) == 0);
		CHECK(value_of(sem) == 0);
	}
	CHECK(pthread_join(poster, &fault) == 0);
	CHECK(fault == NULL);
	return 0;
}

TEST(a_timeout_at_the_moment_of_a_post_loses_nothing)
{
	sem_t *sem = new_posix(fresh_posix_name(), 0);
	assert_int_equal(run_bounded(race_with_deadlines, sem), 0);
	assert_int_equal(sem_close(sem), 0);
}

/* ---- signals ---- */

static void
count_signal(int number)
{
	(void)number;
	this_waiter->handled++;
}

static int
handle(int flags, void (*handler)(int number))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	return sigaction(SIGUSR1, &action, NULL);
}

static int
handle_signals(struct waiter *waiter)
{
	(void)waiter;
	return handle(0, count_signal);
}

static int
handle_signals_and_restart(struct waiter *waiter)
{
	(void)waiter;
	return handle(SA_RESTART, count_signal);
}

TEST(a_signal_handler_interrupts_a_wait)
{
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		const char *name = fresh_posix_name();
		sem_t *sem = new_posix(name, 0);
		struct waiter *waiter = new_waiter_prepared(sem, blocking_calls[i].wait, handle_signals);
		EVENTUALLY(waiting_for(name) == 1);
		await_sleep(waiter->pid);
		/* "The sem_wait() function is interruptible by the delivery of a signal." One may come before it sleeps. */
		EVENTUALLY((kill(waiter->pid, SIGUSR1), waiter->is_back));
		/* "[EINTR] A signal interrupted this function." */
		expect_failure(waiter, EINTR);
		/* "If the call was unsuccessful, the state of the semaphore shall be unchanged" */
		assert_int_equal(waiting_for(name), 0);
		assert_int_equal(value_of(sem), 0);
		assert_int_equal(sem_post(sem), 0);
		assert_int_equal(value_of(sem), 1);
		end_waiter(waiter);
		assert_int_equal(sem_close(sem), 0);
	}
}

TEST(a_handler_with_SA_RESTART_does_not_interrupt_it)
{
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		const char *name = fresh_posix_name();
		sem_t *sem = new_posix(name, 0);
		struct waiter *waiter = new_waiter_prepared(sem, blocking_calls[i].wait, handle_signals_and_restart);
		EVENTUALLY(waiting_for(name) == 1);
		/* sigaction(): "a function specified as interruptible [...] shall restart and shall not fail with [EINTR]" */
		for (int signals = 1; signals <= 4; signals++) {
			await_sleep(waiter->pid);
			assert_int_equal(kill(waiter->pid, SIGUSR1), 0);
			EVENTUALLY(waiter->handled == signals || waiter->is_back);
			assert_false(waiter->is_back);
		}
		assert_int_equal(sem_post(sem), 0);
		expect_success(waiter);
		assert_int_equal(waiter->handled, 4);
		assert_int_equal(value_of(sem), 0);
		end_waiter(waiter);
		assert_int_equal(sem_close(sem), 0);
	}
}

TEST(a_restarted_wait_keeps_its_place)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	struct waiter *first = new_waiter_prepared(sem, blocking_calls[0].wait, handle_signals_and_restart);
	EVENTUALLY(waiting_for(name) == 1);
	struct waiter *second = new_waiter(sem, blocking_calls[0].wait);
	EVENTUALLY(waiting_for(name) == 2);
	await_sleep(first->pid);
	assert_int_equal(kill(first->pid, SIGUSR1), 0);
	EVENTUALLY(first->handled == 1);
	await_sleep(first->pid);
	assert_int_equal(sem_post(sem), 0);
	expect_success(first);
	assert_false(second->is_back);
	assert_int_equal(sem_post(sem), 0);
	expect_success(second);
	end_waiter(first);
	end_waiter(second);
	assert_int_equal(sem_close(sem), 0);
}

static int
wait_briefly(sem_t *sem)
{
	const struct timespec deadline = time_from_now(CLOCK_REALTIME, 30);
	return sem_timedwait(sem, &deadline);
}

static int
wait_briefly_realtime(sem_t *sem)
{
	const struct timespec deadline = time_from_now(CLOCK_REALTIME, 30);
	return sem_clockwait(sem, CLOCK_REALTIME, &deadline);
}

static int
wait_briefly_monotonic(sem_t *sem)
{
	const struct timespec deadline = time_from_now(CLOCK_MONOTONIC, 30);
	return sem_clockwait(sem, CLOCK_MONOTONIC, &deadline);
}

TEST(a_restarted_wait_keeps_its_deadline)
{
	static int (*const calls[])(sem_t * sem) = {wait_briefly, wait_briefly_realtime, wait_briefly_monotonic};
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const char *name = fresh_posix_name();
		sem_t *sem = new_posix(name, 0);
		struct waiter *waiter = new_waiter_prepared(sem, calls[i], handle_signals_and_restart);
		/* "the duration of the timeout following the restart [...] does not exceed the original timeout value" */
		EVENTUALLY(waiting_for(name) == 1 || waiter->is_back);
		EVENTUALLY((kill(waiter->pid, SIGUSR1), waiter->is_back));
		expect_failure(waiter, ETIMEDOUT);
		assert_int_equal(waiting_for(name), 0);
		end_waiter(waiter);
		assert_int_equal(sem_close(sem), 0);
	}
}

static int
block_one_signal_and_ignore_another(struct waiter *waiter)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(handle_signals(waiter) == 0);
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(signal(SIGUSR2, SIG_IGN) != SIG_ERR);
	return 0;
}

/* Only a handler interrupts: not a signal that is blocked or ignored, and not a stop. */
TEST(what_does_not_interrupt_a_wait)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	struct waiter *waiter = new_waiter_prepared(sem, blocking_calls[0].wait, block_one_signal_and_ignore_another);
	EVENTUALLY(waiting_for(name) == 1);
	await_sleep(waiter->pid);
	assert_int_equal(kill(waiter->pid, SIGUSR1), 0);
	assert_int_equal(kill(waiter->pid, SIGUSR2), 0);
	for (int i = 0; i < 3; i++) {
		int status = 0;
		stop_child(waiter->pid);
		assert_int_equal(kill(waiter->pid, SIGCONT), 0);
		assert_int_equal(waitpid(waiter->pid, &status, WCONTINUED), waiter->pid);
		assert_true(WIFCONTINUED(status));
		await_sleep(waiter->pid);
	}
	assert_int_equal(waiting_for(name), 1);
	assert_int_equal(sem_post(sem), 0);
	expect_success(waiter);
	assert_int_equal(waiter->handled, 0);
	end_waiter(waiter);
	assert_int_equal(sem_close(sem), 0);
}

static sem_t *handler_posts;
static _Atomic int handler_posted;
static _Atomic int handler_failed;

static void
post_from_handler(int number)
{
	(void)number;
	if (sem_post(handler_posts) == 0)
		handler_posted++;
	else
		handler_failed++;
}

static int
post_on_signal(struct waiter *waiter)
{
	handler_posts = waiter->sem;
	return handle(0, post_from_handler);
}

static int
post_on_signal_and_restart(struct waiter *waiter)
{
	handler_posts = waiter->sem;
	return handle(SA_RESTART, post_from_handler);
}

/* "shall be async-signal-safe and may be invoked from a signal-catching function" */
TEST(a_handler_posts_what_the_interrupted_call_waits_for)
{
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		const char *name = fresh_posix_name();
		sem_t *sem = new_posix(name, 0);
		struct waiter *waiter = new_waiter_prepared(sem, blocking_calls[i].wait, post_on_signal_and_restart);
		EVENTUALLY(waiting_for(name) == 1);
		await_sleep(waiter->pid);
		assert_int_equal(kill(waiter->pid, SIGUSR1), 0);
		expect_success(waiter);
		assert_int_equal(value_of(sem), 0);
		end_waiter(waiter);
		assert_int_equal(sem_close(sem), 0);
	}
}

/* Without SA_RESTART the wait may end with EINTR, and then the post is still there. */
TEST(a_handler_that_interrupts_posts_and_loses_nothing)
{
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		const char *name = fresh_posix_name();
		sem_t *sem = new_posix(name, 0);
		struct waiter *waiter = new_waiter_prepared(sem, blocking_calls[i].wait, post_on_signal);
		EVENTUALLY(waiting_for(name) == 1);
		await_sleep(waiter->pid);
		assert_int_equal(kill(waiter->pid, SIGUSR1), 0);
		EVENTUALLY(waiter->is_back);
		if (waiter->rc != 0)
			expect_failure(waiter, EINTR);
		assert_int_equal(value_of(sem), waiter->rc == 0 ? 0 : 1);
		end_waiter(waiter);
		assert_int_equal(sem_close(sem), 0);
	}
}

struct interrupted {
	sem_t *sem;
	_Atomic bool has_handler;
	_Atomic bool may_end;
	int left; /* what the semaphore must have */
};

/* The handler runs inside any of the calls. */
static int
work_while_a_handler_posts(void *arg)
{
	struct interrupted *interrupted = arg;
	sem_t *sem = interrupted->sem;
	int taken = 0;
	int posted = 0;
	handler_posts = sem;
	CHECK(handle(0, post_from_handler) == 0);
	interrupted->has_handler = true;
	while (!interrupted->may_end) {
		const struct timespec past = {0};
		if (sem_trywait(sem) == 0)
			taken++;
		if (sem_timedwait(sem, &past) == 0)
			taken++;
		CHECK(sem_post(sem) == 0);
		posted++;
		CHECK(value_of(sem) >= 0);
		int rc;
		while ((rc = sem_wait(sem)) != 0)
			CHECK(errno == EINTR);
		taken++;
	}
	CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR);
	CHECK(handler_failed == 0);
	interrupted->left = 1 + posted + handler_posted - taken;
	CHECK(value_of(sem) == interrupted->left);
	return 0;
}

TEST(a_handler_posts_inside_any_call)
{
	struct interrupted *interrupted = shared_memory(sizeof(*interrupted));
	interrupted->sem = new_posix(fresh_posix_name(), 1);
	const pid_t child = start_bounded(work_while_a_handler_posts, interrupted);
	EVENTUALLY(interrupted->has_handler);
	for (int i = 0; i < ROUNDS; i++) {
		assert_int_equal(kill(child, SIGUSR1), 0);
		if (i % 8 == 0)
			sched_yield();
	}
	interrupted->may_end = true;
	assert_int_equal(end_of_child(child), 0);
	/* With holds, what the child had comes back. */
	if (!with_holds())
		assert_int_equal(value_of(interrupted->sem), interrupted->left);
	assert_int_equal(sem_close(interrupted->sem), 0);
	munmap(interrupted, sizeof(*interrupted));
}

/* A signal at the moment of a post: the call has the permit, or the semaphore has it. */
TEST(an_interruption_at_the_moment_of_a_post_loses_nothing)
{
	enum { SIGNALS = 40 };
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	for (int i = 0; i < SIGNALS; i++) {
		struct waiter *waiter = new_waiter_prepared(sem, blocking_calls[i % BLOCKING_CALLS].wait, handle_signals);
		EVENTUALLY(waiting_for(name) == 1);
		if (i % 2 == 0)
			kill(waiter->pid, SIGUSR1);
		assert_int_equal(sem_post(sem), 0);
		if (i % 2 == 1)
			kill(waiter->pid, SIGUSR1);
		EVENTUALLY(waiter->is_back);
		if (waiter->rc != 0) {
			expect_failure(waiter, EINTR);
			assert_int_equal(value_of(sem), 1);
			assert_int_equal(sem_trywait(sem), 0);
		}
		assert_int_equal(value_of(sem), 0);
		const bool comes_back = with_holds() && waiter->rc == 0;
		kill_waiter(waiter);
		if (comes_back)
			EVENTUALLY(sem_trywait(sem) == 0);
	}
	assert_int_equal(sem_close(sem), 0);
}

/* ---- cancellation ---- */

/* A thread that waits. */
struct thread {
	pthread_t id;
	const char *name;
	sem_t *sem;
	int (*wait)(sem_t *sem);
	_Atomic bool has_begun;
	_Atomic bool may_go_on;
	_Atomic bool has_cleaned_up;
	_Atomic bool is_back;
	bool disabled; /* no cancellation during the wait */
	int rc;
	int error;
};

static void
note_clean_up(void *arg)
{
	((struct thread *)arg)->has_cleaned_up = true;
}

static void *
wait_in_thread(void *arg)
{
	struct thread *thread = arg;
	pthread_cleanup_push(note_clean_up, thread);
	if (thread->disabled)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	thread->has_begun = true;
	thread->rc = thread->wait(thread->sem);
	thread->error = errno;
	thread->is_back = true;
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

struct cancelled {
	const char *name;
	sem_t *sem;
	int (*wait)(sem_t *sem);
};

/* Runs the body in a child, with a new semaphore, which it returns. */
static struct cancelled
run_cancelled(int (*body)(void *cancelled), const struct blocking_call *call, unsigned value)
{
	struct cancelled cancelled = {.name = fresh_posix_name(), .wait = call->wait};
	cancelled.sem = new_posix(cancelled.name, value);
	const int status = run_bounded(body, &cancelled);
	if (status != 0)
		fail_msg("%s with the value %u: %d", call->name, value, status);
	return cancelled;
}

static int
cancel_a_waiting_thread(void *arg)
{
	const struct cancelled *cancelled = arg;
	struct thread thread = {.sem = cancelled->sem, .wait = cancelled->wait};
	void *result = NULL;
	CHECK(pthread_create(&thread.id, NULL, wait_in_thread, &thread) == 0);
	AWAIT(waiting_for(cancelled->name) == 1);
	CHECK(pthread_cancel(thread.id) == 0);
	CHECK(pthread_join(thread.id, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
	CHECK(!thread.is_back);
	CHECK(thread.has_cleaned_up);
	/* The place in the queue is given up at once, and a post is not lost to it. */
	CHECK(waiting_for(cancelled->name) == 0);
	CHECK(sem_post(cancelled->sem) == 0);
	CHECK(value_of(cancelled->sem) == 1);
	CHECK(sem_trywait(cancelled->sem) == 0);
	CHECK(sem_post(cancelled->sem) == 0);
	return 0;
}

/* "Cancellation points shall occur when a thread is executing any of the following functions: [...] sem_wait()" */
TEST(each_wait_is_a_cancellation_point)
{
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		const struct cancelled cancelled = run_cancelled(cancel_a_waiting_thread, &blocking_calls[i], 0);
		assert_int_equal(value_of(cancelled.sem), 1);
		assert_int_equal(sem_close(cancelled.sem), 0);
	}
}

static void *
wait_when_cancelled(void *arg)
{
	struct thread *thread = arg;
	pthread_cleanup_push(note_clean_up, thread);
	thread->has_begun = true;
	while (!thread->may_go_on)
		sched_yield();
	thread->rc = thread->wait(thread->sem);
	thread->is_back = true;
	pthread_cleanup_pop(0);
	return NULL;
}

/* Cancels the thread before it goes on, and joins it. */
static int
cancel_first(struct thread *thread, void *(*body)(void *thread))
{
	void *result = NULL;
	CHECK(pthread_create(&thread->id, NULL, body, thread) == 0);
	AWAIT(thread->has_begun);
	CHECK(pthread_cancel(thread->id) == 0);
	thread->may_go_on = true;
	CHECK(pthread_join(thread->id, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
	return 0;
}

static int
cancel_before_the_call(void *arg)
{
	const struct cancelled *cancelled = arg;
	struct thread thread = {.sem = cancelled->sem, .wait = cancelled->wait};
	CHECK(cancel_first(&thread, wait_when_cancelled) == 0);
	CHECK(!thread.is_back);
	CHECK(thread.has_cleaned_up);
	return 0;
}

/* "the cancellation request shall be acted upon before the function returns" */
TEST(a_pending_cancellation_ends_a_wait_that_could_lock)
{
	for (unsigned value = 0; value < 2; value++) {
		for (int i = 0; i < BLOCKING_CALLS; i++) {
			const struct cancelled cancelled = run_cancelled(cancel_before_the_call, &blocking_calls[i], value);
			/* "The side-effects [...] are the same as [...] when a call [...] returns [EINTR]": the value is unchanged. */
			assert_int_equal(value_of(cancelled.sem), value);
			assert_int_equal(waiting_for(cancelled.name), 0);
			assert_int_equal(sem_close(cancelled.sem), 0);
		}
	}
}

static int
cancel_where_that_is_disabled(void *arg)
{
	const struct cancelled *cancelled = arg;
	struct thread thread = {.sem = cancelled->sem, .wait = cancelled->wait, .disabled = true};
	void *result = NULL;
	CHECK(pthread_create(&thread.id, NULL, wait_in_thread, &thread) == 0);
	AWAIT(waiting_for(cancelled->name) == 1);
	CHECK(pthread_cancel(thread.id) == 0);
	CHECK(sem_post(cancelled->sem) == 0);
	CHECK(pthread_join(thread.id, &result) == 0);
	CHECK(result == PTHREAD_CANCELED); /* of pthread_testcancel() */
	CHECK(thread.is_back);
	CHECK(thread.rc == 0);
	CHECK(value_of(cancelled->sem) == 0);
	return 0;
}

/* "When cancelability is disabled [...] cancellation requests [...] are held pending" */
TEST(a_wait_goes_on_where_cancellation_is_disabled)
{
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		const struct cancelled cancelled = run_cancelled(cancel_where_that_is_disabled, &blocking_calls[i], 0);
		assert_int_equal(sem_close(cancelled.sem), 0);
	}
}

struct cancel_race {
	sem_t *sem;
	_Atomic int round; /* the poster posts once in each */
	_Atomic int posted;
};

static void *
post_in_each_cancellation(void *arg)
{
	struct cancel_race *race = arg;
	for (int i = 0; i < ROUNDS / 2; i++) {
		while (race->round <= i)
			sched_yield();
		if (sem_post(race->sem) != 0)
			return "sem_post() failed";
		race->posted++;
	}
	return NULL;
}

/*
 * "it is unspecified whether the cancellation request is acted upon or whether the cancellation request remains pending
 * and the thread resumes normal execution": the thread has the permit, or the semaphore has it.
 */
static int
cancel_and_post(void *arg)
{
	const struct cancelled *cancelled = arg;
	sem_t *sem = cancelled->sem;
	struct cancel_race race = {.sem = sem};
	pthread_t poster;
	void *fault = NULL;
	CHECK(pthread_create(&poster, NULL, post_in_each_cancellation, &race) == 0);
	for (int i = 0; i < ROUNDS / 2; i++) {
		struct thread thread = {.sem = sem, .wait = blocking_calls[i % BLOCKING_CALLS].wait};
		void *result = NULL;
		CHECK(pthread_create(&thread.id, NULL, wait_in_thread, &thread) == 0);
		AWAIT(waiting_for(cancelled->name) == 1);
		race.round = i + 1;
		if (i % 3 == 1)
			sched_yield();
		while (i % 3 == 2 && race.posted <= i)
			sched_yield();
		CHECK(pthread_cancel(thread.id) == 0 || thread.is_back);
		CHECK(pthread_join(thread.id, &result) == 0);
		while (race.posted <= i)
			sched_yield();
		CHECK(!thread.is_back || thread.rc == 0);
		CHECK(value_of(sem) == (thread.is_back ? 0 : 1));
		CHECK(thread.is_back || sem_trywait(sem) == 0);
	}
	CHECK(pthread_join(poster, &fault) == 0);
	CHECK(fault == NULL);
	return 0;
}

TEST(a_cancellation_at_the_moment_of_a_post_loses_nothing)
{
	const struct cancelled cancelled = run_cancelled(cancel_and_post, &blocking_calls[0], 0);
	assert_int_equal(sem_close(cancelled.sem), 0);
}

static int
cancel_the_second_of_three(void *arg)
{
	const struct cancelled *cancelled = arg;
	struct thread threads[3];
	void *result = NULL;
	memset(threads, 0, sizeof(threads));
	for (unsigned i = 0; i < 3; i++) {
		threads[i].sem = cancelled->sem;
		threads[i].wait = blocking_calls[i].wait;
		CHECK(pthread_create(&threads[i].id, NULL, wait_in_thread, &threads[i]) == 0);
		AWAIT(waiting_for(cancelled->name) == i + 1);
	}
	CHECK(pthread_cancel(threads[1].id) == 0);
	CHECK(pthread_join(threads[1].id, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
	CHECK(sem_post(cancelled->sem) == 0);
	CHECK(pthread_join(threads[0].id, &result) == 0);
	CHECK(result == NULL && threads[0].rc == 0);
	CHECK(!threads[2].is_back);
	CHECK(sem_post(cancelled->sem) == 0);
	CHECK(pthread_join(threads[2].id, &result) == 0);
	CHECK(result == NULL && threads[2].rc == 0);
	CHECK(value_of(cancelled->sem) == 0);
	return 0;
}

TEST(a_cancelled_waiter_does_not_hold_up_the_others)
{
	const struct cancelled cancelled = run_cancelled(cancel_the_second_of_three, &blocking_calls[0], 0);
	assert_int_equal(sem_close(cancelled.sem), 0);
}

static void *
call_all_others(void *arg)
{
	struct thread *thread = arg;
	int value = 0;
	thread->has_begun = true;
	while (!thread->may_go_on)
		sched_yield();
	thread->rc = sem_trywait(thread->sem) != 0 || sem_post(thread->sem) != 0 || sem_getvalue(thread->sem, &value) != 0
	             || value != 1;
	sem_t *same = sem_open(thread->name, 0);
	thread->rc |= same != thread->sem || sem_close(same) != 0 || sem_unlink(thread->name) != 0;
	thread->is_back = true;
	pthread_testcancel();
	return NULL;
}

static int
cancel_before_the_others(void *arg)
{
	const struct cancelled *cancelled = arg;
	struct thread thread = {.name = cancelled->name, .sem = cancelled->sem};
	CHECK(cancel_first(&thread, call_all_others) == 0);
	CHECK(thread.is_back);
	CHECK(thread.rc == 0);
	return 0;
}

/* "An implementation shall not introduce cancellation points into any other functions" */
TEST(no_other_function_is_a_cancellation_point)
{
	const struct cancelled cancelled = run_cancelled(cancel_before_the_others, &blocking_calls[0], 1);
	assert_int_equal(sem_close(cancelled.sem), 0);
}

/* ---- first come, first served ---- */

enum { CROWD = 30 };

struct line {
	sem_t *sem;
	_Atomic int backs;
	_Atomic int place[CROWD]; /* the how many-th to be back, from 1 */
	_Atomic bool may_end;
};

struct in_line {
	struct line *line;
	int i;
	pthread_t thread;
	pid_t pid; /* 0: it is a thread */
};

static void *
wait_in_line(void *arg)
{
	const struct in_line *self = arg;
	if (blocking_calls[self->i % BLOCKING_CALLS].wait(self->line->sem) == 0) {
		self->line->place[self->i] = self->line->backs + 1;
		self->line->backs++;
	}
	return NULL;
}

static int
wait_in_line_and_stay(void *arg)
{
	const struct in_line *self = arg;
	wait_in_line(arg);
	AWAIT(self->line->may_end);
	return 0;
}

TEST(thirty_waiters_are_served_in_their_order)
{
	static struct in_line all[CROWD];
	const char *name = fresh_posix_name();
	struct line *line = shared_memory(sizeof(*line));
	line->sem = new_posix(name, 0);
	for (int i = 0; i < CROWD; i++) {
		all[i] = (struct in_line){.line = line, .i = i};
		if (i % 3 == 1)
			assert_int_equal(pthread_create(&all[i].thread, NULL, wait_in_line, &all[i]), 0);
		else
			all[i].pid = start_bounded(wait_in_line_and_stay, &all[i]);
		EVENTUALLY(waiting_for(name) == (uint32_t)i + 1);
	}
	for (int i = 0; i < CROWD; i++) {
		assert_int_equal(sem_post(line->sem), 0);
		/* A newcomer does not overtake. */
		EXPECT_ERROR(EAGAIN, sem_trywait(line->sem));
		EVENTUALLY(line->backs == i + 1);
		assert_int_equal(line->place[i], i + 1);
	}
	assert_int_equal(waiting_for(name), 0);
	assert_int_equal(value_of(line->sem), 0);
	line->may_end = true;
	for (int i = 0; i < CROWD; i++) {
		if (all[i].pid != 0)
			assert_int_equal(end_of_child(all[i].pid), 0);
		else
			assert_int_equal(pthread_join(all[i].thread, NULL), 0);
	}
	assert_int_equal(sem_close(line->sem), 0);
	munmap(line, sizeof(*line));
}

/* ---- waiters that are killed ---- */

TEST(a_killed_waiter_takes_no_post)
{
	enum { WAITERS = 3 };
	for (int victim = 0; victim < WAITERS; victim++) {
		const char *name = fresh_posix_name();
		sem_t *sem = new_posix(name, 0);
		struct waiter *waiters[WAITERS];
		for (unsigned i = 0; i < WAITERS; i++) {
			waiters[i] = new_waiter(sem, blocking_calls[i].wait);
			EVENTUALLY(waiting_for(name) == i + 1);
		}
		kill_waiter(waiters[victim]);
		for (int i = 0; i < WAITERS; i++) {
			if (i != victim)
				assert_int_equal(sem_post(sem), 0);
		}
		for (int i = 0; i < WAITERS; i++) {
			if (i != victim)
				expect_success(waiters[i]);
		}
		assert_int_equal(sem_post(sem), 0);
		assert_int_equal(sem_wait(sem), 0);
		EXPECT_ERROR(EAGAIN, sem_trywait(sem));
		for (int i = 0; i < WAITERS; i++) {
			if (i != victim)
				end_waiter(waiters[i]);
		}
		assert_int_equal(sem_close(sem), 0);
	}
}

/* A semaphore with this many waiters that were killed. */
static sem_t *
semaphore_of_killed_waiters(unsigned count)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	struct waiter *waiters[8];
	assert_true(count <= 8);
	for (unsigned i = 0; i < count; i++) {
		waiters[i] = new_waiter(sem, blocking_calls[0].wait);
		EVENTUALLY(waiting_for(name) == i + 1);
	}
	for (unsigned i = 0; i < count; i++)
		kill_waiter(waiters[i]);
	return sem;
}

static int
wait_once(void *sem)
{
	return sem_wait(sem);
}

/* A container, and processes outside, which share /dev/shm. Those outside have opened the semaphore before. */
TEST(a_killed_container_takes_no_post)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	const pid_t inside = start_in_pid_namespace(wait_once, sem);
	if (inside < 0)
		SKIP("no new PID namespace allowed here");
	EVENTUALLY(waiting_for(name) == 1);
	struct waiter *outside = new_waiter(sem, sem_wait);
	EVENTUALLY(waiting_for(name) == 2);
	kill_child(inside);
	assert_int_equal(sem_post(sem), 0);
	expect_success(outside);
	end_waiter(outside);
	assert_int_equal(sem_close(sem), 0);
}

TEST(posts_after_all_waiters_are_killed)
{
	sem_t *sem = semaphore_of_killed_waiters(5);
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(sem_trywait(sem), 0);
	assert_int_equal(sem_wait(sem), 0);
	EXPECT_ERROR(EAGAIN, sem_trywait(sem));
	assert_int_equal(sem_close(sem), 0);
}

/* "no threads were blocked [...] the semaphore value is simply incremented" */
TEST(the_value_after_all_waiters_are_killed)
{
	sem_t *sem = semaphore_of_killed_waiters(2);
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(sem_post(sem), 0);
	EVENTUALLY(value_of(sem) == 2);
	assert_int_equal(sem_close(sem), 0);
}

/* It has not returned, so the post goes on to another one. */
TEST(a_waiter_that_is_killed_when_a_post_has_reached_it)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		struct waiter *waiter = new_waiter(sem, blocking_calls[i].wait);
		EVENTUALLY(waiting_for(name) == 1);
		stop_child(waiter->pid);
		assert_int_equal(sem_post(sem), 0);
		kill_waiter(waiter);
		struct waiter *next = new_waiter(sem, blocking_calls[i].wait);
		expect_success(next);
		assert_int_equal(value_of(sem), 0);
		kill_waiter(next);
		if (with_holds())
			EVENTUALLY(sem_trywait(sem) == 0);
		EXPECT_ERROR(EAGAIN, sem_trywait(sem));
	}
	assert_int_equal(sem_close(sem), 0);
}

TEST(each_second_of_twenty_waiters_is_killed)
{
	enum { WAITERS = 20 };
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	struct waiter *waiters[WAITERS];
	for (unsigned i = 0; i < WAITERS; i++) {
		waiters[i] = new_waiter(sem, blocking_calls[i % BLOCKING_CALLS].wait);
		EVENTUALLY(waiting_for(name) == i + 1);
	}
	for (unsigned i = 0; i < WAITERS; i++) {
		if (i % 2 == 0)
			kill_waiter(waiters[i]);
		else
			assert_int_equal(sem_post(sem), 0);
	}
	for (unsigned i = 1; i < WAITERS; i += 2)
		expect_success(waiters[i]);
	EXPECT_ERROR(EAGAIN, sem_trywait(sem));
	assert_int_equal(waiting_for(name), 0);
	for (unsigned i = 1; i < WAITERS; i += 2)
		end_waiter(waiters[i]);
	assert_int_equal(sem_close(sem), 0);
}

/* SPDX-License-Identifier: MIT */
/* tsem_take, tsem_try_take, tsem_post, tsem_post_and_take: anonymous permits and their errors. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>

TEST(take_and_post)
{
	tsem *sem = new_semaphore(3, 0);
	uint32_t previous = 99;
	assert_int_equal(tsem_take(sem, 3, NULL), 0);
	assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
	assert_int_equal(tsem_post(sem, 2, &previous), 0);
	assert_int_equal(previous, 0);
	assert_int_equal(tsem_try_take(sem, 3), -EAGAIN);
	assert_int_equal(tsem_try_take(sem, 2), 0);
	assert_int_equal(tsem_post(sem, 3, &previous), 0);
	assert_int_equal(tsem_post(sem, 4, &previous), 0);
	assert_int_equal(previous, 3);
	assert_int_equal(stat_of(sem).available, 7);
	tsem_close(sem);
}

TEST(impossible_counts)
{
	tsem *sem = new_semaphore(3, 5);
	const struct timespec past = {0};
	uint32_t previous = 99;
	assert_int_equal(tsem_take(sem, 0, NULL), -EINVAL);
	assert_int_equal(tsem_take(sem, 6, NULL), -EINVAL);
	assert_int_equal(tsem_take(sem, UINT32_MAX, NULL), -EINVAL);
	assert_int_equal(tsem_try_take(sem, 0), -EINVAL);
	assert_int_equal(tsem_try_take(sem, 6), -EINVAL);
	assert_int_equal(tsem_post(sem, 0, &previous), -EINVAL);
	assert_int_equal(previous, 99);
	/* Five can come together by posts. */
	assert_int_equal(tsem_take(sem, 5, &past), -ETIMEDOUT);
	assert_int_equal(tsem_post(sem, 2, NULL), 0);
	assert_int_equal(tsem_take(sem, 5, &past), 0);
	tsem_close(sem);
}

TEST(a_maximum)
{
	tsem *sem = new_semaphore(2, 3);
	uint32_t previous = 99;
	assert_int_equal(tsem_post(sem, 2, &previous), -EOVERFLOW);
	assert_int_equal(previous, 99);
	assert_int_equal(stat_of(sem).available, 2);
	assert_int_equal(tsem_post(sem, 1, &previous), 0);
	assert_int_equal(previous, 2);
	assert_int_equal(tsem_post(sem, 1, &previous), -EOVERFLOW);
	assert_int_equal(tsem_try_take(sem, 3), 0);
	assert_int_equal(tsem_post(sem, 3, &previous), 0);
	tsem_close(sem);
}

TEST(deadlines)
{
	tsem *sem = new_semaphore(1, 0);
	const struct timespec soon = deadline_in(20);
	const struct timespec past = {.tv_sec = -5};
	assert_int_equal(tsem_take(sem, 1, &past), 0); /* a permit is available: the clock is not read */
	assert_int_equal(tsem_take(sem, 1, &past), -ETIMEDOUT);
	assert_int_equal(tsem_take(sem, 1, &soon), -ETIMEDOUT);
	assert_true(deadline_has_passed(&soon));
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(stat_of(sem).available, 1);
	assert_int_equal(stat_of(sem).timeouts, 2);
	tsem_close(sem);
}

TEST(bad_structures)
{
	tsem *sem = new_semaphore(1, 0);
	const struct timespec too_many = {.tv_nsec = 1000000000};
	const struct timespec negative = {.tv_nsec = -1};
	const struct tsem_wait bad[] = {
		{.size = 0},
		{.size = sizeof(struct tsem_wait) - 1},
		{.size = 4097},
		{.size = sizeof(struct tsem_wait), .flags = 2},
		{.size = sizeof(struct tsem_wait), .flags = 1U << 31},
		{.size = sizeof(struct tsem_wait), .deadline = &too_many},
		{.size = sizeof(struct tsem_wait), .deadline = &negative},
	};
	/* With and without an available permit. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			tsem_hold hold;
			assert_int_equal(tsem_take_wait(sem, 1, &bad[i]), -EINVAL);
			assert_int_equal(tsem_acquire_wait(sem, 1, &bad[i], &hold), -EINVAL);
		}
		assert_int_equal(stat_of(sem).available, 1 - round);
		if (round == 0)
			assert_int_equal(tsem_take(sem, 1, NULL), 0);
	}
	assert_int_equal(tsem_take(sem, 1, &too_many), -EINVAL);
	assert_int_equal(tsem_take(sem, 1, &negative), -EINVAL);
	tsem_close(sem);
}

static int
take_three_times(void *arg)
{
	for (int i = 0; i < 3; i++) {
		const int rc = tsem_take(arg, 1, NULL);
		if (rc != 0)
			return -rc;
	}
	return 0;
}

TEST(a_post_admits_a_waiter)
{
	tsem *sem = new_semaphore(1, 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const pid_t child = start_child(take_three_times, sem);
	for (int i = 0; i < 3; i++) {
		EVENTUALLY(stat_of(sem).waiting == 1);
		uint32_t previous = 99;
		assert_int_equal(tsem_post(sem, 1, &previous), 0);
		assert_int_equal(previous, 0);
	}
	assert_int_equal(end_of_child(child), 0);
	assert_int_equal(stat_of(sem).available, 0);
	assert_int_equal(stat_of(sem).held, 1);
	tsem_close(sem);
}

/* ---- signals ---- */

static tsem *posted_by_handler;
static volatile sig_atomic_t posts;
static volatile sig_atomic_t failed;

static void
post_in_handler(int signal_number)
{
	(void)signal_number;
	if (tsem_post(posted_by_handler, 1, NULL) != 0)
		failed = 1;
	posts++;
}

/* The handler interrupts the rest of the program between any two instructions. */
TEST(posts_from_a_signal_handler)
{
	enum { POSTS = 300, PERMITS = 2 };
	tsem *sem = new_semaphore(PERMITS, 0);
	const struct sigaction action = {.sa_handler = post_in_handler, .sa_flags = SA_RESTART};
	const struct itimerval often = {{0, 700}, {0, 700}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	posted_by_handler = sem;
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	/* The kernel may round the time between two signals up to its tick, so the test raises some itself. */
	assert_int_equal(tsem_post(sem, 1, NULL), 0); /* three are needed at once */
	for (int i = 0; posts < POSTS; i++) {
		tsem_hold hold;
		assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
		assert_int_equal(tsem_take(sem, 1, NULL), 0);
		assert_int_equal(tsem_post(sem, 1, NULL), 0);
		assert_int_equal(tsem_release(&hold), 0);
		if (i % 10000 == 9999)
			raise(SIGPROF);
	}
	setitimer(ITIMER_PROF, &never, NULL);
	signal(SIGPROF, SIG_IGN);
	assert_int_equal(failed, 0);
	assert_int_equal(stat_of(sem).available, PERMITS + 1 + posts);
	tsem_close(sem);
}

static int
post_from_own_handler(void *arg)
{
	const struct sigaction action = {.sa_handler = post_in_handler};
	posted_by_handler = arg;
	posts = 0;
	sigaction(SIGUSR1, &action, NULL);
	const int rc = tsem_take(arg, 1, NULL);
	return rc != 0 ? -rc : failed != 0 || posts != 1;
}

/* The thread's own handler posts while it waits: no other process could end the wait. */
TEST(a_handler_posts_for_its_own_wait)
{
	tsem *sem = new_semaphore(1, 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const pid_t child = start_child(post_from_own_handler, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	kill(child, SIGUSR1);
	assert_int_equal(end_of_child(child), 0);
	tsem_close(sem);
}

TEST(post_and_take)
{
	const char *name = fresh_name();
	tsem *full = new_semaphore(1, 1);
	tsem *other = new_semaphore_named(name, 1, 0);
	const struct timespec past = {0};
	const struct tsem_wait at_once = {.size = sizeof(at_once), .deadline = &past};
	assert_int_equal(tsem_post_and_take(other, full), 0);
	assert_int_equal(stat_of(other).available, 2);
	assert_int_equal(stat_of(full).available, 0);
	/* It does not post if it cannot get a ticket; and it keeps no ticket if the post fails. */
	assert_int_equal(tsem_post(full, 1, NULL), 0);
	assert_int_equal(tsem_post_and_take(full, other), -EOVERFLOW);
	assert_int_equal(stat_of(other).available, 2);
	assert_int_equal(stat_of(other).waiting, 0);
	/* The post has happened although the wait has failed. */
	assert_int_equal(tsem_take(full, 1, NULL), 0);
	assert_int_equal(tsem_post_and_take_wait(other, full, &at_once), -ETIMEDOUT);
	assert_int_equal(stat_of(other).available, 3);
	assert_int_equal(stat_of(full).waiting, 0);
	/* With one semaphore twice: the caller moves to the end of the queue. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(tsem_take(other, 1, NULL), 0);
	const pid_t waiter = start_child(take_one, other);
	EVENTUALLY(stat_of(other).waiting == 1);
	assert_int_equal(tsem_post_and_take_wait(other, other, &at_once), -ETIMEDOUT);
	assert_int_equal(end_of_child(waiter), 0);
	tsem *gone = open_semaphore(name);
	assert_int_equal(tsem_remove(name, TSEM_FORCE), 0);
	assert_int_equal(tsem_post_and_take(full, gone), -EIDRM);
	assert_int_equal(stat_of(full).available, 0);
	tsem_close(gone);
	tsem_close(other);
	tsem_close(full);
}

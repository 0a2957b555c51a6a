/* SPDX-License-Identifier: MIT */
/* The queue: counts and order, ways to end a wait, and the maximum number of waiters. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- counts and order ---- */

struct queued {
	tsem *sem;
	uint32_t count;
};

static int
hold_some_until_killed(void *arg)
{
	const struct queued *queued = arg;
	tsem_hold hold;
	if (tsem_acquire(queued->sem, queued->count, NULL, &hold) != 0)
		return 1;
	return stay_until_killed(NULL);
}

/*
 * One permit of three is available, and a waiter wants two: a waiter for one must wait behind it, although the permit
 * would be enough.
 */
TEST(no_waiter_overtakes_a_bigger_one)
{
	tsem *sem = new_semaphore(3, 0);
	tsem_hold hold, mine;
	struct queued two = {.sem = sem, .count = 2};
	struct queued one = {.sem = sem, .count = 1};
	const struct timespec past = {0};
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	const pid_t big = start_child(hold_some_until_killed, &two);
	EVENTUALLY(stat_of(sem).waiting == 1);

	assert_int_equal(tsem_try_acquire(sem, 1, &mine), -EAGAIN);
	assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
	assert_int_equal(tsem_acquire(sem, 1, &past, &mine), -ETIMEDOUT);
	const pid_t small = start_child(hold_some_until_killed, &one);
	EVENTUALLY(stat_of(sem).waiting == 2);
	assert_int_equal(stat_of(sem).held, 2);

	assert_int_equal(tsem_release(&hold), 0);
	EVENTUALLY(stat_of(sem).waiting == 0 && stat_of(sem).held == 3);
	kill_child(big);
	kill_child(small);
	/* Tries in quick succession do not look for the dead each time. */
	EVENTUALLY(tsem_try_acquire(sem, 3, &mine) == 0);
	tsem_close(sem);
}

/* Permits that come back one by one are saved for a waiter for all of them. */
TEST(a_waiter_for_all_is_not_starved)
{
	tsem *sem = new_semaphore(3, 0);
	tsem_hold holds[3];
	struct queued all = {.sem = sem, .count = 3};
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(tsem_acquire(sem, 1, NULL, &holds[i]), 0);
	const pid_t child = start_child(hold_some_until_killed, &all);
	EVENTUALLY(stat_of(sem).waiting == 1);
	for (size_t i = 0; i < 3; i++) {
		tsem_hold mine;
		assert_int_equal(tsem_try_acquire(sem, 1, &mine), -EAGAIN);
		assert_int_equal(stat_of(sem).waiting, 1);
		assert_int_equal(tsem_release(&holds[i]), 0);
	}
	EVENTUALLY(stat_of(sem).waiting == 0);
	assert_int_equal(stat_of(sem).held, 3);
	kill_child(child);
	tsem_close(sem);
}

/* ---- ways to end a wait ---- */

static void
do_nothing(int signal_number)
{
	(void)signal_number;
}

static int
wait_interruptibly(void *arg)
{
	const struct sigaction action = {.sa_handler = do_nothing};
	const struct tsem_wait options = {.size = sizeof(options), .flags = TSEM_INTERRUPTIBLE};
	tsem_hold hold;
	sigaction(SIGUSR1, &action, NULL);
	return -tsem_acquire_wait(arg, 1, &options, &hold);
}

static int
wait_without_deadline(void *arg)
{
	const struct sigaction action = {.sa_handler = do_nothing};
	tsem_hold hold;
	sigaction(SIGUSR1, &action, NULL);
	return -tsem_acquire(arg, 1, NULL, &hold);
}

static _Atomic int *handled;

static void
count_signal(int signal_number)
{
	(void)signal_number;
	(*handled)++;
}

static int
wait_and_restart(void *sem)
{
	const struct sigaction goes_on = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
	const struct sigaction ends = {.sa_handler = do_nothing};
	const struct tsem_wait options = {.size = sizeof(options), .flags = TSEM_INTERRUPTIBLE | TSEM_RESTART};
	tsem_hold hold;
	sigaction(SIGUSR2, &goes_on, NULL);
	sigaction(SIGUSR1, &ends, NULL);
	return -tsem_acquire_wait(sem, 1, &options, &hold);
}

TEST(a_deadline_by_the_realtime_clock)
{
	tsem *sem = new_semaphore(1, 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	const struct tsem_wait options = {.size = sizeof(options), .deadline = &deadline, .flags = TSEM_REALTIME};
	assert_int_equal(tsem_take_wait(sem, 1, &options), -ETIMEDOUT);
	deadline.tv_sec++;
	assert_int_equal(tsem_take_wait(sem, 1, &options), -ETIMEDOUT);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	assert_true(now.tv_sec > deadline.tv_sec || (now.tv_sec == deadline.tv_sec && now.tv_nsec >= deadline.tv_nsec));
	tsem_close(sem);
}

TEST(a_handler_with_SA_RESTART)
{
	enum { SIGNALS = 50, FUTEX_WAITV = 449 }; /* musl does not know the number */
	if (syscall(FUTEX_WAITV, NULL, 0, 0, NULL, 0) != 0 && errno == ENOSYS)
		SKIP("it needs Linux 5.16");
	tsem *sem = new_semaphore(1, 0);
	handled = shared_memory(sizeof(*handled));
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const pid_t waiter = start_child(wait_and_restart, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	for (int i = 0; i < SIGNALS; i++) {
		assert_int_equal(kill(waiter, SIGUSR2), 0);
		EVENTUALLY(*handled == i + 1);
	}
	assert_int_equal(stat_of(sem).waiting, 1);
	EVENTUALLY(kill(waiter, SIGUSR1) == 0 && stat_of(sem).waiting == 0);
	assert_int_equal(end_of_child(waiter), EINTR);
	munmap(handled, sizeof(*handled));
	tsem_close(sem);
}

TEST(signals)
{
	tsem *sem = new_semaphore(1, 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const pid_t patient = start_child(wait_without_deadline, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	const pid_t impatient = start_child(wait_interruptibly, sem);
	EVENTUALLY(stat_of(sem).waiting == 2);
	/* Several times, because the first signal may come before the waiter sleeps. */
	EVENTUALLY(kill(patient, SIGUSR1) == 0 && kill(impatient, SIGUSR1) == 0 && stat_of(sem).waiting == 1);
	assert_int_equal(end_of_child(impatient), EINTR);
	assert_int_equal(stat_of(sem).timeouts, 1);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(end_of_child(patient), 0);
	tsem_close(sem);
}

struct asked {
	_Atomic uint32_t calls;
	_Atomic bool leave;
};

static int
leave_if_told(void *arg, uint32_t position)
{
	struct asked *asked = arg;
	atomic_fetch_add(&asked->calls, position); /* 1 with every_ms, which makes reports too rare to count here */
	return atomic_load(&asked->leave);
}

struct asking {
	tsem *sem;
	struct asked *asked;
};

static int
wait_and_ask(void *arg)
{
	const struct asking *asking = arg;
	const struct sigaction action = {.sa_handler = do_nothing};
	const struct tsem_wait options = {
		.size = sizeof(options),
		.flags = TSEM_INTERRUPTIBLE,
		.progress = leave_if_told,
		.arg = asking->asked,
		.every_ms = 1000000,
	};
	tsem_hold hold;
	sigaction(SIGUSR1, &action, NULL);
	return -tsem_acquire_wait(asking->sem, 1, &options, &hold);
}

/* The waiter behind is the second in the queue to the end: a wait that began again would be the last. */
TEST(after_a_signal_progress_decides)
{
	tsem *sem = new_semaphore(1, 0);
	struct asked *asked = shared_memory(sizeof(*asked));
	struct asking asking = {.sem = sem, .asked = asked};
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const pid_t first = start_child(wait_and_ask, &asking);
	EVENTUALLY(stat_of(sem).waiting == 1);
	const pid_t second = start_child(wait_without_deadline, sem);
	EVENTUALLY(stat_of(sem).waiting == 2);
	const uint64_t drawn = stat_of(sem).ticket;
	EVENTUALLY(kill(first, SIGUSR1) == 0 && atomic_load(&asked->calls) >= 3);
	assert_int_equal(stat_of(sem).ticket, drawn);
	assert_int_equal(stat_of(sem).waiting, 2);

	atomic_store(&asked->leave, true);
	EVENTUALLY(kill(first, SIGUSR1) == 0 && stat_of(sem).waiting == 1);
	assert_int_equal(end_of_child(first), EINTR);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(end_of_child(second), 0);
	tsem_close(sem);
}

static int
stop_at_the_third(void *arg, uint32_t position)
{
	uint32_t *calls = arg;
	return position == 1 && ++*calls == 3;
}

TEST(progress_gives_up)
{
	tsem *sem = new_semaphore(1, 0);
	uint32_t calls = 0;
	const struct tsem_wait options = {
		.size = sizeof(options), .progress = stop_at_the_third, .arg = &calls, .every_ms = 5};
	tsem_hold hold;
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ECANCELED);
	assert_int_equal(calls, 3);
	calls = 0;
	assert_int_equal(tsem_take_wait(sem, 1, &options), -ECANCELED);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(stat_of(sem).available, 1);
	tsem_close(sem);
}

/* ---- max_waiting ---- */

static atomic_uint *refused; /* shared with the children */
static uint32_t max_waiting;

static int
hold_unless_full(void *sem)
{
	const struct tsem_wait options = {.size = sizeof(options), .max_waiting = max_waiting};
	tsem_hold hold;
	const int rc = tsem_acquire_wait(sem, 1, &options, &hold);
	if (rc != -EAGAIN)
		return rc == 0 ? stay_until_killed(NULL) : -rc;
	atomic_fetch_add(refused, 1);
	return EAGAIN;
}

TEST(of_many_that_come_at_once_as_many_wait_as_may)
{
	enum { CHILDREN = 40, PERMITS = 2, MAX_WAITING = 3, ROUNDS = 5 };
	tsem *sem = new_semaphore(PERMITS, 0);
	refused = shared_memory(sizeof(*refused));
	max_waiting = MAX_WAITING;
	for (size_t round = 0; round < ROUNDS; round++) {
		pid_t children[CHILDREN];
		atomic_store(refused, 0);
		for (size_t i = 0; i < CHILDREN; i++)
			children[i] = start_child(hold_unless_full, sem);
		EVENTUALLY(atomic_load(refused) == CHILDREN - PERMITS - MAX_WAITING);
		EVENTUALLY(stat_of(sem).held == PERMITS && stat_of(sem).waiting == MAX_WAITING);
		for (size_t i = 0; i < CHILDREN; i++)
			kill_child(children[i]);
		assert_int_equal(tsem_recover(sem, NULL), 0);
		expect_at_rest(sem, PERMITS);
	}
	tsem_close(sem);
}

TEST(a_full_queue_refuses_every_kind_of_waiter_with_a_maximum)
{
	tsem *sem = new_semaphore(1, 0);
	tsem *other = new_semaphore(1, 0);
	const struct tsem_wait one = {.size = sizeof(one), .max_waiting = 1};
	tsem_hold hold, mine, both[2];
	size_t which;
	assert_int_equal(tsem_acquire_wait(sem, 1, &one, &hold), 0);
	const pid_t waiter = start_child(acquire_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(tsem_acquire_wait(sem, 1, &one, &mine), -EAGAIN);
	assert_int_equal(tsem_take_wait(sem, 1, &one), -EAGAIN);
	assert_int_equal(tsem_post_and_take_wait(other, sem, &one), -EAGAIN);
	assert_int_equal(tsem_acquire_all((tsem *const[]){sem, other}, 2, &one, both), -EAGAIN);
	assert_int_equal(tsem_acquire_any((tsem *const[]){sem, other}, 2, &one, &mine, &which), -EINVAL);
	expect_at_rest(other, 1);
	assert_int_equal(stat_of(sem).waiting, 1);

	/* A waiter that is stopped waits, and one that is dead and recovered does not. */
	kill(waiter, SIGSTOP);
	assert_int_equal(tsem_acquire_wait(sem, 1, &one, &mine), -EAGAIN);
	kill_child(waiter);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	max_waiting = 1;
	const pid_t next = start_child(hold_unless_full, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(tsem_acquire_wait(sem, 1, &one, &mine), -EAGAIN);
	assert_int_equal(tsem_release(&hold), 0);
	EVENTUALLY(stat_of(sem).held == 1 && stat_of(sem).waiting == 0);
	kill_child(next);
	assert_int_equal(tsem_acquire_wait(sem, 1, &one, &mine), 0);
	tsem_close(sem);
	tsem_close(other);
}

/* ---- TSEM_QUEUED ---- */

static int
stop_in_queue(void *arg, uint32_t position)
{
	assert_int_equal(position, 1);
	assert_int_equal(stat_of(arg).waiting, 1);
	return 1;
}

TEST(progress_is_called_as_soon_as_the_caller_is_in_the_queue)
{
	tsem *sem = new_semaphore(1, 0);
	const struct tsem_wait queued = {
		.size = sizeof(queued),
		.flags = TSEM_QUEUED,
		.progress = stop_in_queue,
		.arg = sem,
		.every_ms = UINT32_MAX,
	};
	const struct tsem_wait without = {.size = sizeof(without), .flags = TSEM_QUEUED};
	tsem_hold hold, mine;
	assert_int_equal(tsem_acquire_wait(sem, 1, &queued, &hold), 0); /* at once, so it is not called */
	assert_int_equal(tsem_acquire_wait(sem, 1, &queued, &mine), -ECANCELED);
	assert_int_equal(tsem_acquire_any((tsem *const[]){sem}, 1, &queued, &mine, &(size_t){0}), -ECANCELED);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_acquire_wait(sem, 1, &without, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	tsem_close(sem);
}

/* ---- TSEM_ALL ---- */

TEST(all_permits_are_as_many_as_the_capacity)
{
	tsem *sem = new_semaphore(3, 0);
	const struct timespec past = {0};
	const struct tsem_wait all = {.size = sizeof(all), .flags = TSEM_ALL, .deadline = &past};
	tsem_hold hold, mine;
	assert_int_equal(tsem_acquire_wait(sem, 0, &all, &hold), 0);
	assert_int_equal(stat_of(sem).held, 3);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_set(sem, 5), 0);
	assert_int_equal(tsem_acquire_wait(sem, 0, &all, &hold), 0);
	assert_int_equal(stat_of(sem).held, 5);
	assert_int_equal(tsem_acquire_wait(sem, 0, &all, &mine), -ETIMEDOUT);
	assert_int_equal(tsem_release(&hold), 0);

	assert_int_equal(tsem_acquire_wait(sem, 1, &all, &mine), -EINVAL);
	assert_int_equal(tsem_take_wait(sem, 0, &all), -EINVAL);
	assert_int_equal(tsem_acquire_all((tsem *const[]){sem}, 1, &all, &mine), -EINVAL);
	assert_int_equal(tsem_set(sem, 0), 0);
	assert_int_equal(tsem_acquire_wait(sem, 0, &all, &mine), -EINVAL);
	tsem_close(sem);
}

/* ---- all records in use ---- */

TEST(all_records_in_use)
{
	enum { RECORDS = 32766 };
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, RECORDS + 10, 0);
	static tsem_hold holds[RECORDS];
	tsem_hold more;
	const struct timespec soon = deadline_in(5);
	for (size_t i = 0; i < RECORDS; i++)
		assert_int_equal(tsem_acquire(sem, 1, NULL, &holds[i]), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &more), -EUSERS);
	assert_int_equal(tsem_acquire(sem, 1, &soon, &more), -EUSERS);
	assert_int_equal(tsem_try_take(sem, 1), 0); /* a take needs no record */
	assert_int_equal(stat_of(sem).available, 9);
	assert_int_equal(tsem_release(&holds[20000]), 0);
	assert_int_equal(tsem_acquire(sem, 1, &soon, &holds[20000]), 0);
	for (size_t i = 0; i < RECORDS; i++)
		assert_int_equal(tsem_release(&holds[i]), 0);
	assert_int_equal(stat_of(sem).available, RECORDS + 9);
	tsem_close(sem);
}

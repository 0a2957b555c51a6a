/* SPDX-License-Identifier: MIT */
/* tsem_wait_idle and tsem_cancel. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct timespec past;

static int
wait_until_idle(void *arg)
{
	return -tsem_wait_idle(arg, 0, NULL);
}

static int
wait_until_nobody_holds(void *arg)
{
	return -tsem_wait_idle(arg, TSEM_HOLDERS, NULL);
}

/* ---- idle ---- */

TEST(idle_or_not)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 2, 0);
	tsem_hold hold;
	assert_int_equal(tsem_wait_idle(sem, 0, &past), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_wait_idle(sem, 0, &past), -ETIMEDOUT);
	assert_int_equal(tsem_wait_idle(sem, TSEM_HOLDERS, &past), -ETIMEDOUT);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0); /* taken: without a holder, but not available */
	assert_int_equal(tsem_wait_idle(sem, TSEM_HOLDERS, &past), -ETIMEDOUT);
	assert_int_equal(tsem_post(sem, 3, NULL), 0);
	assert_int_equal(tsem_wait_idle(sem, 0, &past), 0);
	/* More permits were posted than taken: the counters alone would say that none is held. */
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	assert_int_equal(stat_of(sem).held, 2);
	assert_int_equal(tsem_wait_idle(sem, 0, &past), -ETIMEDOUT);
	assert_int_equal(tsem_release(&hold), 0);

	const struct timespec bad = {.tv_nsec = -1};
	assert_int_equal(tsem_wait_idle(sem, 64, &past), -EINVAL);
	assert_int_equal(tsem_wait_idle(sem, TSEM_FORCE, &past), -EINVAL); /* no flag of another function */
	assert_int_equal(tsem_wait_idle(sem, 0, &bad), -EINVAL);
	tsem *reader;
	assert_int_equal(tsem_open(name, TSEM_READ_ONLY, &reader), 0);
	assert_int_equal(tsem_wait_idle(reader, 0, &past), -EPERM);
	tsem_close(reader);
	assert_int_equal(tsem_remove(name, 0), 0);
	assert_int_equal(tsem_wait_idle(sem, 0, NULL), -EIDRM);
	tsem_close(sem);
}

/* Drained: no process holds, and some wait. */
TEST(holders_only)
{
	tsem *sem = new_semaphore(1, 0);
	assert_int_equal(tsem_set(sem, 0), 0);
	const pid_t waiter = start_child(take_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(tsem_wait_idle(sem, TSEM_HOLDERS, NULL), 0);
	assert_int_equal(tsem_wait_idle(sem, 0, &past), -ETIMEDOUT);
	kill_child(waiter);
	assert_int_equal(tsem_wait_idle(sem, 0, NULL), 0);
	tsem_close(sem);
}

/* The sleeper is in futex_wait() when the last holder releases: its bit in the segment says so, and its state S. */
static bool
sleeps(pid_t pid)
{
	char path[64];
	char line[256] = "";
	snprintf(path, sizeof(path), "/proc/%d/wchan", (int)pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return false;
	const bool read = fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	return read && strstr(line, "futex") != NULL;
}

static void
told_by(tsem *sem, int (*wait)(void *), void (*end)(tsem *sem, tsem_hold *hold))
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	const pid_t child = start_child(wait, sem);
	EVENTUALLY(sleeps(child));
	end(sem, &hold);
	assert_int_equal(end_of_child(child), 0);
}

static void
end_by_release(tsem *sem, tsem_hold *hold)
{
	(void)sem;
	assert_int_equal(tsem_release(hold), 0);
}

static void
end_by_post(tsem *sem, tsem_hold *hold)
{
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(tsem_release(hold), 0);
	assert_int_equal(tsem_wait_idle(sem, TSEM_HOLDERS, &past), -ETIMEDOUT);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
}

TEST(the_last_holder_wakes)
{
	tsem *sem = new_semaphore(2, 0);
	told_by(sem, wait_until_idle, end_by_release);
	told_by(sem, wait_until_idle, end_by_post);
	told_by(sem, wait_until_nobody_holds, end_by_release);
	told_by(sem, wait_until_nobody_holds, end_by_post);
	tsem_close(sem);
}

/* No other process looks for the dead. */
TEST(the_last_holder_is_dead)
{
	tsem *sem = new_semaphore(1, 0);
	const pid_t holder = start_child(hold_until_killed, sem);
	EVENTUALLY(stat_of(sem).held == 1);
	const pid_t sleeper = start_child(wait_until_idle, sem);
	EVENTUALLY(sleeps(sleeper));
	kill_child(holder);
	assert_int_equal(end_of_child(sleeper), 0);
	tsem_close(sem);
}

/* ---- cancel ---- */

struct shared {
	tsem *sem;
	_Atomic int cancelled;
};

static int
take_unless_cancelled(void *arg)
{
	struct shared *shared = arg;
	int rc = tsem_take(shared->sem, 1, NULL);
	if (rc == -ECANCELED) {
		shared->cancelled++;
		rc = tsem_take(shared->sem, 1, NULL); /* a later call waits again */
	}
	return -rc;
}

TEST(present_waiters_give_up)
{
	enum { WAITERS = 5 };
	struct shared *shared = shared_memory(sizeof(*shared));
	shared->sem = new_semaphore(1, 0);
	tsem *sem = shared->sem;
	assert_int_equal(tsem_cancel(sem), 0); /* without waiters */
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	pid_t waiters[WAITERS];
	for (unsigned i = 0; i < WAITERS; i++) {
		waiters[i] = start_child(take_unless_cancelled, shared);
		EVENTUALLY(stat_of(sem).waiting == i + 1);
	}
	assert_int_equal(tsem_cancel(sem), 0);
	EVENTUALLY(shared->cancelled == WAITERS);
	EVENTUALLY(stat_of(sem).waiting == WAITERS);
	assert_int_equal(stat_of(sem).timeouts, WAITERS);
	assert_int_equal(tsem_post(sem, WAITERS, NULL), 0);
	for (unsigned i = 0; i < WAITERS; i++)
		assert_int_equal(end_of_child(waiters[i]), 0);
	assert_int_equal(shared->cancelled, WAITERS);
	assert_int_equal(stat_of(sem).available, 0);
	tsem_close(sem);
	munmap(shared, sizeof(*shared));
}

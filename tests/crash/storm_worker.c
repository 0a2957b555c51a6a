/* SPDX-License-Identifier: MIT */
/* What a worker does until it is killed: it uses the semaphores, and writes its entry for the monitor. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "calls/hold.h"
#include "protocol/fast.h"
#include "records/presence.h"
#include "storm.h"
#include "system/platform.h"

static struct storm *storm;
static unsigned self;
static unsigned used; /* the semaphore in use */
static uint64_t state;

static int (*sleep_of_library)(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until);

/* The library sleeps only when the waiter has its ticket: the entry may say so now. */
static int
sleep_as_waiter(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	unsigned semaphore;
	if (monitor_activity(storm, self, &semaphore) == ACTIVITY_CALLING) {
		atomic_store(&storm->entries[self].queued_at, atomic_fetch_add(&storm->sequence, 1));
		monitor_set_activity(storm, self, used, ACTIVITY_QUEUED);
		atomic_fetch_add(&storm->waits[used], 1);
	}
	return sleep_of_library(word, expected, bits, until);
}

uint64_t __real_presence_owner(struct tsem *sem, const struct identity *identity);
uint64_t __wrap_presence_owner(struct tsem *sem, const struct identity *identity);

uint64_t
__wrap_presence_owner(struct tsem *sem, const struct identity *identity)
{
	return storm != NULL && storm_is_lockless(storm, self) ? identity->owner : __real_presence_owner(sem, identity);
}

void
storm_call(struct storm *shared, unsigned worker, unsigned semaphore, uint32_t count, bool stays)
{
	struct entry *entry = &shared->entries[worker];
	atomic_store(&entry->count, count);
	atomic_store(&entry->stays, stays);
	/* storm_forget_changes() needs this order. */
	monitor_set_activity(shared, worker, semaphore, ACTIVITY_CALLING);
	atomic_store(&entry->called_at, atomic_fetch_add(&shared->sequence, 1));
}

void
storm_be_admitted(struct storm *shared, unsigned worker, unsigned semaphore)
{
	atomic_store(&shared->entries[worker].admitted_at, atomic_fetch_add(&shared->sequence, 1));
	monitor_set_activity(shared, worker, semaphore, ACTIVITY_HOLDING);
	atomic_fetch_add(&shared->admissions[semaphore], 1);
	monitor_check(shared, worker, semaphore);
}

/* Passes some time while the worker holds, or between two uses. */
void
storm_pass_time(uint64_t *random)
{
	const struct timespec moment = {.tv_nsec = (long)below(random, 300000)};
	switch (below(random, 4)) {
	case 0:
		nanosleep(&moment, NULL);
		break;
	case 1:
		sched_yield();
		break;
	default:
		break;
	}
}

/* Waiters of CANCELLED may be cancelled. */
void
storm_expect(struct storm *shared, unsigned semaphore, int rc, int also, const char *what)
{
	if (rc != 0 && rc != also && (rc != -ECANCELED || semaphore != CANCELLED))
		storm_fault(shared, "%s of %s returned %s", what, shared->names[semaphore], strerror(-rc));
}

static void
call(uint32_t count, bool stays)
{
	storm_call(storm, self, used, count, stays);
}

static void
be_admitted(void)
{
	storm_be_admitted(storm, self, used);
}

static void
pass_time(void)
{
	storm_pass_time(&state);
}

static void
expect(int rc, int also, const char *what)
{
	storm_expect(storm, used, rc, also, what);
}

static void
forget_maximum(tsem *sem)
{
	sem->max = 0;
	sem->fast_post_max = FAST_POST_MAX;
}

static void
post_too_many(tsem *sem)
{
	const int rc = tsem_post(sem, TOO_MANY, NULL);
	if (rc != -EOVERFLOW)
		storm_fault(storm, "post beyond the maximum of %s returned %d", storm->names[used], rc);
}

static void
use_anonymously(tsem *sem)
{
	if (sem->max != 0 && below(&state, 16) == 0)
		post_too_many(sem);
	const uint32_t count = 1 + below(&state, 2);
	call(count, true);
	int rc = tsem_take(sem, count, NULL);
	expect(rc, 0, "take");
	if (rc != 0)
		return;
	storm_lock(storm, self, used, count);
	be_admitted();
	pass_time();
	storm_unlock(storm, self, used);
	/* Posts and takes again in one call. A worker that is killed in it may have posted without taking. */
	for (int again = 0; count == 1 && again < 2 && below(&state, 4) == 0; again++) {
		atomic_store(&storm->entries[self].called_at, atomic_fetch_add(&storm->sequence, 1));
		monitor_set_activity(storm, self, used, ACTIVITY_POSTING);
		expect(tsem_post_and_take(sem, sem), 0, "post and take");
		storm_lock(storm, self, used, count);
		be_admitted();
		storm_unlock(storm, self, used);
	}
	monitor_set_activity(storm, self, used, ACTIVITY_POSTING);
	rc = tsem_post(sem, count, NULL);
	expect(rc, 0, "post");
	monitor_set_activity(storm, self, used, ACTIVITY_NONE);
}

static int
cancel_after_calls(void *arg, uint32_t position)
{
	(void)position;
	return --*(int *)arg < 0;
}

static int
acquire_randomly(tsem *sem, uint32_t count, tsem_hold *hold)
{
	int calls = (int)below(&state, 3);
	struct timespec deadline;
	struct tsem_wait wait = {.size = sizeof(wait)};
	const unsigned how = below(&state, 8);
	call(count, how > 4);
	if (how == 0) {
		const int rc = tsem_try_acquire(sem, count, hold);
		expect(rc, -EAGAIN, "try");
		return rc;
	}
	if (how == 1 || how == 2) {
		clock_gettime(CLOCK_MONOTONIC, &deadline);
		deadline.tv_nsec += (long)below(&state, 20000000);
		if (deadline.tv_nsec >= (long)NS_PER_SECOND) {
			deadline.tv_nsec -= (long)NS_PER_SECOND;
			deadline.tv_sec++;
		}
		const int rc = tsem_acquire(sem, count, &deadline, hold);
		expect(rc, -ETIMEDOUT, "acquire with a deadline");
		atomic_fetch_add(&storm->timeouts, rc == -ETIMEDOUT);
		return rc;
	}
	if (how == 3) {
		wait.progress = cancel_after_calls;
		wait.arg = &calls;
		wait.every_ms = 5;
	}
	if (how == 4)
		wait.max_waiting = 1 + below(&state, 8);
	const int rc = tsem_acquire_wait(sem, count, &wait, hold);
	expect(rc, how == 3 ? -ECANCELED : how == 4 ? -EAGAIN : 0, "acquire");
	atomic_fetch_add(&storm->cancels, rc == -ECANCELED);
	return rc;
}

/*
 * Gives the hold to another worker, and takes it back. The hold ends by the other worker's release, by this worker's,
 * or by the other one's death. The other one is one of those that end_workers() kills: if this worker dies, the other
 * may wait for the permit that it has itself, without knowing of it.
 */
static void
hand_over(tsem *sem, tsem_hold *hold)
{
	const pid_t other = atomic_load(&storm->entries[below(&state, storm->workers) / 2 * 2].pid);
	const bool lend = below(&state, 2) == 0;
	tsem_process process;
	int rc = other <= 0 ? -ESRCH : lend ? tsem_find_process(other, &process) : tsem_hand_over(hold, other);
	if (rc == 0 && lend)
		rc = tsem_lend(hold, &process);
	if (rc != 0) {
		expect(rc, -ESRCH, "hand over");
		expect(tsem_release(hold), 0, "release");
		return;
	}
	atomic_fetch_add(&storm->handed_over, 1);
	pass_time();
	rc = lend ? tsem_release(hold) : tsem_release_for(sem, other);
	if (lend)
		expect(rc, 0, "end of a loan");
	else if (rc != -ESRCH)
		expect(rc, -ENOENT, "release for another");
}

static void
use_owned(tsem *sem)
{
	tsem_hold hold;
	const uint32_t most = storm->capacity[used] >= 7 ? 3 : storm->capacity[used] >= 3 ? 2 : 1;
	const bool contained = storm_is_contained(storm, self); /* entries have the numbers that the driver knows */
	if (!contained && below(&state, 16) == 0)
		expect(tsem_release_for(sem, getpid()), -ENOENT, "release for oneself");
	const uint32_t count = 1 + below(&state, most);
	const uint64_t died = atomic_load(&storm->died);
	if (acquire_randomly(sem, count, &hold) != 0) {
		monitor_set_activity(storm, self, used, ACTIVITY_NONE);
		return;
	}
	storm_lock(storm, self, used, count);
	be_admitted();
	if (used == SINGLE)
		monitor_notified(storm, tsem_hold_recovered(&hold), died);
	uint32_t slots[4];
	const size_t n = below(&state, 2) == 0 ? tsem_hold_slots(&hold, slots, 4) : 0;
	for (size_t i = 0; i < n; i++)
		monitor_slot(storm, self, used, slots[i]);
	pass_time();
	for (size_t i = 0; i < n; i++)
		monitor_slot_end(storm, self, used, slots[i]);
	storm_unlock(storm, self, used);
	monitor_set_activity(storm, self, used, ACTIVITY_NONE);
	if (!contained && below(&state, 16) == 0)
		hand_over(sem, &hold);
	else
		expect(tsem_release(&hold), 0, "release");
}

/* Uses the semaphore by a handle of its own, so that the process releases its lock and takes it again. */
static void
use_another_handle(void)
{
	tsem *own;
	const int rc = tsem_open(storm->names[used], 0, &own);
	expect(rc, 0, "open");
	if (rc != 0)
		return;
	use_owned(own);
	tsem_close(own);
}

/* A violation: the worker locks a byte without a permit, long enough for the driver to count the locks. */
static void
violate(void)
{
	storm_call(storm, self, used, 1, false);
	storm_lock(storm, self, used, 1);
	nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
	storm_unlock(storm, self, used);
	monitor_set_activity(storm, self, used, ACTIVITY_NONE);
}

void
storm_work(struct storm *shared, unsigned worker, unsigned life)
{
	storm = shared;
	self = worker;
	state = storm->seed ^ (uint64_t)worker << 32 ^ life;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sleep_of_library = platform.sleep;
	platform.sleep = sleep_as_waiter;
	if (worker % 2 != 0)
		forget_maximum(storm->sems[ANONYMOUS]);
	while (!atomic_load(&storm->ending)) {
		used = below(&state, SEMAPHORES);
		const bool contained = storm_is_contained(storm, self);
		if (used == SET_FIRST && contained)
			continue;
		if (storm->violations && below(&state, 8) == 0)
			violate();
		else if (!contained && below(&state, 8) == 0)
			storm_other_operation(storm, self, &state);
		else if (used == ANONYMOUS)
			use_anonymously(storm->sems[used]);
		else if (used != SET_FIRST && below(&state, 8) == 0)
			use_another_handle();
		else
			use_owned(storm->sems[used]);
		pass_time();
	}
	_exit(0);
}

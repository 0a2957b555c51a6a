/* SPDX-License-Identifier: MIT */
/* What workers do beside acquiring, taking and giving back a single hold. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "storm.h"
#include "system/platform.h"

static struct timespec
soon(uint64_t *state)
{
	const uint64_t at = platform.now() + below(state, 20) * NS_PER_MS;
	return (struct timespec){.tv_sec = (time_t)(at / NS_PER_SECOND), .tv_nsec = (long)(at % NS_PER_SECOND)};
}

/* Sets a higher or lower capacity, 0, or the usual one. */
static void
set_capacity(struct storm *storm, unsigned worker, uint64_t *state)
{
	const unsigned semaphore = SET_FIRST + below(state, ANONYMOUS - SET_FIRST);
	const uint32_t usual = storm->capacity[semaphore];
	if (atomic_load(&storm->change_count[semaphore])
	    > CHANGES_MAX / 2) /* the other half is for restoring the usual capacities */
		return;
	const uint32_t capacities[] = {0, 1, usual - 1, usual, usual, usual + 1, 2 * usual};
	const uint32_t capacity = capacities[below(state, sizeof(capacities) / sizeof(capacities[0]))];
	storm_set_capacity(storm, semaphore, capacity, &storm->entries[worker].change);
	if (capacity >= usual)
		return;
	storm_pass_time(state);
	storm_set_capacity(storm, semaphore, usual, &storm->entries[worker].change);
}

void
storm_end_cancel(struct storm *storm, unsigned worker)
{
	if (!atomic_load(&storm->entries[worker].cancels))
		return;
	const uint64_t now = atomic_fetch_add(&storm->sequence, 1);
	uint64_t seen = atomic_load(&storm->cancelled);
	while (seen < now && !atomic_compare_exchange_weak(&storm->cancelled, &seen, now))
		continue;
	atomic_store(&storm->entries[worker].cancels, false);
}

/* All waiters, or those of one worker. */
static void
cancel(struct storm *storm, unsigned worker, uint64_t *state)
{
	atomic_store(&storm->entries[worker].cancels, true);
	const pid_t one = atomic_load(&storm->entries[below(state, storm->workers)].pid);
	if (below(state, 2) == 0 || one <= 0)
		storm_expect(storm, CANCELLED, tsem_cancel(storm->sems[CANCELLED]), 0, "cancel");
	else
		storm_expect(storm, CANCELLED, tsem_cancel_owner(storm->sems[CANCELLED], one, 0), -ENOENT, "cancel of one");
	storm_end_cancel(storm, worker);
}

static void
wait_until_idle(struct storm *storm, uint64_t *state)
{
	uint64_t words[WORKERS_MAX];
	const unsigned semaphore = below(state, ANONYMOUS);
	const struct timespec deadline = soon(state);
	const unsigned flags = below(state, 2) == 0 ? TSEM_HOLDERS : 0;
	monitor_note_holders(storm, semaphore, words);
	const int rc = tsem_wait_idle(storm->sems[semaphore], flags, &deadline);
	storm_expect(storm, semaphore, rc, -ETIMEDOUT, "wait until idle");
	if (rc == 0 && monitor_still_holds(storm, words))
		storm_fault(storm, "%s was reported idle while a worker held it", storm->names[semaphore]);
	atomic_fetch_add(&storm->idle[rc != 0], 1);
}

/* Nothing is taken anonymously there, so each post is one too many. */
static void
post_too_many(struct storm *storm, uint64_t *state)
{
	const unsigned semaphore = below(state, ANONYMOUS);
	const int rc = tsem_post(storm->sems[semaphore], 1 + below(state, 3), NULL);
	if (rc != -EOVERFLOW)
		storm_fault(storm, "post beyond what was taken of %s returned %d", storm->names[semaphore], rc);
}

/* Puts the semaphores with owned holds in random order. */
static void
shuffle(uint64_t *state, unsigned order[ANONYMOUS])
{
	for (unsigned i = 0; i < ANONYMOUS; i++) {
		const unsigned at = below(state, i + 1);
		order[i] = order[at];
		order[at] = i;
	}
}

/* News of a death counts for SINGLE, even if the worker's entry names another semaphore. */
static void
note_notification(struct storm *storm, unsigned semaphore, const tsem_hold *hold, uint64_t died)
{
	if (semaphore == SINGLE)
		monitor_notified(storm, tsem_hold_recovered(hold), died);
}

static void
acquire_several(struct storm *storm, unsigned worker, uint64_t *state, bool any)
{
	unsigned order[ANONYMOUS];
	tsem *sems[ANONYMOUS];
	tsem_hold holds[ANONYMOUS];
	size_t which = 0;
	const size_t n = 2 + below(state, ANONYMOUS - 1);
	const struct timespec deadline = soon(state);
	const struct tsem_wait wait = {.size = sizeof(wait), .deadline = below(state, 4) == 0 ? NULL : &deadline};
	shuffle(state, order);
	for (size_t i = 0; i < n; i++)
		sems[i] = storm->sems[order[i]];
	const uint64_t died = atomic_load(&storm->died);
	storm_call(storm, worker, order[0], 1, false);
	const int rc = any ? tsem_acquire_any(sems, n, &wait, holds, &which) : tsem_acquire_all(sems, n, &wait, holds);
	storm_expect(storm, CANCELLED, rc, -ETIMEDOUT, any ? "any" : "all");
	if (rc == 0) {
		for (size_t i = 0; i < (any ? 1 : n); i++)
			storm_lock(storm, worker, order[any ? which : i], 1);
		/* An entry names one semaphore. The others are missing there, and entries may under-count. */
		storm_be_admitted(storm, worker, order[which]);
		for (size_t i = 0; i < (any ? 1 : n); i++)
			note_notification(storm, order[any ? which : i], &holds[i], died);
		storm_pass_time(state);
		for (size_t i = 0; i < (any ? 1 : n); i++)
			storm_unlock(storm, worker, order[any ? which : i]);
	}
	monitor_set_activity(storm, worker, order[which], ACTIVITY_NONE);
	for (size_t i = 0; rc == 0 && i < (any ? 1 : n); i++)
		storm_expect(storm, order[any ? which : i], tsem_release(&holds[i]), 0, "release of several");
	atomic_fetch_add(&storm->several[any], rc == 0);
}

void
storm_other_operation(struct storm *storm, unsigned worker, uint64_t *state)
{
	switch (below(state, 9)) {
	case 0:
		set_capacity(storm, worker, state);
		break;
	case 1:
		cancel(storm, worker, state);
		break;
	case 2:
		wait_until_idle(storm, state);
		break;
	case 3:
		post_too_many(storm, state);
		break;
	case 4:
	case 5:
		acquire_several(storm, worker, state, false);
		break;
	default:
		acquire_several(storm, worker, state, true);
		break;
	}
}

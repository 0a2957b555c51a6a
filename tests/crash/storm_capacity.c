/* SPDX-License-Identifier: MIT */
/* The capacities that were set, and when, as the setters know it. */
#include <errno.h>
#include <string.h>

#include "storm.h"

enum { SEMAPHORE_SHIFT = 32 };

#define INDEX_MASK UINT32_MAX

void
storm_set_capacity(struct storm *storm, unsigned semaphore, uint32_t capacity, _Atomic uint64_t *change)
{
	const uint32_t at = atomic_fetch_add(&storm->change_count[semaphore], 1);
	if (at >= CHANGES_MAX) {
		storm_fault(storm, "more changes of %s than can be noted", storm->names[semaphore]);
		return;
	}
	struct change *self = &storm->changes[semaphore][at];
	self->capacity = capacity;
	if (change != NULL)
		atomic_store(change, (uint64_t)semaphore << SEMAPHORE_SHIFT | (at + 1));
	atomic_store(&self->began, atomic_fetch_add(&storm->sequence, 1));
	const int rc = tsem_set(storm->sems[semaphore], capacity);
	atomic_store(&self->certain, rc == 0);
	atomic_store(&self->ended, atomic_fetch_add(&storm->sequence, 1));
	if (change != NULL)
		atomic_store(change, 0);
	if (rc != 0)
		storm_fault(storm, "set of %s returned %s", storm->names[semaphore], strerror(-rc));
}

void
storm_abandon_change(struct storm *storm, uint64_t change)
{
	if (change == 0)
		return;
	struct change *self = &storm->changes[change >> SEMAPHORE_SHIFT][(change & INDEX_MASK) - 1];
	if (atomic_load(&self->ended) == 0)
		atomic_store(&self->ended, atomic_fetch_add(&storm->sequence, 1));
}

static uint32_t
change_count(const struct storm *storm, unsigned semaphore)
{
	const uint32_t n = atomic_load(&storm->change_count[semaphore]);
	return n < CHANGES_MAX ? n : CHANGES_MAX;
}

/*
 * A capacity is in force from some instant of its call until some instant of another call. If call B began after call A
 * had ended, A's capacity is no longer in force once B has returned. So among the calls that had returned before
 * `from`, the one that began last decides: the capacities of calls that ended before it began are gone. The capacity of
 * a setter that died may have been in force or not: it counts as a claim, and ends no other one. 0: not even the first
 * capacity is gone.
 */
static uint64_t
gone_before(const struct storm *storm, unsigned semaphore, uint64_t from)
{
	const struct change *changes = storm->changes[semaphore];
	uint64_t gone = 0;
	for (uint32_t i = atomic_load(&storm->change_first[semaphore]); i < change_count(storm, semaphore); i++) {
		const uint64_t ended = atomic_load(&changes[i].ended);
		const uint64_t began = atomic_load(&changes[i].began);
		if (ended != 0 && ended < from && atomic_load(&changes[i].certain) && began > gone)
			gone = began;
	}
	return gone;
}

static bool
is_claimable(const struct change *change, uint64_t gone)
{
	const uint64_t ended = atomic_load(&change->ended);
	return ended == 0 || ended >= gone;
}

uint32_t
storm_claimable(const struct storm *storm, unsigned semaphore, uint64_t from)
{
	const struct change *changes = storm->changes[semaphore];
	const uint64_t gone = gone_before(storm, semaphore, from);
	uint32_t most = gone == 0 ? storm->capacity[semaphore] : 0;
	for (uint32_t i = atomic_load(&storm->change_first[semaphore]); i < change_count(storm, semaphore); i++) {
		if (atomic_load(&changes[i].began) != 0 && is_claimable(&changes[i], gone) && changes[i].capacity > most)
			most = changes[i].capacity;
	}
	return most;
}

/*
 * Later callers call after this sequence number. The change that ended the forgotten claims itself ends after it began,
 * so it is not forgotten.
 */
void
storm_forget_changes(struct storm *storm, unsigned semaphore)
{
	uint64_t from = atomic_fetch_add(&storm->sequence, 1);
	for (unsigned i = 0; i < storm->workers; i++) {
		unsigned at;
		const enum activity activity = monitor_activity(storm, i, &at);
		const uint64_t called_at = atomic_load(&storm->entries[i].called_at);
		if (activity != ACTIVITY_NONE && called_at < from)
			from = called_at;
	}
	const uint64_t gone = gone_before(storm, semaphore, from);
	uint32_t first = atomic_load(&storm->change_first[semaphore]);
	while (first < change_count(storm, semaphore) && !is_claimable(&storm->changes[semaphore][first], gone))
		first++;
	atomic_store(&storm->change_first[semaphore], first);
}

/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "storm.h"

enum { ACTIVITY_BITS = 4, VERSION_SHIFT = 8 };

void
storm_fault(struct storm *storm, const char *format, ...)
{
	char text[300];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (atomic_fetch_add(&storm->faults, 1) < STORM_FAULTS_MAX)
		printf("FAULT: %s\n", text);
}

void
monitor_set_activity(struct storm *storm, unsigned worker, unsigned semaphore, enum activity activity)
{
	_Atomic uint64_t *word = &storm->entries[worker].word;
	const uint64_t version = (atomic_load(word) >> VERSION_SHIFT) + 1;
	atomic_store(word, version << VERSION_SHIFT | semaphore << ACTIVITY_BITS | activity);
}

static enum activity
activity_of(uint64_t word, unsigned *semaphore)
{
	*semaphore = (unsigned)(word >> ACTIVITY_BITS & 15);
	return (enum activity)(word & 15);
}

enum activity
monitor_activity(const struct storm *storm, unsigned worker, unsigned *semaphore)
{
	return activity_of(atomic_load(&storm->entries[worker].word), semaphore);
}

/*
 * Reads all entries twice. An entry with the same version both times did not change in between, so all such entries
 * were true at one instant between the two readings. `doomed` is read last: a worker that is not doomed even then was
 * alive at that instant.
 *
 * Order: a worker that had its ticket before this worker called, and waits until it is admitted, comes before this
 * worker. This worker has been admitted, so those have been admitted too, awake or not, and count as holders. If this
 * worker overtook one of them, the sum is too large. A waiter that may have been cancelled since its call is left out.
 *
 * Capacity: when the holder with the highest ticket was enabled, all other holders had lower tickets. So all of them
 * together fitted into a capacity that was in force at some time since its call. The monitor does not know which holder
 * that is, so it allows the largest capacity that any of them can claim. About this worker it knows more: workers that
 * were admitted before it called have lower tickets. So they, this worker and the waiters ahead of it fit into a
 * capacity that this worker can claim.
 */
void
monitor_check(struct storm *storm, unsigned worker, unsigned semaphore)
{
	uint64_t words[WORKERS_MAX];
	uint64_t holding = 0;
	uint64_t before_us = 0;
	uint64_t ahead = 0;
	const uint64_t called_at = atomic_load(&storm->entries[worker].called_at);
	uint64_t earliest = called_at;
	bool cancels = false;
	/* Read before the entries, because permits that are posted later may also be taken later. */
	for (unsigned i = 0; i < storm->workers; i++) {
		words[i] = atomic_load(&storm->entries[i].word);
		cancels = cancels || atomic_load(&storm->entries[i].cancels);
	}
	for (unsigned i = 0; i < storm->workers; i++) {
		struct entry *entry = &storm->entries[i];
		unsigned at;
		const enum activity activity = activity_of(words[i], &at);
		if (at != semaphore || (activity != ACTIVITY_HOLDING && activity != ACTIVITY_QUEUED))
			continue;
		const uint32_t count = atomic_load(&entry->count);
		const uint64_t its_call = atomic_load(&entry->called_at);
		const bool is_ahead = atomic_load(&entry->stays) && atomic_load(&entry->queued_at) < called_at;
		const bool admitted_before = i == worker || atomic_load(&entry->admitted_at) < called_at;
		if (atomic_load(&entry->word) != words[i] || atomic_load(&entry->doomed))
			continue;
		if (activity == ACTIVITY_HOLDING) {
			holding += count;
			before_us += admitted_before ? count : 0;
			earliest = its_call < earliest ? its_call : earliest;
		} else if (is_ahead && (semaphore != CANCELLED || (!cancels && atomic_load(&storm->cancelled) < its_call))) {
			ahead += count;
		}
	}
	const uint64_t surplus = semaphore == ANONYMOUS ? atomic_load(&storm->surplus) : 0;
	const uint64_t exist = storm_claimable(storm, semaphore, earliest) + surplus;
	const uint64_t claim = storm_claimable(storm, semaphore, called_at) + surplus;
	if (holding + ahead > exist && holding <= exist)
		storm_fault(storm,
		            "overtaken: %" PRIu64 " permits held, and %" PRIu64 " due to waiters ahead, of %" PRIu64 " of %s",
		            holding, ahead, exist, storm->names[semaphore]);
	if (holding > exist)
		storm_fault(storm, "over-admitted: %" PRIu64 " permits held of %" PRIu64 " of %s", holding, exist,
		            storm->names[semaphore]);
	else if (before_us + ahead > claim)
		storm_fault(storm,
		            "over-admitted: %" PRIu64 " permits held, and %" PRIu64
		            " due to waiters ahead, when one was admitted "
		            "that can claim a capacity of %" PRIu64 " of %s",
		            before_us, ahead, claim, storm->names[semaphore]);
	atomic_fetch_add(&storm->checks, 1);
	if (holding > atomic_load(&storm->most[semaphore]))
		atomic_store(&storm->most[semaphore], holding);
}

/* ---- slots ---- */

enum { WORKER_BITS = 10 };

/*
 * A cell names the worker that has the slot, and its hold. The worker writes the cell after the acquire and clears it
 * before the release. If the cell names another worker whose entry has not changed since, both have the slot.
 */
void
monitor_slot(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t slot)
{
	const uint64_t word = atomic_load(&storm->entries[worker].word);
	const uint64_t seen = atomic_exchange(&storm->slots[semaphore][slot], word << WORKER_BITS | worker);
	const struct entry *entry = &storm->entries[seen & ((1 << WORKER_BITS) - 1)];
	if (seen >> WORKER_BITS != 0 && atomic_load(&entry->word) << WORKER_BITS >> WORKER_BITS == seen >> WORKER_BITS
	    && !atomic_load(&entry->doomed))
		storm_fault(storm, "two holders of %s have slot %u", storm->names[semaphore], slot);
	if (semaphore == SINGLE && slot != 0)
		storm_fault(storm, "the only holder of %s has slot %u", storm->names[semaphore], slot);
}

void
monitor_slot_end(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t slot)
{
	uint64_t own = atomic_load(&storm->entries[worker].word) << WORKER_BITS | worker;
	atomic_compare_exchange_strong(&storm->slots[semaphore][slot], &own, 0);
}

/* ---- news of dead holders ---- */

/*
 * A worker that calls for SINGLE after a holder died is admitted after that holder's permit has come back. If this
 * worker does not learn of the death, another one must have learnt it since, and have said so before it released.
 */
void
monitor_notified(struct storm *storm, bool notified, uint64_t died)
{
	if (notified) {
		atomic_store(&storm->notified_at, atomic_fetch_add(&storm->sequence, 1));
		atomic_fetch_add(&storm->notifications, 1);
	} else if (died != 0 && atomic_load(&storm->notified_at) < died) {
		storm_fault(storm, "a holder of %s has died, and no later holder has learnt it", storm->names[SINGLE]);
	}
}

/* ---- idleness ---- */

void
monitor_note_holders(const struct storm *storm, unsigned semaphore, uint64_t words[WORKERS_MAX])
{
	for (unsigned i = 0; i < storm->workers; i++) {
		unsigned at;
		words[i] = atomic_load(&storm->entries[i].word);
		if (activity_of(words[i], &at) != ACTIVITY_HOLDING || at != semaphore)
			words[i] = 0;
	}
}

bool
monitor_still_holds(const struct storm *storm, const uint64_t words[WORKERS_MAX])
{
	for (unsigned i = 0; i < storm->workers; i++) {
		const struct entry *entry = &storm->entries[i];
		if (words[i] != 0 && atomic_load(&entry->word) == words[i] && !atomic_load(&entry->doomed))
			return true;
	}
	return false;
}

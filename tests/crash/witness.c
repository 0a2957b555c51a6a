/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "storm.h"

enum { STAND_BITS = 4, VERSION_SHIFT = 8 };

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
witness_stand(struct storm *storm, unsigned worker, unsigned semaphore, enum stand stand)
{
	_Atomic uint64_t *word = &storm->entries[worker].word;
	const uint64_t version = (atomic_load(word) >> VERSION_SHIFT) + 1;
	atomic_store(word, version << VERSION_SHIFT | semaphore << STAND_BITS | stand);
}

static enum stand
stand_of(uint64_t word, unsigned *semaphore)
{
	*semaphore = (unsigned)(word >> STAND_BITS & 15);
	return (enum stand)(word & 15);
}

enum stand
witness_stands(const struct storm *storm, unsigned worker, unsigned *semaphore)
{
	return stand_of(atomic_load(&storm->entries[worker].word), semaphore);
}

/*
 * All entries are read twice. One that has the same version both times stood like that the whole time in between, so all
 * of those did at one instant: the one between the two readings. Whether it was alive then is looked at last: a worker
 * that is not doomed even now was not killed before.
 *
 * Order: whoever stood in line before this worker called, and is patient, comes before it. Now that this worker has been
 * admitted, so have all of those, whether they have woken up or not: they count as holders. So a newcomer that overtook
 * a waiter shows as one permit too many.
 */
void
witness_check(struct storm *storm, unsigned worker, unsigned semaphore)
{
	uint64_t words[WORKERS_MAX];
	uint64_t holding = 0;
	uint64_t ahead = 0;
	const uint64_t called = atomic_load(&storm->entries[worker].called);
	/* Before the entries: what is posted later may be taken later, too. */
	for (unsigned i = 0; i < storm->workers; i++)
		words[i] = atomic_load(&storm->entries[i].word);
	for (unsigned i = 0; i < storm->workers; i++) {
		struct entry *entry = &storm->entries[i];
		unsigned at;
		const enum stand stand = stand_of(words[i], &at);
		if (at != semaphore || (stand != STAND_HOLDING && stand != STAND_IN_LINE))
			continue;
		const uint32_t count = atomic_load(&entry->count);
		const bool before = atomic_load(&entry->patient) && atomic_load(&entry->lined) < called;
		if (atomic_load(&entry->word) != words[i] || atomic_load(&entry->doomed))
			continue;
		if (stand == STAND_HOLDING)
			holding += count;
		else if (before)
			ahead += count;
	}
	const uint64_t exist = storm->capacity[semaphore] + (semaphore == ANONYMOUS ? atomic_load(&storm->surplus) : 0);
	if (holding > exist)
		storm_fault(storm, "over-admitted: %" PRIu64 " permits held of %" PRIu64 " of %s", holding, exist,
		            storm->names[semaphore]);
	else if (holding + ahead > exist)
		storm_fault(storm,
		            "overtaken: %" PRIu64 " permits held, and %" PRIu64 " due to waiters ahead, of %" PRIu64 " of %s",
		            holding, ahead, exist, storm->names[semaphore]);
	atomic_fetch_add(&storm->checks, 1);
	if (holding > atomic_load(&storm->most[semaphore]))
		atomic_store(&storm->most[semaphore], holding);
}

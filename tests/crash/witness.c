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
 *
 * Capacity: whoever has the highest ticket of those inside was enabled when all the others inside had tickets below its
 * own, so all of them together fit into a capacity that was in force at some time since it called. Which of them that is
 * the witness does not know, so it grants all together the largest that any of them can claim. Of this worker it knows
 * more: those who had been admitted before it called have lower tickets. So they and it, and the waiters ahead, fit into
 * what it can claim itself.
 */
void
witness_check(struct storm *storm, unsigned worker, unsigned semaphore)
{
	uint64_t words[WORKERS_MAX];
	uint64_t holding = 0;
	uint64_t before_us = 0;
	uint64_t ahead = 0;
	const uint64_t called = atomic_load(&storm->entries[worker].called);
	uint64_t earliest = called;
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
		const uint64_t its_call = atomic_load(&entry->called);
		const bool stays = atomic_load(&entry->patient) && atomic_load(&entry->lined) < called;
		const bool admitted_before = i == worker || atomic_load(&entry->since) < called;
		if (atomic_load(&entry->word) != words[i] || atomic_load(&entry->doomed))
			continue;
		if (stand == STAND_HOLDING) {
			holding += count;
			before_us += admitted_before ? count : 0;
			earliest = its_call < earliest ? its_call : earliest;
		} else if (stays && (semaphore != CANCELLED || atomic_load(&storm->cancelled) < its_call)) {
			ahead += count;
		}
	}
	const uint64_t surplus = semaphore == ANONYMOUS ? atomic_load(&storm->surplus) : 0;
	const uint64_t exist = storm_claimable(storm, semaphore, earliest) + surplus;
	const uint64_t claim = storm_claimable(storm, semaphore, called) + surplus;
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
 * A slot's cell says who has it and in which hold, written behind the library's word and cleared before the release. If
 * somebody else's name is in it, and that one still stands as it did then, both have the slot now.
 */
void
witness_slot(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t slot)
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
witness_slot_end(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t slot)
{
	uint64_t own = atomic_load(&storm->entries[worker].word) << WORKER_BITS | worker;
	atomic_compare_exchange_strong(&storm->slots[semaphore][slot], &own, 0);
}

/* ---- word of the dead ---- */

/*
 * Of SINGLE, whoever calls when a holder is dead gets in after that one's permit has come back. If it is not told, another
 * one was since the death, and has said so before it released.
 */
void
witness_told(struct storm *storm, bool told, uint64_t died)
{
	if (told) {
		atomic_store(&storm->told, atomic_fetch_add(&storm->sequence, 1));
		atomic_fetch_add(&storm->tellings, 1);
	} else if (died != 0 && atomic_load(&storm->told) < died) {
		storm_fault(storm, "a holder of %s has died, and nobody was told", storm->names[SINGLE]);
	}
}

/* ---- nobody holds ---- */

void
witness_note_holders(const struct storm *storm, unsigned semaphore, uint64_t words[WORKERS_MAX])
{
	for (unsigned i = 0; i < storm->workers; i++) {
		unsigned at;
		words[i] = atomic_load(&storm->entries[i].word);
		if (stand_of(words[i], &at) != STAND_HOLDING || at != semaphore)
			words[i] = 0;
	}
}

bool
witness_still_holds(const struct storm *storm, const uint64_t words[WORKERS_MAX])
{
	for (unsigned i = 0; i < storm->workers; i++) {
		const struct entry *entry = &storm->entries[i];
		if (words[i] != 0 && atomic_load(&entry->word) == words[i] && !atomic_load(&entry->doomed))
			return true;
	}
	return false;
}

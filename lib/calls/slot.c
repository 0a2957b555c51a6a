/* SPDX-License-Identifier: MIT */
/* Slots: each live holder may have numbers of its own, from 0 on, for resources that come in numbered pieces. */
#include "protocol/protocol.h"
#include "system/identity.h"
#include "system/process_mutex.h"

_Static_assert(TSEM_SLOTS_MAX == SLOTS_MAX, "the slots of the interface are those of the segment");

/*
 * A slot is a word that names a record and the ticket of its hold. A holder takes it by a compare-and-swap, and never
 * gives it back: once that record is no longer HELD under that ticket, which never comes again, another holder may take
 * the slot. So no death loses a slot, and a release costs nothing.
 */
static bool
is_taken(struct tsem *sem, uint64_t slot)
{
	struct record *record;
	uint64_t state;
	if (!record_find(sem, slot_record(slot), &record))
		return true; /* the record cannot be mapped, so the slot may be taken */
	return record != NULL && record_is_held(record, slot_ticket(slot), &state);
}

/* Finds the slots that the hold has already, at most `n`, ascending. Returns their number. */
static uint32_t
find_own(const struct tsem *sem, uint64_t own, uint32_t *slots, uint32_t n)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < SLOTS_MAX && found < n; i++) {
		if (LOAD_ACQ(&sem->segment.slots[i]) == own)
			slots[found++] = i;
	}
	return found;
}

/* Takes slot `i` unless a live hold has it, which may be this one. */
static bool
take_slot(struct tsem *sem, uint32_t i, uint64_t own)
{
	_Atomic uint64_t *slot = &sem->segment.slots[i];
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t seen = LOAD_ACQ(slot);
		if (is_taken(sem, seen))
			return false;
		if (CAS_SEQ(slot, seen, own))
			return true;
	}
	return false;
}

/*
 * Gives the hold a slot for each of its permits, as far as slots are free, and returns the number of its slots. Only
 * the owner takes slots. A child with a copy of the hold, and a process that has lent it, only see those that it has.
 */
static uint32_t
take_own(struct tsem *sem, const struct hold *hold, uint64_t owner, uint32_t *slots, uint32_t count)
{
	const uint64_t own = slot_make(hold_ticket(hold), hold->record);
	uint32_t found = find_own(sem, own, slots, count);
	if (found == count || !identity_is(owner))
		return found;
	/* One thread at a time: two that ask for the slots of one hold at once would each take a slot for each permit. */
	process_mutex_lock();
	found = find_own(sem, own, slots, count);
	for (uint32_t i = 0; i < SLOTS_MAX && found < count; i++)
		found += take_slot(sem, i, own);
	process_mutex_unlock();
	return find_own(sem, own, slots, count);
}

size_t
tsem_hold_slots(const tsem_hold *out, uint32_t *slots, size_t n)
{
	const struct hold *hold = hold_inside_const(out);
	uint64_t state;
	if (hold->sem == 0)
		return 0;
	struct tsem *sem = hold_sem(hold);
	const struct record *record = hold_record(hold);
	const uint64_t owner = LOAD_ACQ(&record->owner);
	if (!sem->segment.writable || (hold_is_lent(hold) ? owner != hold->lent : owner_kind(owner) != OWNER_KIND_PROCESS)
	    || !record_is_held(record, hold_ticket(hold), &state))
		return 0;

	uint32_t own[SLOTS_MAX];
	uint32_t count = LOAD_ACQ(&record->count);
	if (count > SLOTS_MAX)
		count = SLOTS_MAX;
	count = take_own(sem, hold, owner, own, count);
	for (uint32_t i = 0; i < count && i < n; i++)
		slots[i] = own[i];
	return count;
}

uint32_t
tsem_hold_slot(const tsem_hold *hold)
{
	uint32_t slot = TSEM_NO_SLOT;
	tsem_hold_slots(hold, &slot, 1);
	return slot;
}

/* SPDX-License-Identifier: MIT */
#include "recovery/recover.h"

#include <errno.h>

#include "recovery/recover_front.h"
#include "system/platform.h"
#include "wake/notify.h"

#define TRY_LOOK_EVERY (10 * NS_PER_MS)

/* Of all CLAIMED records only the last one to move T can have its ticket. */
static void
recover_last_arrival(struct tsem *sem, uint32_t *permits)
{
	const uint32_t index = tag_record(counter_tag(LOAD_SEQ(&sem->segment.header->tickets)));
	const struct record *record = record_at(sem, index);
	if (record != NULL && state_kind(LOAD_ACQ(&record->state)) == STATE_CLAIMED)
		recover_record(sem, index, permits);
}

void
recover_all(struct tsem *sem, uint32_t *permits)
{
	const struct record *record;
	recover_last_arrival(sem, permits);
	FOR_EACH_RECORD(sem, i, record) {
		if (LOAD_RLX(&record->owner) != 0 && state_kind(LOAD_RLX(&record->state)) >= STATE_HELD)
			recover_record(sem, i, permits);
	}
	recover_front(sem, permits);
}

uint32_t
recover_unused_records(struct tsem *sem)
{
	uint32_t freed = 0;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		if (LOAD_RLX(&record->owner) == 0 || state_kind(LOAD_RLX(&record->state)) > STATE_CLAIMED)
			continue;
		recover_record(sem, i, NULL);
		freed += LOAD_RLX(&record->owner) == 0;
	}
	return freed;
}

bool
recover_before_failing(struct tsem *sem)
{
	const uint64_t now = platform.now();
	const uint64_t last = LOAD_RLX(&sem->last_try_look);
	if (last != 0 && now - last < TRY_LOOK_EVERY)
		return false;
	STORE_RLX(&sem->last_try_look, now);
	recover_all(sem, NULL);
	return true;
}

int
tsem_recover(tsem *sem, uint32_t *recovered)
{
	if (!sem->segment.writable)
		return -EPERM;
	uint32_t permits = 0;
	recover_all(sem, &permits);
	recover_unused_records(sem);
	notify_forget(sem, PENDING_IDLE | PENDING_HOLDERS);
	if (recovered != NULL)
		*recovered = permits;
	return 0;
}

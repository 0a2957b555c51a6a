/* SPDX-License-Identifier: MIT */
/*
 * The only road for dead owners: giving back what they held, and skipping the places in line of dead waiters. An orphan,
 * a place that was given up, is simply an owner that is certainly dead; there is no second mechanism.
 *
 * Everything here is async-signal-safe and allocates nothing.
 */
#ifndef TSEM_LIB_RECOVER_H
#define TSEM_LIB_RECOVER_H

#include "handle.h"
#include "liveness.h"
#include "protocol.h"
#include "wait.h"

/* The owner of `record` in the words of tsem.h; `who` as it was read from it. */
enum liveness owner_liveness(const struct tsem *sem, const struct record *record, uint64_t who);

/*
 * Looks at one record: if its owner is dead, or if it is a handed-over hold whose release was begun, carries it as far
 * as it goes. Adds the permits that came back from a holder to *permits.
 */
void recover_record(struct tsem *sem, uint32_t index, uint32_t *permits);

/* Looks at all holders and at the front of the line. */
void recover_all(struct tsem *sem, uint32_t *permits);

/* The same, unless somebody did so within the last 100 ms. Returns when that was. */
uint64_t recover_if_due(struct tsem *sem, uint64_t now);

/* The same for a try that is about to fail, of this handle not more often than every 10 ms. True: look again. */
bool recover_before_failing(struct tsem *sem);

/* Frees the records of dead owners that have neither permit nor place. Returns how many. */
uint32_t recover_spare_records(struct tsem *sem);

/* Notes that the owner of the place `ticket` gave it up, so that whoever moves E to it passes over it at once. */
void note_orphan(struct tsem *sem, uint64_t ticket);

/* Passes over the dead at the front of the line. */
void recover_front(struct tsem *sem, uint32_t *permits);

/* Passes over orphans that the line has reached; one load when there are none. */
static inline void
skip_orphans(struct tsem *sem)
{
	const uint64_t hint = LOAD_SEQ(&sem->segment.header->orphans);
	if ((hint & 1) != 0 && counter_diff(enabled_limit(sem), word_counter(hint)) >= 0) {
		uint32_t permits = 0;
		recover_front(sem, &permits);
	}
}

/* What everybody does who has moved E: wakes whom it enabled, and passes over orphans that it reached. */
static inline void
after_grant(struct tsem *sem, const struct grant *grant)
{
	wake_enabled(sem, grant);
	skip_orphans(sem);
}

#endif

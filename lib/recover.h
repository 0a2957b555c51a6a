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
#include "platform.h"
#include "protocol.h"

/* Of many who would look for dead owners one does, if nobody has within this time. */
#define LOOK_EVERY (50 * NS_PER_MS)

/* The owner of `record` in the words of tsem.h; `owner` as it was read from it. */
enum liveness owner_liveness(const struct tsem *sem, const struct record *record, uint64_t owner);

/*
 * Looks at one record: if its owner is dead, or if it is a handed-over hold whose release was begun, carries it as far
 * as it goes. Adds the permits that came back from a holder to *permits, which
 * may be NULL here and below.
 */
void recover_record(struct tsem *sem, uint32_t index, uint32_t *permits);

/* Looks at all holders and at the front of the line. */
void recover_all(struct tsem *sem, uint32_t *permits);

/*
 * The same, and whether the segment was removed, unless somebody did so within LOOK_EVERY and since the last tick:
 * of all who wake up at one, the first looks, for everybody. `now` may be a little behind the clock. Returns when the
 * caller should look again.
 */
uint64_t recover_if_due(struct tsem *sem, uint64_t now);

/* The same for a try that is about to fail, of this handle not more often than every 10 ms. True: look again. */
bool recover_before_failing(struct tsem *sem);

/* Frees the records of dead owners that have neither permit nor place. Returns how many. */
uint32_t recover_spare_records(struct tsem *sem);

/* Notes that the owner of the place `ticket` gave it up, so that whoever moves E to it passes over it at once. */
void note_orphan(struct tsem *sem, uint64_t ticket);

/* Passes over the dead at the front of the line. */
void recover_front(struct tsem *sem, uint32_t *permits);

/* How many permits the places that were given up, and that the queue has not reached, were for. */
int64_t count_given_up(struct tsem *sem);

/* Passes over orphans that the line has reached; one load when there are none. */
void skip_orphans(struct tsem *sem);

/* What everybody does who has moved E: wakes whom it enabled, passes over orphans that it reached, tells if all is idle. */
void grant_notify(struct tsem *sem, const struct grant *grant);

/* The same for a grant of `count` that found G as `grants`; returns 0, for those who end with it. */
int grant_notify_moved(struct tsem *sem, uint64_t grants, uint32_t count);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The front of the queue: skipping the tickets of dead waiters and of waiters that gave up (orphans), one after the
 * other, as far as E has come.
 */
#ifndef TSEM_LIB_RECOVER_FRONT_H
#define TSEM_LIB_RECOVER_FRONT_H

#include "protocol/protocol.h"
#include "recovery/recover_record.h"

/* Skips the dead at the front of the queue. Adds the permits that they held to *permits, unless that is NULL. */
void recover_front(struct tsem *sem, uint32_t *permits);

/* Records an orphaned ticket, so that the next advance of E skips it. */
void note_orphan(struct tsem *sem, uint64_t ticket);

/* Skips orphans that E has come to. One load if there are none. */
void skip_orphans(struct tsem *sem);

/* The permits of all orphans. */
int64_t count_orphaned(struct tsem *sem);

/*
 * What every process does after it has moved E: wakes the waiters that the grant enabled, skips the orphans that E has
 * come to, and notifies the waits for idleness.
 */
void grant_notify(struct tsem *sem, const struct grant *grant);

/* The same for a grant of `count` to a G that was read as `grants`. Preserves errno. Returns 0. */
int grant_notify_moved(struct tsem *sem, uint64_t grants, uint32_t count);

#endif

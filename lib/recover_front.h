/* SPDX-License-Identifier: MIT */
/*
 * Recovery of the front of the queue: skipping the tickets of dead waiters and of waiters that gave up (orphans), one
 * after the other, as far as E has come.
 */
#ifndef TSEM_LIB_RECOVER_FRONT_H
#define TSEM_LIB_RECOVER_FRONT_H

#include "recover_record.h"

/* Skips the dead at the front of the queue. Adds the permits that they held to *permits, unless that is NULL. */
void recover_front(struct tsem *sem, uint32_t *permits);

/* Records an orphaned ticket, so that the next advance of E skips it. */
void note_orphan(struct tsem *sem, uint64_t ticket);

/* Skips orphans that E has come to. One load if there are none. */
void skip_orphans(struct tsem *sem);

/* The permits of all orphans. */
int64_t count_orphaned(struct tsem *sem);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Recovery of one record: returning what a dead holder held, and skipping the ticket of a dead waiter. Every way to
 * recovery ends here. An orphan, the ticket of a waiter that gave up, has an owner that is certainly dead: there is no
 * second mechanism for it.
 *
 * Everything here, in recover_front.h and in recover.h is async-signal-safe and allocates nothing.
 */
#ifndef TSEM_LIB_RECOVER_RECORD_H
#define TSEM_LIB_RECOVER_RECORD_H

#include "handle.h"

/*
 * If the record's owner is dead, or the release of a handed-over hold has begun: takes the record through its states as
 * far as it can go. Adds the permits that came back from a holder to *permits, which may be NULL here and below.
 */
void recover_record(struct tsem *sem, uint32_t index, uint32_t *permits);

/*
 * The same for a ticket whose owner a user has declared dead, and that may live: returns the permits, or skips the
 * ticket if E has come to it. The record stays the owner's. declare.h says why this is safe.
 */
void recover_declared(struct tsem *sem, uint32_t index, uint64_t owner, uint64_t ticket, uint32_t *permits);

#endif

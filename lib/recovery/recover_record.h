/* SPDX-License-Identifier: MIT */
/*
 * Recovery of one record: returning what a dead holder held, and skipping the ticket of a dead waiter. Every way to
 * recovery ends here. An orphan, the ticket of a waiter that gave up, has an owner that is certainly dead: there is no
 * second mechanism for it. protocol.h says what each state of a dead owner's record needs, and why.
 *
 * Everything here, in recover_front.h and in recover.h is async-signal-safe and allocates nothing.
 */
#ifndef TSEM_LIB_RECOVER_RECORD_H
#define TSEM_LIB_RECOVER_RECORD_H

#include "protocol/handle.h"

/*
 * If the record's owner is dead or declared dead, or the release has begun: takes the record through its states
 * as far as it can go. Adds the permits that came back from a holder to *permits, which may be NULL here and below.
 */
void recover_record(struct tsem *sem, uint32_t index, uint32_t *permits);

/*
 * The same for a ticket whose owner a user has called dead, which no process can judge. If it lives, its late plain
 * stores may return the permits a second time, and do nothing else: the record stays its owner's.
 */
void recover_forced(struct tsem *sem, uint32_t index, uint64_t owner, uint64_t ticket, uint32_t *permits);

#endif

/* SPDX-License-Identifier: MIT */
/* What is done to one hold or wait of a process that a user names. */
#ifndef TSEM_LIB_NAMED_OWNER_H
#define TSEM_LIB_NAMED_OWNER_H

#include "protocol/handle.h"

/*
 * Recovers the hold or the wait with this ticket for an owner that a user has declared dead and that no process can
 * judge. Adds the permits that came back to *permits.
 */
void declare_dead(struct tsem *sem, uint32_t index, uint64_t owner, uint64_t ticket, uint32_t *permits);

/* Cancels the waiter that has this ticket. False: it does not wait any more. */
bool cancel_waiter(struct tsem *sem, uint32_t index, uint64_t ticket);

#endif

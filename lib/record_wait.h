/* SPDX-License-Identifier: MIT */
/* Waiting for a free record, when all are in use. record_wake.h has the other side. */
#ifndef TSEM_LIB_RECORD_WAIT_H
#define TSEM_LIB_RECORD_WAIT_H

#include "wait.h"

/*
 * For a caller that comes while others sleep: lets those go first that were woken for a record and have not claimed it
 * yet. Otherwise a thread that frees a record and claims one again would always be faster. 0, or -EINTR if the waiter
 * is interruptible.
 */
int record_wait_yield(const struct tsem *sem, const struct waiter *waiter);

/*
 * Sleeps until a record may be free: 0, and the caller searches. -ETIMEDOUT, -EINTR, -ECANCELED or -EIDRM: the wait is
 * over. The waiter's record is NULL.
 */
int record_wait(struct tsem *sem, const struct waiter *waiter, struct timers *timers);

#endif

/* SPDX-License-Identifier: MIT */
/* Waiting until nobody holds, and telling those who do. */
#ifndef TSEM_LIB_IDLE_H
#define TSEM_LIB_IDLE_H

#include "handle.h"

/*
 * For everybody who has moved G: wakes those who wait until nobody holds, if that may be so now. One load if there are
 * none. Async-signal-safe.
 */
void notify_idle(struct tsem *sem);

/*
 * Takes these bits out of `pending`, where they would cost whoever moves G a few looks as long as anybody holds: by who does
 * not wait any more, and for those who died waiting.
 */
void notify_forget(struct tsem *sem, uint64_t bits);

#endif

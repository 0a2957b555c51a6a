/* SPDX-License-Identifier: MIT */
/* Waiting until nobody holds, and telling those who do. */
#ifndef TSEM_LIB_IDLE_H
#define TSEM_LIB_IDLE_H

#include "handle.h"

/*
 * For everybody who has moved G: wakes those who wait until nobody holds, if that may be so now. One load if there are
 * none. Async-signal-safe.
 */
void idle_notify(struct tsem *sem);

#endif

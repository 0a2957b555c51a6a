/* SPDX-License-Identifier: MIT */
#ifndef TSEM_LIB_HOLD_H
#define TSEM_LIB_HOLD_H

#include "handle.h"

/* tsem_try_acquire() without its check of `count`: whoever removes a semaphore takes what was over-posted, too. */
int hold_try_any(struct tsem *sem, uint32_t count, tsem_hold *hold);

#endif

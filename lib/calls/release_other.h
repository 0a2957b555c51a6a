/* SPDX-License-Identifier: MIT */
/* Releasing a hold whose owner is another process: dead, handed over to, or lent to. */
#ifndef TSEM_LIB_RELEASE_OTHER_H
#define TSEM_LIB_RELEASE_OTHER_H

#include "protocol/handle.h"

/*
 * Releases record `index`, HELD in `state`, for its owner, which cannot become the owner of this record again. False:
 * another process was faster. Should this process die on the way, recovery goes on.
 */
bool release_other(struct tsem *sem, uint32_t index, uint64_t owner, uint64_t state);

/* tsem_release() of a hold that was lent. -EPERM: this process has not lent it. */
int release_loan(struct hold *hold);

#endif

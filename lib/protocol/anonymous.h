/* SPDX-License-Identifier: MIT */
/* How many permits are taken anonymously: by tsem_take(), and not posted back. */
#ifndef TSEM_LIB_ANONYMOUS_H
#define TSEM_LIB_ANONYMOUS_H

#include "protocol/handle.h"

/*
 * Counts the permits that are taken anonymously; a negative number was posted beyond those taken. The permits of a
 * record, which come back by a release, are not among them. The caller has read G, and then T.
 *
 * `*anonymous` is never below the number at the instant at which T was read. It is the number at an instant of the call
 * if G is still `grants` afterwards; only posts lower it, and a post moves G. So a caller that finds too few permits
 * may say so, and one that finds enough may rely on it in its compare-and-swap of G.
 *
 * False: a record cannot be mapped.
 */
bool anonymous_count(struct tsem *sem, uint64_t grants, uint64_t tickets, int64_t *anonymous);

#endif

/* SPDX-License-Identifier: MIT */
/* What every process does after it has moved E. */
#ifndef TSEM_LIB_GRANT_H
#define TSEM_LIB_GRANT_H

#include "protocol.h"

/*
 * Wakes the waiters that the grant enabled, skips the orphans that E has come to, and notifies the waits for idleness.
 */
void grant_notify(struct tsem *sem, const struct grant *grant);

/* The same for a grant of `count` to a G that was read as `grants`. Preserves errno. Returns 0. */
int grant_notify_moved(struct tsem *sem, uint64_t grants, uint32_t count);

#endif

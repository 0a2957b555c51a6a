/* SPDX-License-Identifier: MIT */
#include "rest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

bool
is_at_rest(const struct tsem_stat *stat, uint64_t least, uint64_t most, char text[REST_TEXT])
{
	const uint64_t held = stat->available < stat->capacity ? stat->capacity - stat->available : 0;
	snprintf(text, REST_TEXT,
	         "available %" PRIu64 " (%" PRIu64 " to %" PRIu64 " expected), held %" PRIu64 ", waiting %u, capacity %u",
	         stat->available, least, most, stat->held, stat->waiting, stat->capacity);
	return stat->waiting == 0 && stat->held == held && stat->available >= least && stat->available <= most;
}

int
try_removed(tsem *sem)
{
	tsem_hold hold;
	const int rc = tsem_try_acquire(sem, 1, &hold);
	if (rc == 0)
		tsem_release(&hold);
	return rc == -EIDRM ? tsem_try_take(sem, 1) : rc;
}

/* SPDX-License-Identifier: MIT */
#include "traffic.h"

#include <inttypes.h>
#include <stdio.h>

#include "support.h"

int
acquire_again_and_again(void *arg)
{
	tsem *sem = arg;
	tsem_hold hold;
	while (tsem_acquire(sem, 1, NULL, &hold) == 0)
		CHECK(tsem_release(&hold) == 0);
	return 1;
}

struct books {
	uint64_t held;
	uint32_t waiting;
	bool in_order;
};

static int
note_totals(const struct tsem_owner *owner, void *arg)
{
	struct books *books = arg;
	if (owner->position == 0)
		books->held += owner->count;
	else
		books->in_order &= owner->position == ++books->waiting;
	return 0;
}

bool
snapshot_adds_up(tsem *sem, uint64_t capacity, struct tsem_stat *stat)
{
	struct books books = {.in_order = true};
	*stat = (struct tsem_stat){.size = sizeof(*stat)};
	const int rc = tsem_snapshot(sem, stat, note_totals, &books);
	if (rc == 0 && books.held == stat->held && books.waiting == stat->waiting && books.in_order
	    && stat->available + stat->held == capacity)
		return true;
	fprintf(stderr,
	        "snapshot: %d; %" PRIu64 " held by processes of %" PRIu64 ", %" PRIu32 " waiters of %" PRIu64
	        ", %sin order; %" PRIu64 " available, of %" PRIu64 "\n",
	        rc, books.held, (uint64_t)stat->held, books.waiting, (uint64_t)stat->waiting, books.in_order ? "" : "not ",
	        (uint64_t)stat->available, capacity);
	return false;
}

/* SPDX-License-Identifier: MIT */
/* Standing in line: the way from a claimed record to an enabled ticket, shared by take and acquire. */
#ifndef TSEM_LIB_QUEUE_H
#define TSEM_LIB_QUEUE_H

#include "handle.h"
#include "record.h"

/* A record with an enabled ticket; the state says HELD or still QUEUED. */
struct place_in_line {
	struct claim claim;
	uint64_t ticket;
};

/* -EINVAL for a count that could never be granted, or structures that this library does not know. -EPERM: read-only. */
int queue_check(const struct tsem *sem, uint32_t count, const struct tsem_wait *options);

/* Claims a record, takes a ticket, waits until it is enabled. On failure the place has been given up. */
int queue_enter(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options,
                struct place_in_line *place);

/* The same without waiting: -EAGAIN. Looks for dead owners before it fails. */
int queue_try_enter(struct tsem *sem, uint32_t count, enum use use, struct place_in_line *place);

#endif

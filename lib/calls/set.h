/* SPDX-License-Identifier: MIT */
/* Changing the capacity, in two halves. A setter may stop between them for any time. */
#ifndef TSEM_LIB_SET_H
#define TSEM_LIB_SET_H

#include "queue/queue.h"

struct change {
	uint32_t permits;
	uint32_t old;             /* what `permits` replaced */
	uint32_t version;         /* the header's capacity_version, read before */
	bool claimed;             /* the record of `place` is claimed */
	struct queue_place place; /* for a lowering: claiming may fail, so it comes before anything has changed */
};

/* Stores C. -EOVERFLOW, -EIDRM, -EBADMSG, and the errors of claiming a record, which may be claimed even so. */
int set_store(struct tsem *sem, uint32_t permits, struct change *change);

/* Admits the waiters that the old capacity had enabled, or wakes those that the new one enables. */
int set_take_effect(struct tsem *sem, const struct change *change);

#endif

/* SPDX-License-Identifier: MIT */
/* Another capacity, in its two halves; a setter may stop between them for as long as it likes. */
#ifndef TSEM_LIB_SET_H
#define TSEM_LIB_SET_H

#include "queue.h"

struct change {
	uint32_t permits;
	uint32_t old;  /* what `permits` replaced */
	uint32_t sets; /* header->sets from before */
	bool claimed;  /* to lower takes a record, which is claimed before anything has changed, because it may fail */
	struct claim claim;
};

/* Stores C. -EOVERFLOW, -EBADMSG, and the errors of claiming a record, which may be claimed then. */
int set_store(struct tsem *sem, uint32_t permits, struct change *change);

/* Lets in those whom the old capacity had enabled, or wakes those whom the new one does. */
int set_take_effect(struct tsem *sem, const struct change *change);

#endif

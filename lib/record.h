/* SPDX-License-Identifier: MIT */
/* Getting an owner record, and giving it back. */
#ifndef TSEM_LIB_RECORD_H
#define TSEM_LIB_RECORD_H

#include "handle.h"

struct claim {
	uint32_t index;
	struct record *record;
	uint64_t who;
};

/*
 * Claims a record for `count` permits and makes it CLAIMED. `until`: the waiter's deadline in ns, 0 for none, to be
 * looked at by others. -EUSERS: all are in use. -ENOSPC, -EFBIG: the table cannot grow. -ENOMEM.
 */
int record_claim(struct tsem *sem, uint32_t count, enum use use, uint64_t until, struct claim *claim);

/* Sleeps until a record may be free again, 100 ms at most, not beyond `until`. -ETIMEDOUT, -EINTR or 0. */
int record_wait_for_vacancy(struct tsem *sem, uint64_t until);

/* Back to IDLE from CLAIMED, no ticket taken: the faces stay. The record is kept or freed. */
void record_unclaim(struct tsem *sem, const struct claim *claim);

/* The owner has made its record IDLE: keeps it for this thread's next use, or frees it. */
void record_keep_or_free(struct tsem *sem, const struct claim *claim);

/* CAS who -> 0, for a record that is IDLE: by whoever knows that `who` cannot come back. */
void record_free_for(struct tsem *sem, uint32_t index, struct record *record, uint64_t who);

/* Frees what the calling process keeps, at close. */
void record_free_kept(struct tsem *sem);

#endif

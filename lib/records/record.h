/* SPDX-License-Identifier: MIT */
/* Owner records: claiming one, and what becomes of it after its use. Nothing here waits, and nothing here recovers. */
#ifndef TSEM_LIB_RECORD_H
#define TSEM_LIB_RECORD_H

#include "protocol/handle.h"

/*
 * Claims a record and makes it CLAIMED: the calling thread's cached one, or a free one. `until`, for people to read:
 * the end of the wait, or 0. -EUSERS: none is free. -ENOMEM, -EMFILE, -ENFILE: this process cannot find out its
 * identity.
 */
int record_claim(struct tsem *sem, uint32_t count, enum use use, uint64_t until, struct claim *claim);

/* Adds a page of records. -EUSERS: there are RECORDS_MAX. -ENOSPC, -EFBIG. */
int record_grow(struct tsem *sem);

/*
 * Makes the calling process the owner of a record that it need not make CLAIMED. `from`: 0, or a dead owner. False:
 * another process was faster.
 */
bool record_take_over(struct tsem *sem, struct record *record, uint64_t from);

/* CLAIMED -> IDLE, and the record is cached or freed. No ticket was taken. */
void record_unclaim(struct tsem *sem, const struct claim *claim);

/* After the owner has made its record IDLE: makes it CLAIMED for the calling thread's next hold, or frees it. */
void record_cache_or_free(struct tsem *sem, const struct claim *claim);

/* Frees an IDLE record if its owner is still `owner`, which cannot become its owner again. */
void record_free_for(struct tsem *sem, uint32_t index, struct record *record, uint64_t owner);

/* Frees the cached records of the calling process: the handle is closed. */
void record_free_cached(struct tsem *sem);

#endif

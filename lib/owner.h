/* SPDX-License-Identifier: MIT */
/* Whether the owner of a record is dead. */
#ifndef TSEM_LIB_OWNER_H
#define TSEM_LIB_OWNER_H

#include "handle.h"
#include "liveness.h"

/*
 * `owner` is the record's owner word as the caller has read it. An orphan is dead, the calling process is alive, and the
 * judge of liveness.h decides about every other process.
 */
enum liveness owner_liveness(const struct tsem *sem, const struct record *record, uint64_t owner);

/* Whether the owner ended by itself, and not by a signal. False also if this process cannot tell. */
bool owner_has_exited(const struct record *record, uint64_t owner);

#endif

/* SPDX-License-Identifier: MIT */
/* Judges the owner of a record. */
#ifndef TSEM_LIB_OWNER_H
#define TSEM_LIB_OWNER_H

#include "protocol/handle.h"
#include "system/liveness.h"

/*
 * `owner` is the record's owner word as the caller has read it. The record alone decides three cases: an orphan is
 * DEAD, the calling process is ALIVE, and an owner is UNKNOWN if it has claimed the record and has not written its PID
 * namespace yet. For every other owner, liveness_judge() decides.
 */
enum liveness owner_liveness(const struct tsem *sem, const struct record *record, uint64_t owner);

/* The owner as the record names it; its PID namespace only if the record has it. */
struct process_id owner_process_id(const struct record *record, uint64_t owner);

/* Whether the owner's pid is of the calling process's PID namespace. */
bool owner_is_in_our_namespace(const struct record *record);

#endif

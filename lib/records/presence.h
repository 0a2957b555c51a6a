/* SPDX-License-Identifier: MIT */
/*
 * The presence lock: by it, a process of any PID namespace finds that the owner of a record is dead. A process takes it
 * before it claims its first record, one for each file, if it is not in the initial PID namespace or if processes of
 * several namespaces use the semaphore. Its owner word then has OWNER_LOCKED, and the byte that it locks is the owner
 * word itself, which no other process has.
 *
 * The kernel releases the lock when the process has ended, and so have all children that have inherited the descriptor.
 * So a lock that is gone means that the owner is dead, and one that is held means nothing certain: it may keep a dead
 * owner's permits, but never rob a live one. A mapping keeps the lock of a process that closes the descriptor, but not
 * beyond exec(), and not that of a child that has adopted its hold: tsem(7) warns of these.
 */
#ifndef TSEM_LIB_PRESENCE_H
#define TSEM_LIB_PRESENCE_H

#include "protocol/handle.h"
#include "system/identity.h"
#include "system/liveness.h"

/*
 * Returns the owner word of the calling process for the records that it claims through this handle. Takes the lock if
 * it is missing and needed. If that fails, the word is without OWNER_LOCKED, and only processes of the same PID
 * namespace can find that the owner is dead.
 */
uint64_t presence_owner(struct tsem *sem, const struct identity *self);

/*
 * Returns the owner word of a child that is about to adopt a hold of `parent`. The child's lock is one more byte of the
 * parent's descriptor, so it lasts until both have ended. Async-signal-safe, and safe after vfork().
 */
uint64_t presence_of_child(const struct tsem *sem, const struct identity *self, uint64_t parent);

/* Releases the byte of a child that has adopted and is dead, and whose hold is over. */
void presence_forget_child(const struct tsem *sem, uint64_t child);

/*
 * Judges the owner of the record by its lock. UNKNOWN: it has none, the descriptor is gone, or the record has another
 * owner by now.
 */
enum liveness presence_judge(const struct tsem *sem, const struct record *record, uint64_t owner);

/* The handle needs the lock no longer. The process keeps it while it has other handles of the file, or owns records. */
void presence_close(struct tsem *sem);

#endif

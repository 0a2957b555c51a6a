/* SPDX-License-Identifier: MIT */
/* The removal of a semaphore: marking it, noticing the mark, and unlinking the name. */
#ifndef TSEM_LIB_REMOVAL_H
#define TSEM_LIB_REMOVAL_H

#include "protocol/handle.h"

/*
 * Marks the semaphore as removed, sets C to 0 and wakes every waiter: from now on all calls fail with EIDRM. Every
 * action that a removal needs belongs in here.
 */
void removal_mark(struct tsem *sem);

/*
 * Whether the semaphore was marked as removed. If so, sets C to 0 again: the process that marked it may have died
 * before that, or a setter may have stored another C since.
 */
bool removal_is_marked(const struct tsem *sem);

/*
 * The same with a look at the file. If the file has no name any more, marks the semaphore as removed, unless
 * tsem_unlink() has taken the name.
 */
bool removal_notice(struct tsem *sem);

/*
 * The result `rc` of a call that has looked for a removal when it began: 0 becomes -EIDRM if the semaphore was marked
 * since, because these permits may be those that a dead remover had acquired. -EAGAIN becomes -EIDRM after a look at
 * the file.
 */
int fail_if_removed(struct tsem *sem, int rc);

/*
 * Unlinks the name if it leads to this segment, and marks the semaphore unless it lives on. -ENOENT: it does not lead
 * there. -EBUSY: another remover does not come to its end. A caller that is killed in between may leave a semaphore
 * that has a name and says that it has none: then a process that deletes the file does not remove the semaphore.
 */
int removal_unlink(const char *name, struct tsem *sem, bool lives_on);

/*
 * Unlinks a name that leads to a segment marked as removed: the name was restored, or is another link. -ENOENT: the
 * name is free. `flags` as in tsem_open().
 */
int removal_unlink_leftover(const char *name, unsigned flags);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Locks on single bytes far behind the end of a segment's file. The kernel releases such a lock at the end of the last
 * process that has it, and tells every process that has the file open whether a byte is locked, whatever namespaces the
 * two are in.
 *
 * They are open file description locks (F_OFD_SETLK, Linux 3.15): they belong to the descriptor and all its copies, in
 * forked children, too, and to mappings made with it. They are read locks, so that no two ever conflict.
 */
#ifndef TSEM_SHM_LOCK_H
#define TSEM_SHM_LOCK_H

#include <stdint.h>

#include "segment.h"

/*
 * Opens the file once more, because the kernel does not tell a descriptor of its own locks. The descriptor survives
 * exec(), and is above 99, or if no such number is free, the highest free one. `name` is tried first, then /proc:
 * the name may lead to another file by now, and /proc may be missing. Returns the descriptor or a negative errno.
 */
int lock_open(const struct segment *segment, const char *name);

/* Locks the byte. -EBADF: the program has closed the descriptor. Also the errors of fcntl(). Safe after vfork(). */
int lock_take(const struct segment *segment, int fd, uint64_t byte);

/* Releases the lock of the byte. */
void lock_release(const struct segment *segment, int fd, uint64_t byte);

/*
 * Whether the byte is locked: 1 or 0. Asks by means of the segment's own descriptor, which has no locks, or if that is closed,
 * opens `name`. Errors as above, and those of open().
 */
int lock_is_taken(const struct segment *segment, const char *name, uint64_t byte);

/* Closes the descriptor, unless the program has closed it. */
void lock_close(const struct segment *segment, int fd);

#endif

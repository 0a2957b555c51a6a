/* SPDX-License-Identifier: MIT */
/*
 * One segment as this process sees it. create.c, attach.c, copy.c and embedded.c have the functions of these names,
 * segment.c has the others.
 *
 * No function waits for longer than about 20 ms, and none knows what the protocol's words mean. Sizes and indexes come
 * from the constants of layout.h and from `reserved`, which this process has verified. They never come from the
 * segment, because a peer can change every word of it at any time.
 */
#ifndef TSEM_SHM_SEGMENT_H
#define TSEM_SHM_SEGMENT_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "image.h"

enum { SEGMENT_READ_ONLY = 1, SEGMENT_FOREIGN = 2 };

/*
 * Builds a segment in a file without a name, and gives the file its name when it is complete: no process ever sees a
 * part of a segment. A creator that is killed before that leaves nothing. Where unnamed files are not available, it
 * leaves a file with a temporary name, which the next creator of the same user removes. -EEXIST: the name is in use.
 * -ENOSPC. -EFBIG: RLIMIT_FSIZE. -EBUSY: other creators removed each temporary file. -EOPNOTSUPP: the kernel or the
 * file system lacks what is needed. Also the errors of open() and mmap().
 */
int segment_create(const char *name, const struct segment_config *config, struct segment *segment);

/* Builds a segment in `size` bytes of memory. -EINVAL: too small, or not aligned to LINE_BYTES. */
int segment_create_at(void *memory, size_t size, const struct segment_config *config, struct segment *segment);

/*
 * Attaches to the segment in `size` bytes of memory. -EINVAL: as above, or the segment is larger. -EBADMSG and
 * -EPROTONOSUPPORT: as in segment_attach().
 */
int segment_attach_at(void *memory, size_t size, struct segment *segment);

/*
 * Maps an existing segment; with SEGMENT_READ_ONLY only opens it, for segment_copy(). -ENOENT. -EACCES. -EPERM: another
 * user owns it, and SEGMENT_FOREIGN is missing. -EMLINK: it has a second name. -EBADMSG: it is not a segment, or it is
 * damaged. -EPROTONOSUPPORT: it has another layout. -EBUSY: a process has a lease on it. Also the errors of open() and
 * mmap().
 */
int segment_attach(const char *name, unsigned flags, struct segment *segment);

void segment_detach(struct segment *segment);

/*
 * Copies a segment attached with SEGMENT_READ_ONLY to new memory: header, slots and records, without the array.
 * Counters and records are those of one instant; if the segment never rests for long enough, the records are younger
 * than the counters. The function ends, whatever a peer does. -EBADMSG: the file was truncated or replaced. -EBADF: as
 * in segment_stat(). -ENOMEM.
 */
int segment_copy(const struct segment *segment, struct segment *copy);

/* Whether the word of the header is `value` now. Of a copy that has the file's descriptor, the file decides. */
bool segment_word_is(const struct segment *segment, const _Atomic uint32_t *word, uint32_t value);

void segment_free_copy(struct segment *copy);

/*
 * Makes sure that this process can touch the first `records` records. -EUSERS: the memory is the program's own, and has
 * no room. -ENOSPC, -EFBIG, -EBADMSG. Async-signal-safe.
 */
int segment_reserve(struct segment *segment, uint32_t records);

/*
 * Closes the descriptor, if the kernel can then still make pages exist (Linux 5.14), and the file may be as large as it
 * can become, without holes being filled (RLIMIT_FSIZE).
 */
void segment_close_descriptor(struct segment *segment);

/*
 * Returns the file system's data about the file; if segment_close_descriptor() has closed the descriptor, only mode, user
 * and group, as they were then. -EBADF: the program has closed it.
 */
int segment_stat(const struct segment *segment, struct stat *st);

/* Changes the file's mode, unless it is 0, and its group, unless it is (gid_t)-1. -EBADF: there is no file. */
int segment_set_access(const struct segment *segment, mode_t mode, gid_t group);

/* Whether the file has no name any more. False also if the program has closed the descriptor. */
bool segment_is_unlinked(const struct segment *segment);

/* Returns the file system's data about the file or link that `name` leads to. */
int segment_lstat(const char *name, struct stat *st);

/* Removes `name` if it still leads to this file, which need not be a segment; -ENOENT if it does not. */
int segment_unlink(const char *name, dev_t device, ino_t inode);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * One segment as this process sees it: create and publish, attach and validate, grow, unlink.
 *
 * Nothing here waits for longer than some 20 ms, and nothing knows what the words mean. Sizes and indexes come from the constants of layout.h and
 * from what this process made sure of itself (`reserved`), never from what a peer may change meanwhile.
 */
#ifndef TSEM_SHM_SEGMENT_H
#define TSEM_SHM_SEGMENT_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "image.h"

enum { SEGMENT_READ_ONLY = 1, SEGMENT_FOREIGN = 2 };

/*
 * Builds a segment out of sight and links it into place: the name is absent or complete, and a creator killed half-way
 * leaves nothing, or where unnamed files cannot be had a file that the same user's next creator removes. -EEXIST when the
 * name is taken, -ENOSPC, -EFBIG (RLIMIT_FSIZE), and what open and mmap say.
 */
int segment_create(const char *name, const struct segment_config *config, struct segment *segment);

/* Builds a segment in `size` bytes of memory, or finds one there. -EINVAL: too small, or not aligned to LINE_BYTES. */
int segment_create_at(void *memory, size_t size, const struct segment_config *config, struct segment *segment);
int segment_attach_at(void *memory, size_t size, struct segment *segment);

/*
 * Maps an existing segment; with SEGMENT_READ_ONLY only opens it, for segment_copy(). -ENOENT, -EACCES, -EPERM (another
 * user's, without SEGMENT_FOREIGN), -EMLINK (it has another name), -EBADMSG (no segment, or damaged), -EPROTONOSUPPORT
 * (another layout), -EBUSY (leased), and what open and mmap say.
 */
int segment_attach(const char *name, unsigned flags, struct segment *segment);

void segment_detach(struct segment *segment);

/*
 * What is in a segment attached with SEGMENT_READ_ONLY, at one instant, in new memory: header, slots and records, and no
 * array. On a segment that never stands still for as long as that takes, the records are those of a moment later than the
 * counters. Whatever a peer does, this ends. -EBADMSG: it was truncated, or replaced. -EBADF: as segment_stat(). -ENOMEM.
 */
int segment_copy(const struct segment *segment, struct segment *copy);

void segment_free_copy(struct segment *copy);

/* Makes sure that the first `records` records may be touched. -ENOSPC, -EFBIG, -EBADMSG. Async-signal-safe. */
int segment_reserve(struct segment *segment, uint32_t records);

/* What the file system says of it. -EBADF: the program has closed the descriptor. */
int segment_stat(const struct segment *segment, struct stat *st);

/* No name leads here any more. */
bool segment_is_unlinked(const struct segment *segment);

/* Removes `name` if it still leads to this segment; -ENOENT if it does not. */
int segment_unlink(const char *name, const struct segment *segment);

/* What `name` leads to. */
int segment_lstat(const char *name, struct stat *st);

/* Removes `name` if it still leads to the file `seen`, which cannot be attached to; -ENOENT if it does not. */
int segment_unlink_any(const char *name, const struct stat *seen);

#endif

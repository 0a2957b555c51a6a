/* SPDX-License-Identifier: MIT */
/* What is in a segment's memory at first, wherever that memory comes from. */
#ifndef TSEM_SHM_IMAGE_H
#define TSEM_SHM_IMAGE_H

#include "segment.h"

/* How many records `bytes` of a segment have room for. */
uint32_t image_records(size_t bytes);

/* Makes memory of zeros a segment; whoever sees its first word sees all of it. */
void image_format(struct header *header, size_t bytes, const struct segment_config *config);

/* -EBADMSG: not a segment. -EPROTONOSUPPORT: another layout. */
int image_validate(const struct header *header);

/* Points into the memory at `base`, of which `bytes` are known to exist. */
void image_place(void *base, size_t bytes, struct segment *segment);

/* pread() to the end of the file, or of `bytes`: how many there were. */
ssize_t segment_read(int fd, void *to, size_t bytes, size_t from);

#endif

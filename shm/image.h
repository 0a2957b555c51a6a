/* SPDX-License-Identifier: MIT */
/* The memory of a segment: where its parts are, what it contains at first, and whether it is a segment at all. */
#ifndef TSEM_SHM_IMAGE_H
#define TSEM_SHM_IMAGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "layout.h"

struct segment {
	struct header *header;
	_Atomic uint32_t *array;
	_Atomic uint64_t *slots;
	struct record *records;
	_Atomic uint32_t reserved; /* records whose pages this process knows to exist */
	bool writable; /* false: not mapped; the header is a copy from the moment of attaching, and there is nothing else */
	bool embedded; /* in memory of the program's own: there is no file, and it cannot grow */
	int fd;        /* -1: none */
	dev_t device;
	ino_t inode;
};

struct segment_config {
	uint32_t permits;
	uint32_t max;
	mode_t mode;
};

/* How many records `bytes` of a segment have room for. */
uint32_t image_records(size_t bytes);

/* Makes memory of zeros a segment; whoever sees its first word sees all of it. */
void image_format(struct header *header, size_t bytes, const struct segment_config *config);

/* -EBADMSG: not a segment. -EPROTONOSUPPORT: another layout. */
int image_validate(const struct header *header);

/* Points into the memory at `base`, of which `bytes` are known to exist. */
void image_place(void *base, size_t bytes, struct segment *segment);

#endif

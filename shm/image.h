/* SPDX-License-Identifier: MIT */
/* The memory of a segment: its parts, its first content, and the check that it is a segment. */
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
	_Atomic uint32_t reserved; /* this process may touch that many records: their pages exist */
	bool writable; /* false: not mapped. `header` is a copy from the moment of attaching, the other pointers are NULL */
	bool embedded; /* in the program's own memory: no file, no growth */
	int fd;        /* -1: none */
	dev_t device;
	ino_t inode;
	struct { /* from the time when the descriptor was closed */
		mode_t mode;
		uid_t uid;
		gid_t gid;
	} access;
};

struct segment_config {
	uint32_t permits;
	uint32_t max;
	bool bounded; /* a post only gives back what was taken anonymously */
	mode_t mode;
	bool umask; /* is applied to the mode */
	bool has_group;
	gid_t group;
	bool has_available; /* other permits are available at first than all of them */
	uint64_t available;
};

/* Returns the number of records in a segment of `bytes` bytes. */
uint32_t image_records(size_t bytes);

/*
 * Makes a segment of memory that contains zeros. A process that sees `magic` sees all the rest. The errors of getrandom().
 */
int image_format(struct header *header, size_t bytes, const struct segment_config *config);

/* -EBADMSG: not a segment. -EPROTONOSUPPORT: a segment of another layout. */
int image_validate(const struct header *header);

/* Sets the pointers to the parts of the memory at `base`, and `reserved` for `bytes` bytes that exist. */
void image_place(void *base, size_t bytes, struct segment *segment);

#endif

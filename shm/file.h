/* SPDX-License-Identifier: MIT */
/* The file of a segment: its descriptor, its bytes, and its mapping. */
#ifndef TSEM_SHM_FILE_H
#define TSEM_SHM_FILE_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "image.h"

/*
 * Takes the result of open() and moves the descriptor above 2: descriptors 0 to 2 belong to the program, even while
 * they are closed. Returns the descriptor or a negative errno.
 */
int file_move_descriptor(int fd);

/*
 * Makes the bytes [from, to) of a file of `size` bytes exist in memory, so that touching them never raises SIGBUS.
 * -EFBIG: RLIMIT_FSIZE. -ENOSPC.
 */
int file_allocate(int fd, off_t size, size_t from, size_t to);

/* Makes a file of `size` bytes one of at least `to` bytes, whose new ones need no memory yet. -EFBIG: RLIMIT_FSIZE. */
int file_extend(int fd, off_t size, size_t to);

/*
 * Maps the file, of which SEGMENT_BYTES_MIN bytes exist, for reading and writing. The mapping has room for the largest
 * segment and so never moves.
 */
int file_map(int fd, const struct stat *st, struct segment *segment);

/* Reads up to `bytes` bytes, fewer only at the end of the file. Returns their number, or a negative errno. */
ssize_t file_read(int fd, void *to, size_t bytes, size_t from);

#endif

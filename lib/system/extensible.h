/* SPDX-License-Identifier: MIT */
/*
 * The structures of tsem.h that may grow. Each begins with its size, as the program that fills it was compiled. A later
 * version of the library appends members, so a program and a library of different versions still understand each other.
 * The rules are those of copy_struct_from_user() in Linux.
 *
 * A new member never starts in the padding at the end of the version before: programs of that version count the padding
 * in the size, and leave it undefined.
 */
#ifndef TSEM_LIB_EXTENSIBLE_H
#define TSEM_LIB_EXTENSIBLE_H

#include <stdbool.h>
#include <stddef.h>

/* A larger size comes from memory that the program never set. */
enum { EXTENSIBLE_SIZE_MAX = 4096 };

/* sizeof(type) in the version whose last member is this one. */
#define SIZE_UP_TO(type, member) \
	((offsetof(type, member) + sizeof(((type *)NULL)->member) + _Alignof(type) - 1) / _Alignof(type) * _Alignof(type))

/* Whether a version has a structure of this size. `first`: the size in the first version. */
bool extensible_is_known(const void *theirs, size_t first);

/*
 * Reads a structure of the caller's into ours, of `size` bytes. Members that the caller does not know are 0. -EINVAL:
 * the size is not known, or a member that this library does not know is not 0; `ours` is unchanged.
 */
int extensible_read(void *ours, size_t size, size_t first, const void *theirs);

/* Fills a structure of the caller's, which keeps its size. Members that this library does not know become 0. */
void extensible_write(void *theirs, const void *ours, size_t size);

#endif

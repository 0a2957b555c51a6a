/* SPDX-License-Identifier: MIT */
/*
 * Puts an inaccessible page before and after every mapping of a segment, so that an access outside the mapping is a
 * fault. Linked with --wrap of all three functions; _FILE_OFFSET_BITS decides which of the two names of mmap() a file
 * calls.
 */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "layout.h"

enum { GUARD_BYTES = 65536 };

void *__real_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t length);
void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t length);

void *
__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (length != SEGMENT_BYTES_MAX)
		return __real_mmap(address, length, protection, flags, fd, offset);
	char *room = __real_mmap(NULL, length + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return MAP_FAILED;
	void *mapped = __real_mmap(room + GUARD_BYTES, length, protection, flags | MAP_FIXED, fd, offset);
	if (mapped == MAP_FAILED)
		__real_munmap(room, length + 2 * GUARD_BYTES);
	return mapped;
}

void *
__wrap_mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	return __wrap_mmap(address, length, protection, flags, fd, offset);
}

int
__wrap_munmap(void *address, size_t length)
{
	if (length != SEGMENT_BYTES_MAX)
		return __real_munmap(address, length);
	return __real_munmap((char *)address - GUARD_BYTES, length + 2 * GUARD_BYTES);
}

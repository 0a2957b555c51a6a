/* SPDX-License-Identifier: MIT */
#include "system/extensible.h"

#include <errno.h>
#include <string.h>

static size_t
size_of(const void *theirs)
{
	size_t size;
	memcpy(&size, theirs, sizeof(size));
	return size;
}

static size_t
common_size(size_t ours, size_t theirs)
{
	return ours < theirs ? ours : theirs;
}

bool
extensible_is_known(const void *theirs, size_t first)
{
	return size_of(theirs) >= first && size_of(theirs) <= EXTENSIBLE_SIZE_MAX;
}

int
extensible_read(void *ours, size_t size, size_t first, const void *theirs)
{
	if (!extensible_is_known(theirs, first))
		return -EINVAL;
	const size_t their_size = size_of(theirs);
	const unsigned char *bytes = theirs;
	for (size_t i = size; i < their_size; i++) {
		if (bytes[i] != 0)
			return -EINVAL;
	}
	memset(ours, 0, size);
	memcpy(ours, theirs, common_size(size, their_size));
	return 0;
}

void
extensible_write(void *theirs, const void *ours, size_t size)
{
	const size_t their_size = size_of(theirs);
	memset(theirs, 0, their_size);
	memcpy(theirs, ours, common_size(size, their_size));
	memcpy(theirs, &their_size, sizeof(their_size));
}

/* SPDX-License-Identifier: MIT */
#include "read.h"

#include <errno.h>
#include <unistd.h>

ssize_t
read_from(int fd, void *to, size_t bytes, size_t from)
{
	size_t length = 0;
	while (length < bytes) {
		const ssize_t got = pread(fd, (unsigned char *)to + length, bytes - length, (off_t)(from + length));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	return (ssize_t)length;
}

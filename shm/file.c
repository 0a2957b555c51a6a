/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cancellation.h"

int
file_move_descriptor(int fd)
{
	if (fd < 0)
		return -errno;
	if (fd > STDERR_FILENO)
		return fd;

	int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int error = errno;
	close(fd);
	if (moved < 0)
		return error == EINVAL ? -EMFILE : -error; /* EINVAL: RLIMIT_NOFILE allows no descriptor above 2 */
	return moved;
}

/* Above the limit, the kernel would send SIGXFSZ. */
static bool
may_extend(off_t size, size_t to)
{
	struct rlimit limit;
	return (size_t)size >= to || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY
	       || limit.rlim_cur >= to;
}

int
file_extend(int fd, off_t size, size_t to)
{
	if (!may_extend(size, to))
		return -EFBIG;
	return (size_t)size >= to || ftruncate(fd, (off_t)to) == 0 ? 0 : -errno;
}

int
file_allocate(int fd, off_t size, size_t from, size_t to)
{
	if (!may_extend(size, to))
		return -EFBIG;

	NO_CANCELLATION;
	while (fallocate(fd, 0, (off_t)from, (off_t)(to - from)) != 0) {
		if (errno != EINTR)
			return errno == EDQUOT ? -ENOSPC : -errno;
	}
	return 0;
}

int
file_map(int fd, const struct stat *st, struct segment *segment)
{
	unsigned char *base = mmap(NULL, SEGMENT_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) /* EAGAIN: after mlockall(), the mapping would exceed RLIMIT_MEMLOCK */
		return errno == EAGAIN ? -ENOMEM : -errno;

	image_place(base, SEGMENT_BYTES_MIN, segment);
	segment->writable = true;
	segment->embedded = false;
	segment->fd = fd;
	segment->device = st->st_dev;
	segment->inode = st->st_ino;
	return 0;
}

ssize_t
file_read(int fd, void *to, size_t bytes, size_t from)
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

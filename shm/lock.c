/* SPDX-License-Identifier: MIT */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cancellation.h"
#include "file.h"
#include "name.h"

/* The program may have closed the descriptor and opened another file under its number. */
static bool
is_ours(const struct segment *segment, int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && st.st_dev == segment->device && st.st_ino == segment->inode;
}

/* Without O_CLOEXEC: a process keeps its holds over exec(), and so its lock. */
static int
open_same(const struct segment *segment, const char *path, int flags)
{
	const int fd = file_move_descriptor(open(path, O_RDONLY | O_NONBLOCK | flags));
	if (fd < 0)
		return fd;
	if (is_ours(segment, fd) && fcntl(fd, F_SETFD, 0) == 0)
		return fd;
	close(fd);
	return -ENOENT;
}

int
lock_open(const struct segment *segment, const char *name)
{
	NO_CANCELLATION;
	char path[PATH_BYTES];
	int fd = name_to_path(name, path);
	if (fd == 0)
		fd = open_same(segment, path, O_NOFOLLOW);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", segment->fd);
	return open_same(segment, path, 0);
}

static struct flock
describe(short type, uint64_t byte)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
}

int
lock_take(const struct segment *segment, int fd, uint64_t byte)
{
	struct flock lock = describe(F_RDLCK, byte);
	if (!is_ours(segment, fd))
		return -EBADF;
	return fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : -errno;
}

int
lock_is_taken(const struct segment *segment, int fd, uint64_t byte)
{
	struct flock lock = describe(F_WRLCK, byte);
	if (!is_ours(segment, fd))
		return -EBADF;
	if (fcntl(fd, F_OFD_GETLK, &lock) != 0)
		return -errno;
	/* Once more: if the program closed the descriptor meanwhile, the answer may be about another file. */
	return is_ours(segment, fd) ? lock.l_type != F_UNLCK : -EBADF;
}

void
lock_close(const struct segment *segment, int fd)
{
	if (is_ours(segment, fd))
		close(fd);
}

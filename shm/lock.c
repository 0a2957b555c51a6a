/* SPDX-License-Identifier: MIT */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cancellation.h"
#include "name.h"

enum { FD_MIN = 100, OPEN_FLAGS = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY };

/*
 * The program may have closed the descriptor, and another file may be under its number, or the same file again. Of
 * that, the segment's descriptor is closed by exec(), and the one for locks is not.
 */
static bool
is_ours(const struct segment *segment, int fd, int flags)
{
	struct stat st;
	return fcntl(fd, F_GETFD) == flags && fstat(fd, &st) == 0 && st.st_dev == segment->device
	       && st.st_ino == segment->inode;
}

/*
 * Returns a copy with a high number. It is the highest free one only if none from FD_MIN on is free, because the kernel
 * allocates a table up to the highest number. The copy has no FD_CLOEXEC: a process keeps its holds over exec(), and so
 * its lock.
 */
static int
move_up(int fd)
{
	int moved = -1;
	for (int from = FD_MIN; from > STDERR_FILENO && moved < 0; from--)
		moved = fcntl(fd, F_DUPFD, from);
	const int error = errno;
	close(fd);
	return moved < 0 ? -error : moved;
}

static int
open_same(const struct segment *segment, const char *path, int flags)
{
	int fd = open(path, OPEN_FLAGS | flags);
	if (fd < 0)
		return -errno;
	fd = move_up(fd);
	if (fd < 0 || is_ours(segment, fd, 0))
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
	if (fd >= 0 || !is_ours(segment, segment->fd, FD_CLOEXEC))
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
	if (!is_ours(segment, fd, 0))
		return -EBADF;
	return fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : -errno;
}

void
lock_release(const struct segment *segment, int fd, uint64_t byte)
{
	struct flock lock = describe(F_UNLCK, byte);
	if (is_ours(segment, fd, 0))
		fcntl(fd, F_OFD_SETLK, &lock);
}

static int
ask(const struct segment *segment, int fd, uint64_t byte)
{
	struct flock lock = describe(F_WRLCK, byte);
	if (!is_ours(segment, fd, FD_CLOEXEC))
		return -EBADF;
	if (fcntl(fd, F_OFD_GETLK, &lock) != 0)
		return -errno;
	/* Once more: if the program closed the descriptor meanwhile, the answer may be about another file. */
	return is_ours(segment, fd, FD_CLOEXEC) ? lock.l_type != F_UNLCK : -EBADF;
}

int
lock_is_taken(const struct segment *segment, const char *name, uint64_t byte)
{
	if (is_ours(segment, segment->fd, FD_CLOEXEC))
		return ask(segment, segment->fd, byte);
	NO_CANCELLATION;
	char path[PATH_BYTES];
	int rc = name_to_path(name, path);
	if (rc < 0)
		return rc;
	int fd = open(path, OPEN_FLAGS | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	rc = ask(segment, fd, byte);
	close(fd);
	return rc;
}

void
lock_close(const struct segment *segment, int fd)
{
	NO_CANCELLATION;
	if (is_ours(segment, fd, 0))
		close(fd);
}

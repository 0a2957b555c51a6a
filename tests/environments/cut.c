/* SPDX-License-Identifier: MIT */
/*
 * A preload library: truncates the file of a semaphore when the program calls fstat() for such a file for the CUT_AT-th
 * time. So a test chooses the moment of the truncation. _FILE_OFFSET_BITS decides which of the two names of fstat() a
 * program calls.
 */
#undef _FILE_OFFSET_BITS
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
cut_if_it_is_time(int fd)
{
	static int asked;
	char self[32];
	char path[256];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	const ssize_t length = readlink(self, path, sizeof(path) - 1);
	const char *at = getenv("CUT_AT");
	if (length <= 0 || at == NULL)
		return;
	path[length] = '\0';
	if (strncmp(path, "/dev/shm/tsem.", strlen("/dev/shm/tsem.")) == 0 && ++asked == atoi(at) && truncate(path, 0) == 0)
		dprintf(STDERR_FILENO, "cut\n");
}

/* fstatat() makes the call, because this function replaces fstat(). */
int
fstat(int fd, struct stat *st)
{
	const int rc = fstatat(fd, "", st, AT_EMPTY_PATH);
	cut_if_it_is_time(fd);
	return rc;
}

#ifdef __GLIBC__
int
fstat64(int fd, struct stat64 *st)
{
	const int rc = fstatat64(fd, "", st, AT_EMPTY_PATH);
	cut_if_it_is_time(fd);
	return rc;
}
#endif

/* SPDX-License-Identifier: MIT */
/* Attaching to a segment: opening its file, and refusing a file that is not a segment or not trustworthy. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "image.h"
#include "name.h"
#include "segment.h"

/* Some 20 ms: enough for another process to end a lease, unless that process is stopped. */
enum { PAUSES_MAX = 20 };

/* ---- trust ---- */

#define OVERFLOW_UID 65534 /* shown in a user namespace for every user that the namespace does not map */

/* Whether the user namespace of this process maps `uid`, so that this number means one user. */
static bool
is_mapped(uid_t uid)
{
	FILE *map = fopen("/proc/self/uid_map", "re");
	if (map == NULL)
		return false;
	char line[128]; /* first number inside, first number outside, length of the range */
	bool found = false;
	while (!found && fgets(line, sizeof(line), map) != NULL) {
		char *at;
		const unsigned long inside = strtoul(line, &at, 10);
		strtoul(at, &at, 10);
		const unsigned long count = strtoul(at, &at, 10);
		found = uid >= inside && uid - inside < count;
	}
	fclose(map);
	return found;
}

/* Whether the file's owner is root or, beyond doubt, the calling user. */
static bool
is_trusted(uid_t owner)
{
	return owner == 0 || (owner == geteuid() && (owner != OVERFLOW_UID || is_mapped(owner)));
}

/* ---- the header ---- */

/*
 * Reads the header and does not map it: a file that is not a segment must stay unchanged, and touching a page that does
 * not exist raises SIGBUS. A file of another layout may be shorter than this header; the words before `uuid` identify
 * it.
 */
static int
read_valid_header(int fd, struct header *header)
{
	memset(header, 0, sizeof(*header));
	const ssize_t length = file_read(fd, header, sizeof(*header), 0);
	if (length < 0)
		return (int)length;
	return length >= (ssize_t)offsetof(struct header, uuid) ? image_validate(header) : -EBADMSG;
}

/* A process that only looks has a copy of the header and maps nothing: see copy.c. */
static int
copy_header(int fd, const struct header *header, const struct stat *st, struct segment *segment)
{
	struct header *copy = aligned_alloc(LINE_BYTES, sizeof(*copy));
	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, header, sizeof(*copy));
	*segment = (struct segment){.header = copy, .fd = fd, .device = st->st_dev, .inode = st->st_ino};
	return 0;
}

/* ---- the file ---- */

/*
 * A file with a second name is refused: every user that may write to the file can link it to a name under which its
 * owner expects another semaphore of its own.
 */
static int
attach_file(int fd, bool writable, unsigned flags, struct segment *segment)
{
	enum { BLOCK_BYTES = 512 }; /* of st_blocks */
	struct stat st;
	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (!is_trusted(st.st_uid) && (flags & SEGMENT_FOREIGN) == 0)
		return -EPERM;
	if (st.st_nlink > 1)
		return -EMLINK;

	struct header header;
	int rc = read_valid_header(fd, &header);
	if (rc < 0)
		return rc;
	if (st.st_size < (off_t)SEGMENT_BYTES_MIN)
		return -EBADMSG;
	if (!writable)
		return copy_header(fd, &header, &st, segment);
	/*
	 * Every process that maps the file may read the header, the array and the first records: a sparse file gets them
	 * now.
	 */
	if ((off_t)st.st_blocks * BLOCK_BYTES < st.st_size)
		rc = file_allocate(fd, st.st_size, 0, SEGMENT_BYTES_MIN);
	return rc < 0 ? rc : file_map(fd, &st, segment);
}

/*
 * -EBADMSG: `path` leads to no regular file, or to one that a process executes. -EBUSY: another process has a lease on
 * the file and does not end it.
 */
static int
open_file(const char *path, bool writable)
{
	static const int impossible[] = {ELOOP, EISDIR, ENXIO, ENODEV, ETXTBSY}; /* for the file of a segment */
	int fd = -EAGAIN;
	/*
	 * No O_CREAT: with fs.protected_regular the kernel then refuses the file of another user. O_NONBLOCK: open() must
	 * block neither for a FIFO nor for a lease; a lease gives EAGAIN.
	 */
	for (int i = 0; i <= PAUSES_MAX && fd == -EAGAIN; i++) {
		if (i > 0)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		fd = file_move_descriptor(open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
	}
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		if (fd == -impossible[i])
			return -EBADMSG;
	}
	return fd == -EAGAIN ? -EBUSY : fd;
}

int
segment_attach(const char *name, unsigned flags, struct segment *segment)
{
	char path[PATH_BYTES];
	int rc = name_to_path(name, path);
	if (rc < 0)
		return rc;

	const bool writable = (flags & SEGMENT_READ_ONLY) == 0;
	int fd = open_file(path, writable);
	if (fd < 0)
		return fd;
	rc = attach_file(fd, writable, flags, segment);
	if (rc < 0)
		close(fd);
	return rc;
}

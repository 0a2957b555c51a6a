/* SPDX-License-Identifier: MIT */
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uuid.h>

#include "cancellation.h"
#include "image.h"
#include "name.h"

/* Descriptors 0 to 2 belong to the program, also while they are closed. */
static int
above_standard(int fd)
{
	if (fd < 0)
		return -errno;
	if (fd > STDERR_FILENO)
		return fd;

	int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int error = errno;
	close(fd);
	if (moved < 0)
		return error == EINVAL ? -EMFILE : -error; /* EINVAL: the limit leaves no descriptor above those */
	return moved;
}

/*
 * Makes the bytes [from, to) of a file of `size` bytes exist, as memory and not only as a size, so that touching them
 * can never raise SIGBUS. The limit is looked up first because the kernel would send SIGXFSZ.
 */
static int
allocate(int fd, off_t size, size_t from, size_t to)
{
	struct rlimit limit;
	if ((size_t)size < to && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
	    && limit.rlim_cur < to)
		return -EFBIG;

	NO_CANCELLATION;
	while (fallocate(fd, 0, (off_t)from, (off_t)(to - from)) != 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Maps the whole range the segment may ever grow to; what lies behind the end of the file is not touched. */
static int
map(struct segment *segment, int fd, const struct stat *st)
{
	unsigned char *base = mmap(NULL, SEGMENT_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;

	image_place(base, SEGMENT_BYTES_MIN, segment);
	segment->writable = true;
	segment->embedded = false;
	segment->fd = fd;
	segment->device = st->st_dev;
	segment->inode = st->st_ino;
	return 0;
}

static int
open_unnamed(void)
{
	return above_standard(open(SHM_DIRECTORY, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

/* Where unnamed files are missing, or cannot be given a name: one that no listing takes for a semaphore's. */
static int
open_temporary(char temporary[PATH_BYTES])
{
	uuid_t unique;
	char text[37];
	uuid_generate(unique);
	uuid_unparse_lower(unique, text);
	snprintf(temporary, PATH_BYTES, SHM_DIRECTORY "/." SHM_PREFIX "%s", text);
	int fd = above_standard(open(temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
	if (fd < 0)
		temporary[0] = '\0';
	return fd;
}

/* -EOPNOTSUPP: an unnamed file cannot be given a name here. */
static int
publish(int fd, const char *temporary, const char *path)
{
	if (temporary[0] != '\0')
		return link(temporary, path) == 0 ? 0 : -errno;

	/* AT_EMPTY_PATH needs a capability on older kernels, the other way needs /proc. */
	if (linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOENT && errno != EPERM && errno != EINVAL)
		return -errno;
	char self[32];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	return errno == ENOENT || errno == EPERM ? -EOPNOTSUPP : -errno;
}

static int
build(int fd, const char *temporary, const char *path, const struct segment_config *config, struct segment *segment)
{
	int rc = allocate(fd, 0, 0, SEGMENT_BYTES_MIN);
	if (rc < 0)
		return rc;
	struct stat st;
	if (fstat(fd, &st) != 0)
		return -errno;
	rc = map(segment, fd, &st);
	if (rc < 0)
		return rc;

	image_format(segment->header, SEGMENT_BYTES_MIN, config);
	rc = fchmod(fd, config->mode) == 0 ? publish(fd, temporary, path) : -errno;
	if (rc < 0)
		munmap(segment->header, SEGMENT_BYTES_MAX);
	return rc;
}

int
segment_create(const char *name, const struct segment_config *config, struct segment *segment)
{
	char path[PATH_BYTES];
	char temporary[PATH_BYTES] = "";
	int rc = name_to_path(name, path);
	if (rc < 0)
		return rc;

	int fd = open_unnamed();
	rc = fd < 0 ? fd : build(fd, temporary, path, config, segment);
	if (rc == -EOPNOTSUPP || rc == -EISDIR) {
		if (fd >= 0)
			close(fd);
		fd = open_temporary(temporary);
		rc = fd < 0 ? fd : build(fd, temporary, path, config, segment);
		if (temporary[0] != '\0')
			unlink(temporary);
	}
	if (rc < 0 && fd >= 0)
		close(fd);
	return rc;
}

/*
 * Read and not mapped: what is not ours must stay as it is, and a page that does not exist must not be touched. Another
 * layout's file may well be shorter, and is not damaged for that.
 */
static int
validate(int fd, struct header *header)
{
	memset(header, 0, sizeof(*header));
	const ssize_t length = segment_read(fd, header, sizeof(*header), 0);
	return length >= (ssize_t)offsetof(struct header, uuid) ? image_validate(header) : -EBADMSG;
}

/* A process that only looks keeps no more than the header: see copy.c. */
static int
keep_header(struct segment *segment, int fd, const struct header *header, const struct stat *st)
{
	struct header *kept = aligned_alloc(LINE_BYTES, sizeof(*kept));
	if (kept == NULL)
		return -ENOMEM;
	memcpy(kept, header, sizeof(*kept));
	*segment = (struct segment){.header = kept, .fd = fd, .device = st->st_dev, .inode = st->st_ino};
	return 0;
}

/* Somebody's number in a user namespace that has none for him: everybody's there whom it does not know. */
#define OVERFLOW_UID 65534

static bool
is_mapped(uid_t uid)
{
	FILE *map = fopen("/proc/self/uid_map", "re");
	if (map == NULL)
		return false;
	char line[128]; /* first inside, first outside, how many */
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

/* The owner is this user, as far as that can be told, or root. */
static bool
is_trusted(uid_t owner)
{
	return owner == 0 || (owner == geteuid() && (owner != OVERFLOW_UID || is_mapped(owner)));
}

static int
attach_fd(int fd, bool writable, unsigned flags, struct segment *segment)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (!is_trusted(st.st_uid) && (flags & SEGMENT_FOREIGN) == 0)
		return -EPERM;

	struct header header;
	int rc = validate(fd, &header);
	if (rc < 0)
		return rc;
	if (st.st_size < (off_t)SEGMENT_BYTES_MIN)
		return -EBADMSG;
	if (!writable)
		return keep_header(segment, fd, &header, &st);
	/* The header and the array must be memory before they are mapped: whoever maps them may read them. */
	rc = allocate(fd, st.st_size, 0, SEGMENT_BYTES_MIN);
	return rc < 0 ? rc : map(segment, fd, &st);
}

int
segment_attach(const char *name, unsigned flags, struct segment *segment)
{
	char path[PATH_BYTES];
	int rc = name_to_path(name, path);
	if (rc < 0)
		return rc;

	/* Never O_CREAT: with fs.protected_regular it fails on a file of somebody else's. O_NONBLOCK: it may be a FIFO. */
	const bool writable = (flags & SEGMENT_READ_ONLY) == 0;
	int fd = above_standard(open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
	if (fd < 0)
		return fd == -ELOOP || fd == -EISDIR || fd == -ENXIO ? -EBADMSG : fd;
	rc = attach_fd(fd, writable, flags, segment);
	if (rc < 0)
		close(fd);
	return rc;
}

/* Looks at the file behind the descriptor; false if that is another one by now. */
static bool
stat_ours(const struct segment *segment, struct stat *st)
{
	return fstat(segment->fd, st) == 0 && st->st_dev == segment->device && st->st_ino == segment->inode;
}

void
segment_detach(struct segment *segment)
{
	/* A program that closes all descriptors may have another file under this number by now. */
	struct stat st;
	const bool ours = stat_ours(segment, &st);
	if (segment->embedded)
		return;
	if (segment->writable)
		munmap(segment->header, SEGMENT_BYTES_MAX);
	else
		free(segment->header);
	if (ours)
		close(segment->fd);
}

/*
 * Without the descriptor, which a program may have closed along with all others: pages that exist can be had all the
 * same (Linux 5.14), and touching those that do not fails here and not by SIGBUS.
 */
static int
populate(const struct segment *segment, size_t from, size_t to)
{
#ifdef MADV_POPULATE_WRITE
	unsigned char *base = (unsigned char *)segment->header;
	if (madvise(base + from, to - from, MADV_POPULATE_WRITE) == 0)
		return 0;
#else
	(void)segment, (void)from, (void)to;
#endif
	return -EBADMSG;
}

int
segment_reserve(struct segment *segment, uint32_t records)
{
	struct stat st;
	const uint32_t known = LOAD_ACQ(&segment->reserved);
	if (records <= known)
		return 0;
	if (segment->embedded) /* there are as many as there is memory for */
		return -EUSERS;
	if (records > RECORDS_MAX || !segment->writable)
		return -EBADMSG;

	const size_t from = RECORDS_OFFSET + (size_t)known * sizeof(struct record);
	const size_t end = RECORDS_OFFSET + (size_t)records * sizeof(struct record);
	const size_t to = (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	if (!stat_ours(segment, &st)) {
		int rc = populate(segment, from, to);
		if (rc < 0)
			return rc;
	} else {
		int rc = allocate(segment->fd, st.st_size, from, to);
		if (rc < 0)
			return rc;
	}

	/* Another thread may have stored a larger number meanwhile; a smaller one only costs another call. */
	STORE_REL(&segment->reserved, image_records(to));
	return 0;
}

int
segment_stat(const struct segment *segment, struct stat *st)
{
	if (segment->embedded) {
		*st = (struct stat){.st_uid = segment->header->uid};
		return 0;
	}
	return stat_ours(segment, st) ? 0 : -EBADF;
}

bool
segment_is_unlinked(const struct segment *segment)
{
	struct stat st;
	return stat_ours(segment, &st) && st.st_nlink == 0;
}

int
segment_unlink(const char *name, const struct segment *segment)
{
	char path[PATH_BYTES];
	struct stat st;
	int rc = name_to_path(name, path);
	if (rc < 0)
		return rc;
	if (lstat(path, &st) != 0)
		return -errno;
	if (st.st_dev != segment->device || st.st_ino != segment->inode)
		return -ENOENT;
	return unlink(path) == 0 ? 0 : -errno;
}

int
segment_unlink_any(const char *name)
{
	char path[PATH_BYTES];
	int rc = name_to_path(name, path);
	if (rc < 0)
		return rc;
	return unlink(path) == 0 ? 0 : -errno;
}

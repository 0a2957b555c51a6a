/* SPDX-License-Identifier: MIT */
#include "segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uuid.h>

#include "cancellation.h"
#include "image.h"
#include "name.h"
#include "read.h"

/* How often something is looked at again, a millisecond later, that is over in a moment unless a process was stopped. */
enum { LOOKS = 20 };

static void
pause_a_millisecond(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	nanosleep(&pause, NULL);
}

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
			return errno == EDQUOT ? -ENOSPC : -errno;
	}
	return 0;
}

/* Maps the whole range the segment may ever grow to; what lies behind the end of the file is not touched. */
static int
map(struct segment *segment, int fd, const struct stat *st)
{
	unsigned char *base = mmap(NULL, SEGMENT_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) /* EAGAIN: under mlockall(), RLIMIT_MEMLOCK does not allow that much */
		return errno == EAGAIN ? -ENOMEM : -errno;

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

/* ---- files with a temporary name: where unnamed ones are missing, or cannot be given a name ---- */

#define TEMPORARY_PREFIX "." SHM_PREFIX /* no listing takes it for a semaphore's */

/*
 * Its creator keeps the file locked. A lock that can be had was the lock of a creator that has died, or its creator is
 * about to ask for it: see lock_temporary(). No other user can open the file before it is complete.
 */
static void
remove_if_abandoned(int directory, const char *file)
{
	int fd = openat(directory, file, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(directory, file, 0);
	close(fd);
}

static void
remove_abandoned(void)
{
	DIR *directory = opendir(SHM_DIRECTORY);
	if (directory == NULL)
		return;
	const struct dirent *entry;
	while ((entry = readdir(directory)) != NULL) {
		if (strncmp(entry->d_name, TEMPORARY_PREFIX, sizeof(TEMPORARY_PREFIX) - 1) == 0)
			remove_if_abandoned(dirfd(directory), entry->d_name);
	}
	closedir(directory);
}

/* False: another creator was faster, took the file for an abandoned one, and has removed it or is about to. */
static bool
lock_temporary(int fd)
{
	struct stat st;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return errno != EWOULDBLOCK; /* without locks, no creator removes anything */
	return fstat(fd, &st) == 0 && st.st_nlink == 1;
}

static int
open_temporary_once(char temporary[PATH_BYTES])
{
	uuid_t unique;
	char text[37];
	uuid_generate(unique);
	uuid_unparse_lower(unique, text);
	snprintf(temporary, PATH_BYTES, SHM_DIRECTORY "/" TEMPORARY_PREFIX "%s", text);
	int fd = above_standard(open(temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
	if (fd >= 0 && !lock_temporary(fd)) {
		unlink(temporary);
		close(fd);
		fd = -EAGAIN;
	}
	if (fd < 0)
		temporary[0] = '\0';
	return fd;
}

static int
open_temporary(char temporary[PATH_BYTES])
{
	int fd = -EAGAIN;
	remove_abandoned();
	for (int i = 0; i < LOOKS && fd == -EAGAIN; i++)
		fd = open_temporary_once(temporary);
	return fd == -EAGAIN ? -EBUSY : fd;
}

/* The file never has two names, unless the kernel (before Linux 3.15) cannot do that. */
static int
rename_temporary(const char *temporary, const char *path)
{
#ifdef SYS_renameat2
	enum { REPLACE_NOTHING = 1 };
	if (syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, REPLACE_NOTHING) == 0)
		return 0;
	if (errno != ENOSYS && errno != EINVAL && errno != EPERM)
		return -errno;
#endif
	if (link(temporary, path) != 0)
		return -errno;
	unlink(temporary);
	return 0;
}

/* -EOPNOTSUPP: an unnamed file cannot be given a name here. */
static int
publish(int fd, const char *temporary, const char *path)
{
	if (temporary[0] != '\0')
		return rename_temporary(temporary, path);

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
		if (rc < 0 && temporary[0] != '\0')
			unlink(temporary);
		else if (rc == 0)
			flock(fd, LOCK_UN);
	}
	if (rc < 0 && fd >= 0)
		close(fd);
	return rc == -EDQUOT ? -ENOSPC : rc;
}

/*
 * Read and not mapped: what is not ours must stay as it is, and a page that does not exist must not be touched. Another
 * layout's file may well be shorter, and is not damaged for that.
 */
static int
validate(int fd, struct header *header)
{
	memset(header, 0, sizeof(*header));
	const ssize_t length = read_from(fd, header, sizeof(*header), 0);
	if (length < 0)
		return (int)length;
	return length >= (ssize_t)offsetof(struct header, uuid) ? image_validate(header) : -EBADMSG;
}

/* A process that only looks keeps no more than the header: see copy.c. */
static int
keep_header(struct segment *segment, int fd, const struct header *header, const struct stat *st)
{
	struct header *cached = aligned_alloc(LINE_BYTES, sizeof(*cached));
	if (cached == NULL)
		return -ENOMEM;
	memcpy(cached, header, sizeof(*cached));
	*segment = (struct segment){.header = cached, .fd = fd, .device = st->st_dev, .inode = st->st_ino};
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

/*
 * A creator that can neither name an unnamed file nor rename one leaves it with two names for a moment, which is waited
 * for. Who only looks on does not wait: there may be thousands of such files.
 */
static int
stat_settled(int fd, bool may_wait, struct stat *st)
{
	for (int i = 0; i <= LOOKS; i++) {
		if (fstat(fd, st) != 0)
			return -errno;
		if (!may_wait || !S_ISREG(st->st_mode) || st->st_nlink <= 1)
			return 0;
		pause_a_millisecond();
	}
	return 0;
}

/*
 * A file with another name is refused: who may write to a user's semaphore can link it to a name that the user takes for
 * a semaphore of its own.
 */
static int
attach_fd(int fd, bool writable, unsigned flags, struct segment *segment)
{
	struct stat st;
	int rc = stat_settled(fd, writable, &st);
	if (rc < 0)
		return rc;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (!is_trusted(st.st_uid) && (flags & SEGMENT_FOREIGN) == 0)
		return -EPERM;
	if (st.st_nlink > 1)
		return -EMLINK;

	struct header header;
	rc = validate(fd, &header);
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

/* -EBADMSG: no file, or one that is being executed. -EBUSY: another process has a lease on it, and does not give it up. */
static int
open_file(const char *path, bool writable)
{
	static const int strange[] = {ELOOP, EISDIR, ENXIO, ENODEV, ETXTBSY};
	int fd = -EAGAIN;
	/* Never O_CREAT: with fs.protected_regular it fails on a file of somebody else's. O_NONBLOCK: it may be a FIFO. */
	for (int i = 0; i <= LOOKS && fd == -EAGAIN; i++) {
		if (i > 0)
			pause_a_millisecond();
		fd = above_standard(open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
	}
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		if (fd == -strange[i])
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
segment_lstat(const char *name, struct stat *st)
{
	char path[PATH_BYTES];
	int rc = name_to_path(name, path);
	if (rc < 0)
		return rc;
	return lstat(path, st) == 0 ? 0 : -errno;
}

static int
unlink_inode(const char *name, dev_t device, ino_t inode)
{
	char path[PATH_BYTES];
	struct stat st;
	int rc = segment_lstat(name, &st);
	if (rc == 0 && (st.st_dev != device || st.st_ino != inode))
		rc = -ENOENT;
	if (rc < 0)
		return rc;
	name_to_path(name, path);
	return unlink(path) == 0 ? 0 : -errno;
}

int
segment_unlink(const char *name, const struct segment *segment)
{
	return unlink_inode(name, segment->device, segment->inode);
}

int
segment_unlink_any(const char *name, const struct stat *seen)
{
	return unlink_inode(name, seen->st_dev, seen->st_ino);
}

/* SPDX-License-Identifier: MIT */
/* Creating a segment: the file is complete before it gets its name. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"
#include "image.h"
#include "name.h"
#include "random.h"
#include "segment.h"

/* Of a file until it is complete. With the umask, the kernel gives it its last one. */
static mode_t
first_mode(const struct segment_config *config)
{
	return config->umask ? config->mode : 0600;
}

static int
open_unnamed(mode_t mode)
{
	return file_move_descriptor(open(SHM_DIRECTORY, O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
}

/* ---- files with a temporary name, for systems that lack unnamed files or cannot give them a name ---- */

#define TEMPORARY_PREFIX "." SHM_PREFIX /* the dot hides the file from a listing of semaphores: see name_from_file() */

/* Each failed try means that another creator made progress, so honest creators need few tries. */
enum { TEMPORARY_TRIES = 20 };

/*
 * A creator keeps its temporary file locked. If this process gets the lock, the creator is dead, or it has created the
 * file and not locked it yet, which lock_temporary() detects, or it has renamed and unlocked the file since. No other
 * user can open the file before it is complete.
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

/* Returns false if another creator locked the file first: that creator takes the file for abandoned and removes it. */
static bool
lock_temporary(int fd)
{
	struct stat st;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return errno != EWOULDBLOCK; /* a file system without locks: no creator can remove the file */
	return fstat(fd, &st) == 0 && st.st_nlink == 1;
}

static int
open_temporary_once(char temporary[PATH_BYTES], mode_t mode)
{
	uint64_t unique;
	int rc = random_fill(&unique, sizeof(unique));
	if (rc < 0)
		return rc;
	snprintf(temporary, PATH_BYTES, SHM_DIRECTORY "/" TEMPORARY_PREFIX "%016" PRIx64, unique);
	int fd = file_move_descriptor(open(temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode));
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
open_temporary(char temporary[PATH_BYTES], mode_t mode)
{
	int fd = -EAGAIN;
	remove_abandoned();
	for (int i = 0; i < TEMPORARY_TRIES && fd == -EAGAIN; i++)
		fd = open_temporary_once(temporary, mode);
	return fd == -EAGAIN ? -EBUSY : fd;
}

/* ---- the name ---- */

/* -EOPNOTSUPP: this system cannot rename a file without replacing another one. */
static int
rename_temporary(const char *temporary, const char *path)
{
	enum { REPLACE_NOTHING = 1 }; /* RENAME_NOREPLACE of linux/fs.h */
	if (syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, REPLACE_NOTHING) == 0)
		return 0;
	return errno == ENOSYS || errno == EINVAL || errno == EPERM ? -EOPNOTSUPP : -errno;
}

/* -EOPNOTSUPP: this system cannot give the file a name without replacing another one. */
static int
publish(int fd, const char *temporary, const char *path)
{
	if (temporary[0] != '\0')
		return rename_temporary(temporary, path);

	/* AT_EMPTY_PATH needs a capability on older kernels; the second way needs /proc. */
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

/* ---- the segment ---- */

static int
build(int fd, const char *temporary, const char *path, const struct segment_config *config, struct segment *segment)
{
	int rc = file_allocate(fd, 0, 0, SEGMENT_BYTES_MIN);
	if (rc < 0)
		return rc;
	struct stat st;
	if (fstat(fd, &st) != 0)
		return -errno;
	rc = file_map(fd, &st, segment);
	if (rc < 0)
		return rc;

	const mode_t mode = config->umask ? 0 /* it has it */ : config->mode;
	rc = image_format(segment->header, SEGMENT_BYTES_MIN, config);
	if (rc == 0)
		rc = segment_set_access(segment, mode, config->has_group ? config->group : (gid_t)-1);
	if (rc == 0)
		rc = publish(fd, temporary, path);
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

	int fd = open_unnamed(first_mode(config));
	rc = fd < 0 ? fd : build(fd, temporary, path, config, segment);
	if (rc == -EOPNOTSUPP || rc == -EISDIR) { /* EISDIR: a kernel before Linux 3.11 does not know O_TMPFILE */
		if (fd >= 0)
			close(fd);
		fd = open_temporary(temporary, first_mode(config));
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

/* SPDX-License-Identifier: MIT */
#include "segment.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "file.h"
#include "name.h"

/* Returns false if the program has closed the descriptor, or has another file under its number now. */
static bool
stat_own_file(const struct segment *segment, struct stat *st)
{
	return fstat(segment->fd, st) == 0 && st->st_dev == segment->device && st->st_ino == segment->inode;
}

void
segment_detach(struct segment *segment)
{
	if (segment->embedded)
		return;
	/* fstat() comes first: without the mapping, another file could have the inode number of a file that was removed. */
	struct stat st;
	const bool ours = stat_own_file(segment, &st);
	if (segment->writable)
		munmap(segment->header, SEGMENT_BYTES_MAX);
	else
		free(segment->header);
	if (ours)
		close(segment->fd);
}

/*
 * Makes sure that the bytes [from, to) exist without the descriptor. This cannot extend the file: behind its end, or if
 * the file system is full, madvise() (Linux 5.14) fails, where a plain access would raise SIGBUS.
 */
static int
populate(const struct segment *segment, size_t from, size_t to)
{
#ifdef MADV_POPULATE_WRITE
	enum { LARGEST_PAGE_BYTES = 64 * 1024 }; /* of the machine: madvise() begins at a page */
	unsigned char *base = (unsigned char *)segment->header;
	from -= from % LARGEST_PAGE_BYTES;
	if (madvise(base + from, to - from, MADV_POPULATE_WRITE) == 0)
		return 0;
#else
	(void)from, (void)to;
#endif
	return segment->fd < 0 ? -ENOSPC : -EBADMSG;
}

void
segment_close_descriptor(struct segment *segment)
{
	struct stat st;
	if (!segment->writable || segment->embedded || populate(segment, 0, PAGE_BYTES) < 0 || !stat_own_file(segment, &st)
	    || file_extend(segment->fd, st.st_size, SEGMENT_BYTES_MAX) < 0)
		return;
	segment->access.mode = st.st_mode;
	segment->access.uid = st.st_uid;
	segment->access.gid = st.st_gid;
	close(segment->fd);
	segment->fd = -1;
}

int
segment_reserve(struct segment *segment, uint32_t records)
{
	struct stat st;
	const uint32_t known = LOAD_ACQ(&segment->reserved); /* pairs with the release below */
	if (records <= known)
		return 0;
	if (segment->embedded) /* the program's memory does not grow */
		return -EUSERS;
	if (records > RECORDS_MAX || !segment->writable)
		return -EBADMSG;

	const size_t from = RECORDS_OFFSET + (size_t)known * sizeof(struct record);
	const size_t end = RECORDS_OFFSET + (size_t)records * sizeof(struct record);
	const size_t to = (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	int rc =
		stat_own_file(segment, &st) ? file_allocate(segment->fd, st.st_size, from, to) : populate(segment, from, to);
	if (rc < 0)
		return rc;

	/*
	 * Release: a thread that reads this number with acquire may touch the pages, which exist since the call above. The
	 * store may replace a larger number of another thread, which costs one more call.
	 */
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
	if (segment->fd < 0) {
		*st = (struct stat){
			.st_mode = segment->access.mode, .st_uid = segment->access.uid, .st_gid = segment->access.gid};
		return 0;
	}
	return stat_own_file(segment, st) ? 0 : -EBADF;
}

/* The group first: the new mode must not open the file to the old group. */
int
segment_set_access(const struct segment *segment, mode_t mode, gid_t group)
{
	struct stat st;
	if (!stat_own_file(segment, &st))
		return -EBADF;
	if (group != (gid_t)-1 && fchown(segment->fd, (uid_t)-1, group) != 0)
		return -errno;
	return mode == 0 || fchmod(segment->fd, mode) == 0 ? 0 : -errno;
}

bool
segment_is_unlinked(const struct segment *segment)
{
	struct stat st;
	return stat_own_file(segment, &st) && st.st_nlink == 0;
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

int
segment_unlink(const char *name, dev_t device, ino_t inode)
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

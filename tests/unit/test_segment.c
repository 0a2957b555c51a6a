/* SPDX-License-Identifier: MIT */
/* The file of a segment: growing it, its descriptor, unlinking it; and a refused file stays as it is. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- grow ---- */

TEST(a_segment_grows_page_by_page)
{
	const char *name = fresh_name();
	struct segment segment = create_segment(name);
	assert_int_equal(LOAD_SEQ(&segment.reserved), RECORDS_PER_PAGE);
	assert_int_equal(segment_reserve(&segment, RECORDS_PER_PAGE), 0);
	assert_int_equal(stat_of_file(name).st_size, SEGMENT_BYTES_MIN);

	assert_int_equal(segment_reserve(&segment, RECORDS_PER_PAGE + 1), 0);
	assert_int_equal(LOAD_SEQ(&segment.reserved), 2 * RECORDS_PER_PAGE);
	assert_int_equal(stat_of_file(name).st_size, SEGMENT_BYTES_MIN + PAGE_BYTES);

	assert_int_equal(segment_reserve(&segment, 10 * RECORDS_PER_PAGE), 0);
	const struct stat st = stat_of_file(name);
	assert_int_equal(st.st_size, SEGMENT_BYTES_MIN + 9 * PAGE_BYTES);
	assert_int_equal(st.st_blocks * 512, in_pages(st.st_size));

	assert_int_equal(segment_reserve(&segment, RECORDS_MAX), 0);
	assert_int_equal(LOAD_SEQ(&segment.reserved), RECORDS_MAX);
	STORE_SEQ(&segment.records[RECORDS_MAX - 1].state, 1);
	assert_int_equal(stat_of_file(name).st_size, SEGMENT_BYTES_MAX);

	assert_int_equal(segment_reserve(&segment, RECORDS_MAX + 1), -EBADMSG);
	assert_int_equal(segment_reserve(&segment, UINT32_MAX), -EBADMSG);
	assert_int_equal(stat_of_file(name).st_size, SEGMENT_BYTES_MAX);
	segment_detach(&segment);
}

TEST(growing_keeps_the_records_of_another_process)
{
	const char *name = fresh_name();
	struct segment one = create_segment(name);
	struct segment two;
	assert_int_equal(segment_attach(name, 0, &two), 0);
	assert_int_equal(segment_reserve(&one, 3 * RECORDS_PER_PAGE), 0);
	STORE_SEQ(&one.records[RECORDS_PER_PAGE].owner, 11);
	STORE_SEQ(&one.records[3 * RECORDS_PER_PAGE - 1].owner, 12);
	assert_int_equal(segment_reserve(&two, 2 * RECORDS_PER_PAGE), 0);
	assert_int_equal(LOAD_SEQ(&two.records[RECORDS_PER_PAGE].owner), 11);
	assert_int_equal(segment_reserve(&two, 3 * RECORDS_PER_PAGE), 0);
	assert_int_equal(LOAD_SEQ(&two.records[3 * RECORDS_PER_PAGE - 1].owner), 12);
	assert_int_equal(stat_of_file(name).st_size, SEGMENT_BYTES_MIN + 2 * PAGE_BYTES);
	segment_detach(&one);
	segment_detach(&two);
}

/* ---- the descriptor ---- */

/* The program has closed the descriptor, and its number belongs to a file of the program now. */
TEST(a_descriptor_of_another_file_is_left_as_it_is)
{
	const char *name = fresh_name();
	const char *other = fresh_name();
	struct segment segment = create_segment(name);
	const int number = segment.fd;
	close(number);
	const int fd = open(file_of(other), O_CREAT | O_RDWR, 0600);
	if (fd != number) {
		assert_int_equal(dup2(fd, number), number);
		close(fd);
	}
	assert_int_equal(segment_reserve(&segment, RECORDS_PER_PAGE + 1), -EBADMSG);
	assert_int_equal(stat_of_file(other).st_size, 0);
	assert_false(segment_is_unlinked(&segment));
	segment_detach(&segment);
	assert_int_equal(fcntl(number, F_GETFD), 0); /* open, and without the FD_CLOEXEC of the segment's descriptor */
	close(number);
}

/* As on a machine with pages of 64 KiB, where madvise() takes no other addresses. */
static unsigned char *mapping; /* NULL: as on this machine */

int __real_madvise(void *start, size_t bytes, int advice);
int __wrap_madvise(void *start, size_t bytes, int advice);

int
__wrap_madvise(void *start, size_t bytes, int advice)
{
	if (mapping != NULL && ((unsigned char *)start - mapping) % (64 * 1024) != 0) {
		errno = EINVAL;
		return -1;
	}
	return __real_madvise(start, bytes, advice);
}

TEST(without_a_descriptor_it_grows_by_the_pages_of_the_machine)
{
	struct segment segment = create_segment(fresh_name());
	segment_close_descriptor(&segment);
	if (segment.fd >= 0) {
		segment_detach(&segment);
		SKIP("the kernel cannot allocate pages of a mapping");
	}
	mapping = (unsigned char *)segment.header;
	for (uint32_t n = RECORDS_PER_PAGE; n <= 40 * RECORDS_PER_PAGE; n += RECORDS_PER_PAGE)
		assert_int_equal(segment_reserve(&segment, n), 0);
	mapping = NULL;
	segment_detach(&segment);
}

/* ---- unlink ---- */

TEST(only_the_right_file_is_unlinked)
{
	const char *name = fresh_name();
	struct segment segment = create_segment(name);
	assert_false(segment_is_unlinked(&segment));
	assert_int_equal(segment_unlink(name, segment.device, segment.inode), 0);
	assert_true(segment_is_unlinked(&segment));
	assert_int_equal(access(file_of(name), F_OK), -1);
	assert_int_equal(segment_unlink(name, segment.device, segment.inode), -ENOENT);

	/* The name leads to another segment now. */
	struct segment other = create_segment(name);
	assert_int_equal(segment_unlink(name, segment.device, segment.inode), -ENOENT);
	assert_int_equal(access(file_of(name), F_OK), 0);
	assert_false(segment_is_unlinked(&other));
	struct stat seen;
	assert_int_equal(segment_lstat(name, &seen), 0);
	assert_int_equal(segment_unlink(name, seen.st_dev, seen.st_ino), 0);
	assert_true(segment_is_unlinked(&other));
	assert_int_equal(segment_unlink(name, seen.st_dev, seen.st_ino), -ENOENT);
	assert_int_equal(segment_lstat("a/b", &seen), -EINVAL);
	assert_int_equal(segment_unlink("a/b", other.device, other.inode), -EINVAL);
	segment_detach(&segment);
	segment_detach(&other);
}

/* Neither the content of a refused file changes nor its times. */
static void
refused_untouched(const char *name, int error)
{
	const struct timespec long_ago[2] = {{.tv_sec = 4711}, {.tv_sec = 4712}};
	assert_int_equal(utimensat(AT_FDCWD, file_of(name), long_ago, 0), 0);
	const struct stat before = stat_of_file(name);
	expect_refused(name, error);
	const struct stat after = stat_of_file(name);
	assert_int_equal(after.st_mtim.tv_sec, 4712);
	assert_int_equal(after.st_ctim.tv_sec, before.st_ctim.tv_sec);
	assert_int_equal(after.st_ctim.tv_nsec, before.st_ctim.tv_nsec);
	assert_int_equal(after.st_blocks, before.st_blocks);
	assert_int_equal(after.st_size, before.st_size);
}

TEST(a_refused_file_stays_as_it_is)
{
	const char *sparse = fresh_name();
	const int fd = open(file_of(sparse), O_CREAT | O_WRONLY, 0600);
	assert_int_equal(ftruncate(fd, SEGMENT_BYTES_MAX), 0);
	refused_untouched(sparse, -EBADMSG);
	assert_int_equal(pwrite(fd, "garbage", 7, 0), 7);
	refused_untouched(sparse, -EBADMSG);
	close(fd);

	const char *name = fresh_name();
	struct segment segment = create_segment(name);
	STORE_SEQ(&segment.header->version, LAYOUT_VERSION + 1);
	refused_untouched(name, -EPROTONOSUPPORT);
	STORE_SEQ(&segment.header->version, LAYOUT_VERSION);
	STORE_SEQ(&segment.header->fingerprint, LAYOUT_FINGERPRINT + 1);
	refused_untouched(name, -EPROTONOSUPPORT);
	segment_detach(&segment);
}

/* SPDX-License-Identifier: MIT */
/* Attaching refuses what is no segment, with the right error. */
#include "fixture.h"

#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

TEST(names_that_lead_to_no_file)
{
	struct segment segment;
	assert_int_equal(segment_attach(fresh_name(), 0, &segment), -ENOENT);
	assert_int_equal(segment_attach("", 0, &segment), -EINVAL);
	assert_int_equal(segment_attach("../etc/passwd", 0, &segment), -EINVAL);
}

TEST(attached_is_the_same_memory)
{
	const char *name = fresh_name();
	struct segment one = create_segment(name);
	struct segment two;
	assert_int_equal(segment_attach(name, 0, &two), 0);
	assert_true(two.writable);
	STORE_SEQ(&one.header->capacity, 42);
	assert_int_equal(LOAD_SEQ(&two.header->capacity), 42);
	STORE_SEQ(&two.array[ARRAY_WORDS - 1], 43);
	assert_int_equal(LOAD_SEQ(&one.array[ARRAY_WORDS - 1]), 43);
	segment_detach(&one);
	segment_detach(&two);
}

TEST(only_regular_files_are_accepted)
{
	const char *name = fresh_name();
	assert_int_equal(mkdir(file_of(name), 0700), 0);
	expect_refused(name, -EBADMSG);
	assert_int_equal(rmdir(file_of(name)), 0);

	assert_int_equal(mkfifo(file_of(name), 0600), 0);
	expect_refused(name, -EBADMSG);
	assert_int_equal(unlink(file_of(name)), 0);

	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strcpy(address.sun_path, file_of(name));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	expect_refused(name, -EBADMSG);
	close(fd);
}

TEST(links_are_not_followed)
{
	char target[300];
	const char *real = fresh_name();
	const char *name = fresh_name();
	struct segment segment = create_segment(real);
	strcpy(target, file_of(real));
	assert_int_equal(symlink(target, file_of(name)), 0);
	expect_refused(name, -EBADMSG);
	segment_detach(&segment);
}

/* Any user that may write a segment may give it a second name. The owner has not chosen that name. */
TEST(segments_with_two_names_are_refused)
{
	char path[300];
	const char *real = fresh_name();
	const char *name = fresh_name();
	struct segment segment = create_segment(real);
	strcpy(path, file_of(real));
	assert_int_equal(link(path, file_of(name)), 0);
	expect_refused(name, -EMLINK);
	expect_refused(real, -EMLINK);
	struct segment other;
	assert_int_equal(segment_attach(name, SEGMENT_FOREIGN, &other), -EMLINK);
	assert_int_equal(segment_attach(name, SEGMENT_FOREIGN | SEGMENT_READ_ONLY, &other), -EMLINK);
	assert_int_equal(unlink(file_of(name)), 0);
	assert_int_equal(segment_attach(real, 0, &other), 0);
	segment_detach(&other);
	segment_detach(&segment);
}

static void
write_file(const char *name, const void *bytes, size_t length, off_t size)
{
	const int fd = open(file_of(name), O_CREAT | O_TRUNC | O_RDWR, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), (ssize_t)length);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

TEST(files_that_are_too_short_are_refused)
{
	static const off_t sizes[] = {0, 1, 8, 63, 4095, 4096, RECORDS_OFFSET, SEGMENT_BYTES_MIN - 1};
	const char *name = fresh_name();
	struct segment segment = create_segment(fresh_name());
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		/* With a valid header, as far as it fits. */
		const size_t length = sizes[i] < PAGE_BYTES ? (size_t)sizes[i] : PAGE_BYTES;
		write_file(name, segment.header, length, sizes[i]);
		expect_refused(name, -EBADMSG);
		assert_int_equal(stat_of_file(name).st_size, sizes[i]);
	}
	segment_detach(&segment);
}

TEST(files_with_other_content_are_refused)
{
	static unsigned char bytes[SEGMENT_BYTES_MIN];
	const char *name = fresh_name();
	write_file(name, bytes, sizeof(bytes), sizeof(bytes));
	expect_refused(name, -EBADMSG);
	memset(bytes, 0xff, sizeof(bytes));
	write_file(name, bytes, sizeof(bytes), sizeof(bytes));
	expect_refused(name, -EBADMSG);
	srandom(12345);
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)random();
		write_file(name, bytes, sizeof(bytes), sizeof(bytes));
		expect_refused(name, -EBADMSG);
	}
}

/* The file has the right size and no memory behind it, or memory for the header only. */
TEST(holes_are_refused_or_filled)
{
	const char *name = fresh_name();
	struct segment segment = create_segment(fresh_name());
	struct segment sparse;
	write_file(name, "", 0, SEGMENT_BYTES_MIN);
	expect_refused(name, -EBADMSG);
	write_file(name, segment.header, PAGE_BYTES, SEGMENT_BYTES_MIN);
	/* A reader allocates no memory for them. */
	assert_int_equal(segment_attach(name, SEGMENT_READ_ONLY, &sparse), 0);
	struct segment copy;
	assert_int_equal(segment_copy(&sparse, &copy), 0);
	assert_int_equal(LOAD_SEQ(&copy.records[0].owner), 0);
	assert_int_equal(stat_of_file(name).st_blocks * 512, in_pages(PAGE_BYTES));
	segment_free_copy(&copy);
	segment_detach(&sparse);
	/* A writer fills them, so they can never cause a SIGBUS. */
	assert_int_equal(segment_attach(name, 0, &sparse), 0);
	assert_int_equal(stat_of_file(name).st_blocks * 512, in_pages(SEGMENT_BYTES_MIN));
	segment_detach(&sparse);
	segment_detach(&segment);
}

TEST(headers_of_other_builds_are_refused)
{
	static const struct {
		size_t at;
		int error;
	} fields[] = {
		{offsetof(struct header, magic), -EBADMSG},
		{offsetof(struct header, magic) + 7, -EBADMSG},
		{offsetof(struct header, version), -EPROTONOSUPPORT},
		{offsetof(struct header, version) + 3, -EPROTONOSUPPORT},
		{offsetof(struct header, fingerprint), -EPROTONOSUPPORT},
		{offsetof(struct header, fingerprint) + 3, -EPROTONOSUPPORT},
	};
	struct segment segment = create_segment(fresh_name());
	const char *name = fresh_name();
	static unsigned char bytes[SEGMENT_BYTES_MIN];
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			memcpy(bytes, segment.header, sizeof(bytes));
			bytes[fields[i].at] ^= (unsigned char)(1U << bit);
			write_file(name, bytes, sizeof(bytes), sizeof(bytes));
			expect_refused(name, fields[i].error);
		}
	}
	/* Without a changed bit the same bytes are accepted. */
	memcpy(bytes, segment.header, sizeof(bytes));
	write_file(name, bytes, sizeof(bytes), sizeof(bytes));
	struct segment copy;
	assert_int_equal(segment_attach(name, 0, &copy), 0);
	segment_detach(&copy);
	segment_detach(&segment);
}

TEST(segments_of_other_users_need_a_flag)
{
	if (geteuid() != 0)
		SKIP("not root: cannot give files away");
	const char *name = fresh_name();
	struct segment segment = create_segment(name);
	segment_detach(&segment);
	assert_int_equal(chown(file_of(name), 12345, 12345), 0);
	expect_refused(name, -EPERM);
	assert_int_equal(segment_attach(name, SEGMENT_FOREIGN, &segment), 0);
	segment_detach(&segment);
	assert_int_equal(segment_attach(name, SEGMENT_FOREIGN | SEGMENT_READ_ONLY, &segment), 0);
	segment_detach(&segment);
}

static int
attach_as_other_user(void *arg)
{
	struct segment segment;
	CHECK(setgid(65534) == 0 && setuid(65534) == 0);
	/* A segment of root is refused only because of its mode. */
	CHECK(chmod(file_of(arg), 0666) != 0);
	CHECK(segment_attach(arg, 0, &segment) == -EACCES);
	CHECK(segment_attach(arg, SEGMENT_READ_ONLY, &segment) == 0);
	CHECK(!segment.writable);
	segment_detach(&segment);
	return 0;
}

TEST(modes_are_respected)
{
	if (geteuid() != 0)
		SKIP("not root: cannot become another user");
	char name[100];
	strcpy(name, fresh_name());
	struct segment segment = create_segment(name);
	assert_int_equal(chmod(file_of(name), 0644), 0);
	assert_int_equal(end_of_child(start_child(attach_as_other_user, name)), 0);
	segment_detach(&segment);
}

TEST(read_only_is_a_copy)
{
	const char *name = fresh_name();
	struct segment segment = create_segment(name);
	struct segment reader;
	struct segment copy;
	assert_int_equal(segment_attach(name, SEGMENT_READ_ONLY, &reader), 0);
	assert_false(reader.writable);
	assert_int_equal(segment_reserve(&reader, 1), -EBADMSG); /* no records are mapped */

	/* A copy has what the file contains now. What is written to the copy does not reach the file. */
	STORE_SEQ(&segment.header->capacity, 42);
	STORE_SEQ(&segment.slots[SLOTS_MAX - 1], 43);
	STORE_SEQ(&segment.records[RECORDS_PER_PAGE - 1].owner, 44);
	assert_int_equal(segment_copy(&reader, &copy), 0);
	assert_int_equal(LOAD_SEQ(&copy.header->capacity), 42);
	assert_int_equal(LOAD_SEQ(&copy.slots[SLOTS_MAX - 1]), 43);
	assert_int_equal(LOAD_SEQ(&copy.records[RECORDS_PER_PAGE - 1].owner), 44);
	STORE_SEQ(&copy.header->capacity, 1);
	STORE_SEQ(&reader.header->capacity, 1);
	assert_int_equal(LOAD_SEQ(&segment.header->capacity), 42);
	segment_free_copy(&copy);

	assert_int_equal(segment_reserve(&segment, RECORDS_MAX), 0);
	STORE_SEQ(&segment.records[RECORDS_MAX - 1].owner, 5);
	assert_int_equal(segment_copy(&reader, &copy), 0);
	assert_int_equal(LOAD_SEQ(&copy.reserved), RECORDS_MAX);
	assert_int_equal(LOAD_SEQ(&copy.records[RECORDS_MAX - 1].owner), 5);
	assert_int_equal(segment_reserve(&copy, RECORDS_MAX), 0);
	assert_int_equal(segment_reserve(&copy, RECORDS_MAX + 1), -EUSERS);
	segment_free_copy(&copy);
	segment_detach(&reader);
	segment_detach(&segment);
}

TEST(another_segment_in_the_same_file_is_damage)
{
	const char *name = fresh_name();
	struct segment segment = create_segment(name);
	struct segment reader;
	struct segment copy;
	assert_int_equal(segment_attach(name, SEGMENT_READ_ONLY, &reader), 0);
	segment.header->uuid[0] ^= 1;
	assert_int_equal(segment_copy(&reader, &copy), -EBADMSG);
	segment.header->uuid[0] ^= 1;
	STORE_SEQ(&segment.header->version, LAYOUT_VERSION + 1);
	assert_int_equal(segment_copy(&reader, &copy), -EBADMSG);
	segment_detach(&reader);
	segment_detach(&segment);
}

/* SPDX-License-Identifier: MIT */
/* Creating a segment: its file is complete, with the mode and the limits of the configuration, or does not exist. */
#include "fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

TEST(a_new_segment_is_complete)
{
	static const unsigned char no_uuid[16];
	const char *name = fresh_name();
	const mode_t mask = umask(0777);
	struct segment segment = create_segment(name);
	umask(mask);

	const struct header *header = segment.header;
	assert_int_equal(LOAD_SEQ(&header->magic), LAYOUT_MAGIC);
	assert_int_equal(LOAD_SEQ(&header->version), LAYOUT_VERSION);
	assert_int_equal(LOAD_SEQ(&header->fingerprint), LAYOUT_FINGERPRINT);
	assert_int_equal(header->permits, 3);
	assert_int_equal(header->max, 9);
	assert_int_equal(header->uid, geteuid());
	assert_in_range(header->created, time(NULL) - 60, time(NULL) + 1);
	assert_memory_not_equal(header->uuid, no_uuid, sizeof(no_uuid));
	assert_int_equal(LOAD_SEQ(&header->capacity), 3);
	assert_int_equal(LOAD_SEQ(&header->remover.owner), 0);
	assert_int_equal(LOAD_SEQ(&header->tickets), counter_word_make(0, TAG_NONE));
	assert_int_equal(LOAD_SEQ(&header->grants), counter_word_make(0, TAG_NONE));

	const struct stat st = stat_of_file(name);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_size, SEGMENT_BYTES_MIN);
	assert_in_range(st.st_size, 1, 32 * 1024);
	assert_int_equal(st.st_nlink, 1);
	segment_detach(&segment);

	struct segment other = create_segment(fresh_name());
	struct segment again;
	assert_int_equal(segment_attach(name, 0, &again), 0);
	assert_memory_not_equal(other.header->uuid, again.header->uuid, sizeof(no_uuid));
	segment_detach(&other);
	segment_detach(&again);
}

TEST(the_random_numbers_of_the_program_are_its_own)
{
	enum { SEED = 7 };
	srandom(SEED);
	const long first = random();
	srandom(SEED);
	struct segment segment = create_segment(fresh_name());
	assert_int_equal(random(), first);
	segment_detach(&segment);
}

TEST(the_mode_does_not_depend_on_the_umask)
{
	static const mode_t modes[] = {0600, 0660, 0666, 0640, 0400, 0777};
	const mode_t mask = umask(0027);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		const char *name = fresh_name();
		const struct segment_config how = {.permits = 1, .mode = modes[i]};
		struct segment segment;
		assert_int_equal(segment_create(name, &how, &segment), 0);
		assert_int_equal(stat_of_file(name).st_mode & 07777, modes[i]);
		segment_detach(&segment);
	}
	umask(mask);
}

TEST(a_name_in_use_is_refused)
{
	const char *name = fresh_name();
	struct segment segment = create_segment(name);
	STORE_SEQ(&segment.header->capacity, 77);
	const ino_t inode = stat_of_file(name).st_ino;
	struct segment other;
	memset(&other, 0, sizeof(other));
	assert_int_equal(segment_create(name, &three_of_nine, &other), -EEXIST);
	assert_int_equal(stat_of_file(name).st_ino, inode);
	assert_int_equal(LOAD_SEQ(&segment.header->capacity), 77);
	segment_detach(&segment);

	/* A dangling link uses the name, too. */
	name = fresh_name();
	assert_int_equal(symlink("/nonexistent/target", file_of(name)), 0);
	assert_int_equal(segment_create(name, &three_of_nine, &other), -EEXIST);
}

static int
count_descriptors(void)
{
	int n = 0;
	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST(failures_leave_no_descriptor)
{
	const char *name = fresh_name();
	const char *garbage = fresh_name();
	struct segment segment = create_segment(name);
	struct segment other;
	close(open(file_of(garbage), O_CREAT | O_WRONLY, 0600));
	const int before = count_descriptors();
	for (int i = 0; i < 5; i++) {
		assert_int_equal(segment_create(name, &three_of_nine, &other), -EEXIST);
		assert_int_equal(segment_attach(garbage, 0, &other), -EBADMSG);
		assert_int_equal(segment_attach("a/b", 0, &other), -EINVAL);
	}
	assert_int_equal(count_descriptors(), before);
	segment_detach(&segment);
	assert_int_equal(count_descriptors(), before - 1);
}

static int
create_with_standard_closed(void *arg)
{
	const char *name = arg;
	struct segment segment;
	for (int closed = 1; closed < 8; closed++) {
		for (int fd = 0; fd < 3; fd++) {
			if ((closed >> fd & 1) != 0)
				close(fd);
		}
		CHECK(segment_create(name, &three_of_nine, &segment) == 0);
		CHECK(segment.fd > 2);
		CHECK((fcntl(segment.fd, F_GETFD) & FD_CLOEXEC) != 0);
		segment_detach(&segment);
		CHECK(segment_attach(name, 0, &segment) == 0);
		CHECK(segment.fd > 2);
		CHECK((fcntl(segment.fd, F_GETFD) & FD_CLOEXEC) != 0);
		for (int fd = 0; fd < 3; fd++) {
			if ((closed >> fd & 1) != 0)
				CHECK(fcntl(fd, F_GETFD) < 0);
		}
		CHECK(segment_unlink(name, segment.device, segment.inode) == 0);
		segment_detach(&segment);
		for (int fd = 0; fd < 3; fd++) {
			if ((closed >> fd & 1) != 0)
				CHECK(open("/dev/null", O_RDWR) == fd);
		}
	}
	return 0;
}

TEST(segments_never_use_a_standard_descriptor)
{
	char name[100];
	strcpy(name, fresh_name());
	assert_int_equal(end_of_child(start_child(create_with_standard_closed, name)), 0);
}

/* The only descriptor that the limit leaves is a standard one, which belongs to the program. */
static int
use_with_standard_input_closed_and_no_other(void *arg)
{
	struct rlimit limit;
	struct segment segment;
	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	const rlim_t before = limit.rlim_cur;
	close(STDIN_FILENO);
	limit.rlim_cur = STDERR_FILENO + 1;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHECK(segment_attach(arg, 0, &segment) == -EMFILE);
	CHECK(fcntl(STDIN_FILENO, F_GETFD) < 0);
	CHECK(segment_create("other", &three_of_nine, &segment) == -EMFILE);
	CHECK(fcntl(STDIN_FILENO, F_GETFD) < 0);
	limit.rlim_cur = before;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	return 0;
}

TEST(without_another_descriptor_creating_fails)
{
	char name[100];
	strcpy(name, fresh_name());
	struct segment segment = create_segment(name);
	assert_int_equal(end_of_child(start_child(use_with_standard_input_closed_and_no_other, name)), 0);
	segment_detach(&segment);
}

static int
create_within_a_limit(void *arg)
{
	struct rlimit limit = {SEGMENT_BYTES_MIN - 1, RLIM_INFINITY};
	struct segment segment;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(segment_create(arg, &three_of_nine, &segment) == -EFBIG);
	CHECK(access(file_of(arg), F_OK) != 0);
	limit.rlim_cur = SEGMENT_BYTES_MIN;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(segment_create(arg, &three_of_nine, &segment) == 0);
	CHECK(segment_reserve(&segment, RECORDS_PER_PAGE + 1) == -EFBIG);
	return 0;
}

/* The limit causes no SIGXFSZ. */
TEST(a_file_size_limit_is_an_error)
{
	char name[100];
	strcpy(name, fresh_name());
	assert_int_equal(end_of_child(start_child(create_within_a_limit, name)), 0);
}

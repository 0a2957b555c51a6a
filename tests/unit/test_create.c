/* SPDX-License-Identifier: MIT */
/* The segment's file is created whole, with the mode and the limits that were asked for, or not at all. */
#include "segments.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void
a_new_segment(void **state)
{
	(void)state;
	static const unsigned char no_uuid[16];
	const char *name = fresh_name();
	const mode_t mask = umask(0777);
	struct segment segment = created(name);
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

	struct segment other = created(fresh_name());
	struct segment again;
	assert_int_equal(segment_attach(name, 0, &again), 0);
	assert_memory_not_equal(other.header->uuid, again.header->uuid, sizeof(no_uuid));
	segment_detach(&other);
	segment_detach(&again);
}

static void
modes_are_what_was_asked_for(void **state)
{
	(void)state;
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

static void
a_name_that_is_taken(void **state)
{
	(void)state;
	const char *name = fresh_name();
	struct segment segment = created(name);
	STORE_SEQ(&segment.header->capacity, 77);
	const ino_t inode = stat_of_file(name).st_ino;
	struct segment other;
	memset(&other, 0, sizeof(other));
	assert_int_equal(segment_create(name, &config, &other), -EEXIST);
	assert_int_equal(stat_of_file(name).st_ino, inode);
	assert_int_equal(LOAD_SEQ(&segment.header->capacity), 77);
	segment_detach(&segment);

	/* By anything, also by what leads nowhere. */
	name = fresh_name();
	assert_int_equal(symlink("/nonexistent/target", file_of(name)), 0);
	assert_int_equal(segment_create(name, &config, &other), -EEXIST);
}

static int
count_descriptors(void)
{
	int n = 0;
	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void
failures_leave_no_descriptor(void **state)
{
	(void)state;
	const char *name = fresh_name();
	const char *garbage = fresh_name();
	struct segment segment = created(name);
	struct segment other;
	close(open(file_of(garbage), O_CREAT | O_WRONLY, 0600));
	const int before = count_descriptors();
	for (int i = 0; i < 5; i++) {
		assert_int_equal(segment_create(name, &config, &other), -EEXIST);
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
		CHECK(segment_create(name, &config, &segment) == 0);
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
		CHECK(segment_unlink(name, &segment) == 0);
		segment_detach(&segment);
		for (int fd = 0; fd < 3; fd++) {
			if ((closed >> fd & 1) != 0)
				CHECK(open("/dev/null", O_RDWR) == fd);
		}
	}
	return 0;
}

static void
never_one_of_the_standard_descriptors(void **state)
{
	(void)state;
	char name[100];
	strcpy(name, fresh_name());
	assert_int_equal(end_of_child(start_child(create_with_standard_closed, name)), 0);
}

/* The only descriptor that the limit leaves is one that belongs to the program. */
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
	CHECK(segment_create("other", &config, &segment) == -EMFILE);
	CHECK(fcntl(STDIN_FILENO, F_GETFD) < 0);
	limit.rlim_cur = before;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	return 0;
}

static void
no_descriptor_but_a_standard_one(void **state)
{
	(void)state;
	char name[100];
	strcpy(name, fresh_name());
	struct segment segment = created(name);
	assert_int_equal(end_of_child(start_child(use_with_standard_input_closed_and_no_other, name)), 0);
	segment_detach(&segment);
}

static int
create_within_a_limit(void *arg)
{
	struct rlimit limit = {SEGMENT_BYTES_MIN - 1, RLIM_INFINITY};
	struct segment segment;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(segment_create(arg, &config, &segment) == -EFBIG);
	CHECK(access(file_of(arg), F_OK) != 0);
	limit.rlim_cur = SEGMENT_BYTES_MIN;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(segment_create(arg, &config, &segment) == 0);
	CHECK(segment_reserve(&segment, RECORDS_PER_PAGE + 1) == -EFBIG);
	return 0;
}

/* An error, not SIGXFSZ. */
static void
file_size_limits(void **state)
{
	(void)state;
	char name[100];
	strcpy(name, fresh_name());
	assert_int_equal(end_of_child(start_child(create_within_a_limit, name)), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_segment),
		cmocka_unit_test(modes_are_what_was_asked_for),
		cmocka_unit_test(a_name_that_is_taken),
		cmocka_unit_test(failures_leave_no_descriptor),
		cmocka_unit_test(never_one_of_the_standard_descriptors),
		cmocka_unit_test(no_descriptor_but_a_standard_one),
		cmocka_unit_test(file_size_limits),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

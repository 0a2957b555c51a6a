/* SPDX-License-Identifier: MIT */
/* The segment's file: created whole, attached only if it is one, growing page by page, and removed. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "segment.h"

#define CHECK(condition)               \
	do {                               \
		if (!(condition))              \
			return __LINE__ % 251 + 1; \
	} while (0)

static const struct segment_config config = {.permits = 3, .max = 9, .mode = 0600};

static struct segment
created(const char *name)
{
	struct segment segment;
	assert_int_equal(segment_create(name, &config, &segment), 0);
	return segment;
}

static struct stat
stat_of_file(const char *name)
{
	struct stat st;
	assert_int_equal(lstat(file_of(name), &st), 0);
	return st;
}

/* ---- create ---- */

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
	assert_int_equal(LOAD_SEQ(&header->tickets), word_make(0, TAG_NONE));
	assert_int_equal(LOAD_SEQ(&header->grants), word_make(0, TAG_NONE));

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

/* ---- attach ---- */

static void
nothing_there(void **state)
{
	(void)state;
	struct segment segment;
	assert_int_equal(segment_attach(fresh_name(), 0, &segment), -ENOENT);
	assert_int_equal(segment_attach("", 0, &segment), -EINVAL);
	assert_int_equal(segment_attach("../etc/passwd", 0, &segment), -EINVAL);
}

static void
attached_is_the_same_memory(void **state)
{
	(void)state;
	const char *name = fresh_name();
	struct segment one = created(name);
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

static void
refused(const char *name, int error)
{
	struct segment segment;
	assert_int_equal(segment_attach(name, 0, &segment), error);
	assert_int_equal(segment_attach(name, SEGMENT_READ_ONLY, &segment), error);
}

static void
what_is_no_file(void **state)
{
	(void)state;
	const char *name = fresh_name();
	assert_int_equal(mkdir(file_of(name), 0700), 0);
	refused(name, -EBADMSG);
	assert_int_equal(rmdir(file_of(name)), 0);

	assert_int_equal(mkfifo(file_of(name), 0600), 0);
	refused(name, -EBADMSG);
	assert_int_equal(unlink(file_of(name)), 0);

	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strcpy(address.sun_path, file_of(name));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	refused(name, -EBADMSG);
	close(fd);
}

/* Not even a link to a real segment is followed. */
static void
links_are_not_followed(void **state)
{
	(void)state;
	char target[300];
	const char *real = fresh_name();
	const char *name = fresh_name();
	struct segment segment = created(real);
	strcpy(target, file_of(real));
	assert_int_equal(symlink(target, file_of(name)), 0);
	refused(name, -EBADMSG);
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

static void
files_that_are_too_short(void **state)
{
	(void)state;
	static const off_t sizes[] = {0, 1, 8, 63, 4095, 4096, RECORDS_OFFSET, SEGMENT_BYTES_MIN - 1};
	const char *name = fresh_name();
	struct segment segment = created(fresh_name());
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		/* With a header as good as any, as far as it fits. */
		const size_t length = sizes[i] < PAGE_BYTES ? (size_t)sizes[i] : PAGE_BYTES;
		write_file(name, segment.header, length, sizes[i]);
		refused(name, -EBADMSG);
		assert_int_equal(stat_of_file(name).st_size, sizes[i]);
	}
	segment_detach(&segment);
}

static void
files_with_something_else_in_them(void **state)
{
	(void)state;
	static unsigned char bytes[SEGMENT_BYTES_MIN];
	const char *name = fresh_name();
	write_file(name, bytes, sizeof(bytes), sizeof(bytes));
	refused(name, -EBADMSG);
	memset(bytes, 0xff, sizeof(bytes));
	write_file(name, bytes, sizeof(bytes), sizeof(bytes));
	refused(name, -EBADMSG);
	srandom(12345);
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)random();
		write_file(name, bytes, sizeof(bytes), sizeof(bytes));
		refused(name, -EBADMSG);
	}
}

/* The size is right and nothing is behind it: with the header of a segment in front, or without. */
static void
files_with_holes(void **state)
{
	(void)state;
	const char *name = fresh_name();
	struct segment segment = created(fresh_name());
	struct segment sparse;
	write_file(name, "", 0, SEGMENT_BYTES_MIN);
	refused(name, -EBADMSG);
	write_file(name, segment.header, PAGE_BYTES, SEGMENT_BYTES_MIN);
	assert_int_equal(segment_attach(name, SEGMENT_READ_ONLY, &sparse), -EBADMSG);
	/* Who may write fills the holes: then they can never be a SIGBUS. */
	assert_int_equal(segment_attach(name, 0, &sparse), 0);
	assert_int_equal(stat_of_file(name).st_blocks * 512, SEGMENT_BYTES_MIN);
	segment_detach(&sparse);
	segment_detach(&segment);
}

static void
headers_of_others(void **state)
{
	(void)state;
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
	struct segment segment = created(fresh_name());
	const char *name = fresh_name();
	static unsigned char bytes[SEGMENT_BYTES_MIN];
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			memcpy(bytes, segment.header, sizeof(bytes));
			bytes[fields[i].at] ^= (unsigned char)(1U << bit);
			write_file(name, bytes, sizeof(bytes), sizeof(bytes));
			refused(name, fields[i].error);
		}
	}
	/* What was changed is all that was wrong. */
	memcpy(bytes, segment.header, sizeof(bytes));
	write_file(name, bytes, sizeof(bytes), sizeof(bytes));
	struct segment copy;
	assert_int_equal(segment_attach(name, 0, &copy), 0);
	segment_detach(&copy);
	segment_detach(&segment);
}

static void
segments_of_other_users(void **state)
{
	(void)state;
	if (geteuid() != 0)
		SKIP("not root: cannot give files away");
	const char *name = fresh_name();
	struct segment segment = created(name);
	segment_detach(&segment);
	assert_int_equal(chown(file_of(name), 12345, 12345), 0);
	refused(name, -EPERM);
	assert_int_equal(segment_attach(name, SEGMENT_FOREIGN, &segment), 0);
	segment_detach(&segment);
	assert_int_equal(segment_attach(name, SEGMENT_FOREIGN | SEGMENT_READ_ONLY, &segment), 0);
	segment_detach(&segment);
}

static int
attach_as_nobody(void *arg)
{
	struct segment segment;
	CHECK(setgid(65534) == 0 && setuid(65534) == 0);
	/* root's own are nobody's to refuse, but for the mode */
	CHECK(chmod(file_of(arg), 0666) != 0);
	CHECK(segment_attach(arg, 0, &segment) == -EACCES);
	CHECK(segment_attach(arg, SEGMENT_READ_ONLY, &segment) == 0);
	CHECK(!segment.writable);
	segment_detach(&segment);
	return 0;
}

static void
modes_are_respected(void **state)
{
	(void)state;
	if (geteuid() != 0)
		SKIP("not root: cannot become another user");
	char name[100];
	strcpy(name, fresh_name());
	struct segment segment = created(name);
	assert_int_equal(chmod(file_of(name), 0644), 0);
	assert_int_equal(end_of_child(start_child(attach_as_nobody, name)), 0);
	segment_detach(&segment);
}

static int
write_to_the_first_word(void *arg)
{
	const struct segment *segment = arg;
	STORE_SEQ(&segment->header->capacity, 1);
	return 0;
}

static void
read_only_is_read_only(void **state)
{
	(void)state;
	const char *name = fresh_name();
	struct segment segment = created(name);
	struct segment reader;
	assert_int_equal(segment_attach(name, SEGMENT_READ_ONLY, &reader), 0);
	assert_false(reader.writable);
	assert_int_equal(LOAD_SEQ(&reader.header->capacity), 3);
	const int status = end_of_child(start_child(write_to_the_first_word, &reader));
	assert_int_not_equal(status, 0); /* SIGSEGV, or what a sanitizer makes of it */
	assert_int_equal(LOAD_SEQ(&segment.header->capacity), 3);

	/* It cannot make pages, but sees those that somebody made. */
	assert_int_equal(segment_reserve(&reader, RECORDS_PER_PAGE + 1), -EBADMSG);
	assert_int_equal(segment_reserve(&segment, RECORDS_PER_PAGE + 1), 0);
	assert_int_equal(segment_reserve(&reader, RECORDS_PER_PAGE + 1), 0);
	STORE_SEQ(&segment.records[RECORDS_PER_PAGE].who, 5);
	assert_int_equal(LOAD_SEQ(&reader.records[RECORDS_PER_PAGE].who), 5);
	segment_detach(&reader);
	segment_detach(&segment);
}

/* ---- grow ---- */

static void
it_grows_page_by_page(void **state)
{
	(void)state;
	const char *name = fresh_name();
	struct segment segment = created(name);
	assert_int_equal(LOAD_SEQ(&segment.reserved), RECORDS_PER_PAGE);
	assert_int_equal(segment_reserve(&segment, RECORDS_PER_PAGE), 0);
	assert_int_equal(stat_of_file(name).st_size, SEGMENT_BYTES_MIN);

	assert_int_equal(segment_reserve(&segment, RECORDS_PER_PAGE + 1), 0);
	assert_int_equal(LOAD_SEQ(&segment.reserved), 2 * RECORDS_PER_PAGE);
	assert_int_equal(stat_of_file(name).st_size, SEGMENT_BYTES_MIN + PAGE_BYTES);

	assert_int_equal(segment_reserve(&segment, 10 * RECORDS_PER_PAGE), 0);
	const struct stat st = stat_of_file(name);
	assert_int_equal(st.st_size, SEGMENT_BYTES_MIN + 9 * PAGE_BYTES);
	assert_int_equal(st.st_blocks * 512, st.st_size);

	assert_int_equal(segment_reserve(&segment, RECORDS_MAX), 0);
	assert_int_equal(LOAD_SEQ(&segment.reserved), RECORDS_MAX);
	STORE_SEQ(&segment.records[RECORDS_MAX - 1].what, 1);
	assert_int_equal(stat_of_file(name).st_size, SEGMENT_BYTES_MAX);

	assert_int_equal(segment_reserve(&segment, RECORDS_MAX + 1), -EBADMSG);
	assert_int_equal(segment_reserve(&segment, UINT32_MAX), -EBADMSG);
	assert_int_equal(stat_of_file(name).st_size, SEGMENT_BYTES_MAX);
	segment_detach(&segment);
}

/* Somebody else grew it: what is there is kept. */
static void
growing_keeps_what_is_there(void **state)
{
	(void)state;
	const char *name = fresh_name();
	struct segment one = created(name);
	struct segment two;
	assert_int_equal(segment_attach(name, 0, &two), 0);
	assert_int_equal(segment_reserve(&one, 3 * RECORDS_PER_PAGE), 0);
	STORE_SEQ(&one.records[RECORDS_PER_PAGE].who, 11);
	STORE_SEQ(&one.records[3 * RECORDS_PER_PAGE - 1].who, 12);
	assert_int_equal(segment_reserve(&two, 2 * RECORDS_PER_PAGE), 0);
	assert_int_equal(LOAD_SEQ(&two.records[RECORDS_PER_PAGE].who), 11);
	assert_int_equal(segment_reserve(&two, 3 * RECORDS_PER_PAGE), 0);
	assert_int_equal(LOAD_SEQ(&two.records[3 * RECORDS_PER_PAGE - 1].who), 12);
	assert_int_equal(stat_of_file(name).st_size, SEGMENT_BYTES_MIN + 2 * PAGE_BYTES);
	segment_detach(&one);
	segment_detach(&two);
}

/* ---- the descriptor ---- */

/* A program that closes every descriptor it does not know must not see its own files closed or grown by us. */
static void
a_descriptor_that_became_another_file(void **state)
{
	(void)state;
	const char *name = fresh_name();
	const char *other = fresh_name();
	struct segment segment = created(name);
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
	assert_int_equal(fcntl(number, F_GETFD), 0); /* still open, and without FD_CLOEXEC as we opened it */
	close(number);
}

/* ---- unlink ---- */

static void
unlinking(void **state)
{
	(void)state;
	const char *name = fresh_name();
	struct segment segment = created(name);
	assert_false(segment_is_unlinked(&segment));
	assert_int_equal(segment_unlink(name, &segment), 0);
	assert_true(segment_is_unlinked(&segment));
	assert_int_equal(access(file_of(name), F_OK), -1);
	assert_int_equal(segment_unlink(name, &segment), -ENOENT);

	/* The name leads to another one by now. */
	struct segment other = created(name);
	assert_int_equal(segment_unlink(name, &segment), -ENOENT);
	assert_int_equal(access(file_of(name), F_OK), 0);
	assert_false(segment_is_unlinked(&other));
	assert_int_equal(segment_unlink_any(name), 0);
	assert_true(segment_is_unlinked(&other));
	assert_int_equal(segment_unlink_any(name), -ENOENT);
	assert_int_equal(segment_unlink_any("a/b"), -EINVAL);
	assert_int_equal(segment_unlink("a/b", &other), -EINVAL);
	segment_detach(&segment);
	segment_detach(&other);
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
		cmocka_unit_test(file_size_limits),
		cmocka_unit_test(nothing_there),
		cmocka_unit_test(attached_is_the_same_memory),
		cmocka_unit_test(what_is_no_file),
		cmocka_unit_test(links_are_not_followed),
		cmocka_unit_test(files_that_are_too_short),
		cmocka_unit_test(files_with_something_else_in_them),
		cmocka_unit_test(files_with_holes),
		cmocka_unit_test(headers_of_others),
		cmocka_unit_test(segments_of_other_users),
		cmocka_unit_test(modes_are_respected),
		cmocka_unit_test(read_only_is_read_only),
		cmocka_unit_test(it_grows_page_by_page),
		cmocka_unit_test(growing_keeps_what_is_there),
		cmocka_unit_test(a_descriptor_that_became_another_file),
		cmocka_unit_test(unlinking),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

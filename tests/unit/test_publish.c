/* SPDX-License-Identifier: MIT */
/*
 * Creating a segment where the usual system calls fail: on file systems without unnamed files, on kernels that cannot
 * name them, and without /proc. A seccomp filter makes these calls fail. It cannot be removed, so each test uses a
 * child.
 */
#include "fixture.h"
#include "stop.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REFUSED_HERE = 77 };

#define UNNAMED ((unsigned)O_TMPFILE & ~(unsigned)O_DIRECTORY)

/* A system call that fails if its flags have one of these bits. */
struct barrier {
	unsigned number;
	unsigned argument; /* the number of the argument with the flags */
	unsigned flags;
	int error;
};

struct barred {
	const char *name;
	struct barrier barriers[2];
	int error; /* that creating fails with */
};

/* The number of the system call that open() makes, and of its argument. */
#if defined(__GLIBC__) || !defined(SYS_open)
#define OPEN_AND_FLAGS SYS_openat, 2
#else
#define OPEN_AND_FLAGS SYS_open, 1
#endif

enum { REPLACE_NOTHING = 1 }; /* RENAME_NOREPLACE */

/* The lower half of an argument, on either byte order. */
static unsigned
offset_of_argument(unsigned argument)
{
	const unsigned one = 1;
	const unsigned high = *(const unsigned char *)&one == 1 ? 0 : 4;
	return (unsigned)offsetof(struct seccomp_data, args) + 8 * argument + high;
}

static bool
bar(const struct barrier barriers[2])
{
	struct sock_filter filter[16];
	unsigned short n = 0;
	for (int i = 0; i < 2; i++) {
		const struct barrier *b = &barriers[i];
		if (b->error == 0)
			continue;
		const struct sock_filter block[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, b->number, 0, 3),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(b->argument)),
			BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, b->flags, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)b->error),
		};
		memcpy(&filter[n], block, sizeof(block));
		n = (unsigned short)(n + sizeof(block) / sizeof(block[0]));
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = {.len = n, .filter = filter};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* The number of names in /dev/shm that lead to this file. */
static int
count_names(ino_t inode)
{
	int n = 0;
	DIR *directory = opendir("/dev/shm");
	if (directory == NULL)
		return -1;
	for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
		n += entry->d_ino == inode;
	closedir(directory);
	return n;
}

static int
create_behind_barriers(void *arg)
{
	const struct barred *barred = arg;
	struct segment segment;
	struct segment other;
	struct stat st;
	if (!bar(barred->barriers))
		return REFUSED_HERE;
	CHECK(segment_create(barred->name, &three_of_nine, &segment) == 0);
	CHECK(segment.fd > 2 && (fcntl(segment.fd, F_GETFD) & FD_CLOEXEC) != 0);
	CHECK(fstat(segment.fd, &st) == 0);
	CHECK(st.st_mode == (S_IFREG | 0600) && st.st_size == (off_t)SEGMENT_BYTES_MIN);
	CHECK(count_names(st.st_ino) == 1); /* its only name */
	CHECK(st.st_nlink == 1);
	CHECK(segment_attach(barred->name, 0, &other) == 0);
	CHECK(other.inode == segment.inode);
	segment_detach(&other);
	CHECK(segment_create(barred->name, &three_of_nine, &other) == -EEXIST);
	CHECK(fstat(segment.fd, &st) == 0 && st.st_nlink == 1);
	segment_detach(&segment);
	return 0;
}

static void
expect_created(const struct barrier *first, const struct barrier *second)
{
	struct barred barred = {.name = fresh_name(), .barriers = {*first, *second}};
	const int status = end_of_child(start_child(create_behind_barriers, &barred));
	if (status == REFUSED_HERE)
		SKIP("seccomp filters are refused here");
	assert_int_equal(status, 0);
}

static const struct barrier none;

TEST(created_without_unnamed_files)
{
	static const int errors[] = {EOPNOTSUPP, EISDIR}; /* from the file system, and from an old kernel */
	for (size_t i = 0; i < 2; i++) {
		const struct barrier unnamed = {OPEN_AND_FLAGS, UNNAMED, errors[i]};
		expect_created(&unnamed, &none);
	}
}

TEST(created_without_the_right_to_name_a_descriptor)
{
	static const int errors[] = {ENOENT, EPERM, EINVAL};
	for (size_t i = 0; i < 3; i++) {
		const struct barrier by_descriptor = {SYS_linkat, 4, AT_EMPTY_PATH, errors[i]};
		expect_created(&by_descriptor, &none);
	}
}

TEST(created_without_proc)
{
	static const int errors[] = {ENOENT, EPERM};
	for (size_t i = 0; i < 2; i++) {
		const struct barrier by_descriptor = {SYS_linkat, 4, AT_EMPTY_PATH, ENOENT};
		const struct barrier through_proc = {SYS_linkat, 4, AT_SYMLINK_FOLLOW, errors[i]};
		expect_created(&by_descriptor, &through_proc);
	}
}

/* The error is returned, and no file stays. */
static int
fail_to_create(void *arg)
{
	const struct barred *barred = arg;
	struct segment segment;
	if (!bar(barred->barriers))
		return REFUSED_HERE;
	CHECK(segment_create(barred->name, &three_of_nine, &segment) == -barred->error);
	return access(file_of(barred->name), F_OK) == 0;
}

TEST(where_creating_is_forbidden_no_file_is_left)
{
	static const struct barred ways[] = {
		{.barriers = {{OPEN_AND_FLAGS, UNNAMED, EOPNOTSUPP}, {OPEN_AND_FLAGS, O_EXCL, EACCES}}, .error = EACCES},
		{.barriers = {{SYS_linkat, 4, AT_EMPTY_PATH, ENOENT}, {SYS_linkat, 4, AT_SYMLINK_FOLLOW, EACCES}},
	     .error = EACCES},
		{.barriers = {{OPEN_AND_FLAGS, UNNAMED, EOPNOTSUPP}, {SYS_renameat2, 4, REPLACE_NOTHING, EACCES}},
	     .error = EACCES},
		{.barriers = {{OPEN_AND_FLAGS, UNNAMED, EOPNOTSUPP}, {SYS_renameat2, 4, REPLACE_NOTHING, ENOSYS}},
	     .error = EOPNOTSUPP},
		{.barriers = {{OPEN_AND_FLAGS, UNNAMED, EOPNOTSUPP}, {SYS_renameat2, 4, REPLACE_NOTHING, EINVAL}},
	     .error = EOPNOTSUPP},
		{.barriers = {{OPEN_AND_FLAGS, UNNAMED, EOPNOTSUPP}, {SYS_renameat2, 4, REPLACE_NOTHING, EPERM}},
	     .error = EOPNOTSUPP},
	};
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct barred barred = ways[i];
		barred.name = fresh_name();
		const int status = end_of_child(start_child(fail_to_create, &barred));
		if (status == REFUSED_HERE)
			SKIP("seccomp filters are refused here");
		assert_int_equal(status, 0);
	}
}

/* ---- a creator that is stopped or killed before the file has its name ---- */

static const struct barrier no_unnamed_files = {OPEN_AND_FLAGS, UNNAMED, EOPNOTSUPP};

static const long publish_numbers[] = {
	SYS_renameat2,
	SYS_linkat,
};
static const struct calls publishing = {publish_numbers, sizeof(publish_numbers) / sizeof(publish_numbers[0])};

static int
create_stopped(void *arg)
{
	const struct barred *barred = arg;
	struct segment segment;
	CHECK(let_parent_stop());
	if (!bar(barred->barriers))
		return REFUSED_HERE;
	return segment_create(barred->name, &three_of_nine, &segment) != 0;
}

/* The path of the file with a temporary name that the process has open. */
static void
find_temporary(pid_t pid, char path[300])
{
	char link[64];
	for (int fd = 3; fd < 64; fd++) {
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, fd);
		const ssize_t length = readlink(link, path, 299);
		path[length > 0 ? length : 0] = '\0';
		if (strncmp(path, "/dev/shm/.tsem.", 15) == 0)
			return;
	}
	fail_msg("no file with a temporary name is open");
}

/* Another process of the same user creates a segment. */
static void
create_another(void)
{
	struct barred barred = {.name = fresh_name(), .barriers = {no_unnamed_files}};
	assert_int_equal(end_of_child(start_child(create_behind_barriers, &barred)), 0);
}

TEST(the_next_creator_removes_what_a_killed_one_left)
{
	SKIP_UNDER_SANITIZER();
	char temporary[300];
	struct barred barred = {.name = fresh_name(), .barriers = {no_unnamed_files}};
	const pid_t pid = start_stopped(create_stopped, &barred);
	run_until(pid, &publishing, AT_ENTRY);
	find_temporary(pid, temporary);
	create_another();
	assert_int_equal(access(temporary, F_OK), 0); /* its creator is alive */
	kill_child(pid);
	assert_int_equal(access(temporary, F_OK), 0);
	create_another();
	assert_int_equal(access(temporary, F_OK), -1);
	assert_int_equal(access(file_of(barred.name), F_OK), -1);
}

TEST(a_file_has_one_name_at_every_instant)
{
	SKIP_UNDER_SANITIZER();
	struct barred barred = {.name = fresh_name(), .barriers = {no_unnamed_files}};
	const pid_t pid = start_stopped(create_stopped, &barred);
	run_until(pid, &publishing, AT_EXIT);
	assert_int_equal(stat_of_file(barred.name).st_nlink, 1);
	detach(pid);
	assert_int_equal(end_of_child(pid), 0);
}

/* SPDX-License-Identifier: MIT */
/* tsem_create, tsem_open, tsem_remove: all their errors, and that a failure does not change the outputs. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct tsem_config three = {.size = sizeof(three), .permits = 3};

/* ---- create ---- */

TEST(create_and_open)
{
	const char *name = fresh_name();
	tsem *one = NULL;
	tsem *two = NULL;
	assert_int_equal(tsem_create(name, &three, &one), 0);
	assert_int_equal(tsem_open(name, 0, &two), 0);
	assert_int_equal(tsem_take(one, 2, NULL), 0);
	assert_int_equal(stat_of(two).available, 1);
	assert_int_equal(tsem_post(two, 2, NULL), 0);
	assert_int_equal(stat_of(one).available, 3);
	tsem_close(one);
	tsem_close(two);
	tsem_close(NULL);
}

TEST(create_without_opening)
{
	const char *name = fresh_name();
	assert_int_equal(tsem_create(name, &three, NULL), 0);
	assert_int_equal(tsem_create(name, &three, NULL), -EEXIST);
	tsem *sem = open_semaphore(name);
	assert_int_equal(stat_of(sem).permits, 3);
	tsem_close(sem);
}

TEST(create_an_existing_semaphore)
{
	const char *name = fresh_name();
	struct tsem_config config = three;
	tsem *const untouched = (tsem *)&config;
	tsem *sem = untouched;
	assert_int_equal(tsem_create(name, &three, NULL), 0);
	assert_int_equal(tsem_create(name, &three, &sem), -EEXIST);
	assert_ptr_equal(sem, untouched);

	config.flags = TSEM_EXIST_OK;
	assert_int_equal(tsem_create(name, &config, &sem), 0);
	assert_ptr_not_equal(sem, untouched);
	tsem_close(sem);
	sem = untouched;
	config.permits = 4;
	assert_int_equal(tsem_create(name, &config, &sem), -EEXIST);
	assert_ptr_equal(sem, untouched);
	const char *other = fresh_name();
	assert_int_equal(tsem_create(other, &config, &sem), 0);
	assert_int_equal(stat_of(sem).permits, 4);
	tsem_close(sem);
}

/* TSEM_EXIST_OK accepts the creator's number and the capacity; of a drained semaphore the creator's number only. */
TEST(create_an_existing_semaphore_of_another_capacity)
{
	static const struct {
		uint32_t capacity;
		uint32_t permits;
		int rc;
	} cases[] = {{5, 3, 0}, {5, 5, 0}, {5, 4, -EEXIST}, {5, 0, -EEXIST}, {0, 3, 0}, {0, 0, -EEXIST}, {0, 5, -EEXIST}};
	const char *name = fresh_name();
	tsem *sem;
	assert_int_equal(tsem_create(name, &three, &sem), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct tsem_config config = {.size = sizeof(config), .permits = cases[i].permits, .flags = TSEM_EXIST_OK};
		assert_int_equal(tsem_set(sem, cases[i].capacity), 0);
		assert_int_equal(tsem_create(name, &config, NULL), cases[i].rc);
	}
	tsem_close(sem);
}

TEST(create_with_bad_arguments)
{
	static const struct tsem_config bad[] = {
		{.size = 0, .permits = 1},
		{.size = offsetof(struct tsem_config, group) - 1, .permits = 1},
		{.size = 4097, .permits = 1},
		{.size = sizeof(struct tsem_config), .permits = 3, .max = 2},
		{.size = sizeof(struct tsem_config), .permits = 1, .mode = 01600},
		{.size = sizeof(struct tsem_config), .permits = 1, .mode = S_IFREG | 0600},
		{.size = sizeof(struct tsem_config), .permits = 1, .flags = TSEM_FORCE},
		{.size = sizeof(struct tsem_config), .permits = 1, .flags = TSEM_READ_ONLY},
		{.size = sizeof(struct tsem_config), .permits = 1, .flags = 1U << 31},
	};
	const char *name = fresh_name();
	tsem *const untouched = (tsem *)&three;
	tsem *sem = untouched;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(tsem_create(name, &bad[i], &sem), -EINVAL);
	assert_int_equal(tsem_create("", &three, &sem), -EINVAL);
	assert_int_equal(tsem_create(".x", &three, &sem), -EINVAL);
	assert_int_equal(tsem_create("a/b", &three, &sem), -EINVAL);

	char longest[202];
	memset(longest, 'x', sizeof(longest));
	longest[201] = '\0';
	assert_int_equal(tsem_create(longest, &three, &sem), -ENAMETOOLONG);
	assert_int_equal(tsem_open(longest, 0, &sem), -ENAMETOOLONG);
	assert_int_equal(tsem_remove(longest, 0), -ENAMETOOLONG);
	assert_ptr_equal(sem, untouched);
	assert_int_equal(access(file_of(name), F_OK), -1);
}

TEST(modes_and_limits)
{
	const char *name = fresh_name();
	const struct tsem_config config = {.size = sizeof(config), .permits = UINT32_MAX, .max = UINT32_MAX, .mode = 0662};
	const mode_t mask = umask(0077);
	tsem *sem = NULL;
	assert_int_equal(tsem_create(name, &config, &sem), 0);
	umask(mask);
	const struct tsem_stat stat = stat_of(sem);
	assert_int_equal(stat.mode, 0662);
	assert_int_equal(stat.permits, UINT32_MAX);
	assert_int_equal(stat.max, UINT32_MAX);
	tsem_close(sem);
	sem = new_semaphore(1, 0);
	assert_int_equal(stat_of(sem).mode, 0600);
	tsem_close(sem);
}

TEST(the_mode_by_the_umask)
{
	static const mode_t modes[] = {0666, 0777, 0600, 0};
	const mode_t mask = umask(0027);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		const struct tsem_config config = {.size = sizeof(config), .permits = 1, .mode = modes[i], .flags = TSEM_UMASK};
		tsem *sem = NULL;
		assert_int_equal(tsem_create(fresh_name(), &config, &sem), 0);
		assert_int_equal(stat_of(sem).mode, modes[i] & ~(mode_t)0027);
		tsem_close(sem);
	}
	umask(mask);
}

static int
without_descriptors(void *arg)
{
	tsem *sem = NULL;
	const struct rlimit few = {3, 3};
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	CHECK(tsem_create(fresh_name(), &three, &sem) == -EMFILE);
	CHECK(tsem_open(arg, 0, &sem) == -EMFILE);
	CHECK(sem == NULL);
	return 0;
}

static int
with_small_files_only(void *arg)
{
	(void)arg;
	tsem *sem = NULL;
	struct rlimit limit;
	CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	const struct rlimit small = {.rlim_cur = 1000, .rlim_max = limit.rlim_max};
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	CHECK(tsem_create(fresh_name(), &three, &sem) == -EFBIG);
	CHECK(sem == NULL);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0); /* a coverage build writes its counts to a file */
	return 0;
}

TEST(limits_of_the_process)
{
	char name[100];
	strcpy(name, fresh_name());
	assert_int_equal(tsem_create(name, &three, NULL), 0);
	assert_int_equal(end_of_child(start_child(without_descriptors, name)), 0);
	assert_int_equal(end_of_child(start_child(with_small_files_only, NULL)), 0);
}

/* ---- open ---- */

TEST(open_a_missing_semaphore)
{
	tsem *const untouched = (tsem *)&three;
	tsem *sem = untouched;
	assert_int_equal(tsem_open(fresh_name(), 0, &sem), -ENOENT);
	assert_int_equal(tsem_open("-x", 0, &sem), -EINVAL);
	assert_int_equal(tsem_open(fresh_name(), TSEM_FORCE, &sem), -EINVAL);
	assert_int_equal(tsem_open(fresh_name(), 1U << 20, &sem), -EINVAL);
	assert_ptr_equal(sem, untouched);
}

static void
write_byte(const char *name, off_t at, unsigned char byte)
{
	const int fd = open(file_of(name), O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

TEST(open_a_file_that_is_no_semaphore)
{
	const char *name = fresh_name();
	tsem *sem = NULL;
	struct tsem_config exist_ok = three;
	exist_ok.flags = TSEM_EXIST_OK;
	assert_int_equal(tsem_create(name, &three, NULL), 0);
	write_byte(name, 8, 0xee); /* the version */
	assert_int_equal(tsem_open(name, 0, &sem), -EPROTONOSUPPORT);
	assert_int_equal(tsem_create(name, &exist_ok, &sem), -EPROTONOSUPPORT);
	assert_int_equal(tsem_remove(name, 0), -EPROTONOSUPPORT);
	write_byte(name, 0, 0xee); /* the magic number */
	assert_int_equal(tsem_open(name, 0, &sem), -EBADMSG);
	assert_int_equal(tsem_create(name, &exist_ok, &sem), -EBADMSG);
	assert_int_equal(tsem_remove(name, 0), -EBADMSG);
	assert_null(sem);
	assert_int_equal(tsem_remove(name, TSEM_FORCE), 0);
	assert_int_equal(tsem_open(name, 0, &sem), -ENOENT);
}

static int
open_as_nobody(void *arg)
{
	tsem *sem = NULL;
	CHECK(setgid(65534) == 0 && setuid(65534) == 0);
	CHECK(tsem_open(arg, 0, &sem) == -EACCES);
	CHECK(tsem_open(arg, TSEM_READ_ONLY, &sem) == -EACCES);
	CHECK(sem == NULL);
	return 0;
}

TEST(open_another_users_semaphore)
{
	if (geteuid() != 0)
		SKIP("not root: cannot play two users");
	char name[100];
	strcpy(name, fresh_name());
	tsem *sem = NULL;
	assert_int_equal(tsem_create(name, &three, NULL), 0);
	assert_int_equal(end_of_child(start_child(open_as_nobody, name)), 0);
	assert_int_equal(chown(file_of(name), 12345, 12345), 0);
	assert_int_equal(tsem_open(name, 0, &sem), -EPERM);
	assert_int_equal(tsem_remove(name, 0), -EPERM);
	assert_null(sem);
	assert_int_equal(tsem_open(name, TSEM_FOREIGN, &sem), 0);
	assert_int_equal(stat_of(sem).uid, 12345);
	tsem_close(sem);
	assert_int_equal(tsem_remove(name, TSEM_FOREIGN), 0);
}

static int
change_access_as_nobody(void *sem)
{
	CHECK(setgid(65534) == 0 && setuid(65534) == 0);
	CHECK(tsem_set_access(sem, 0600, (gid_t)-1) == -EPERM);
	CHECK(tsem_set_access(sem, 0, 65534) == -EPERM);
	return 0;
}

TEST(mode_and_group)
{
	const gid_t other = geteuid() == 0 ? 12345 : getegid();
	const struct tsem_config config = {
		.size = sizeof(config), .permits = 1, .mode = 0640, .flags = TSEM_GROUP, .group = other};
	tsem *sem;
	assert_int_equal(tsem_create(fresh_name(), &config, &sem), 0);
	assert_int_equal(stat_of(sem).mode, 0640);
	assert_int_equal(stat_of(sem).gid, other);
	assert_int_equal(tsem_set_access(sem, 0, getegid()), 0);
	assert_int_equal(tsem_set_access(sem, 0604, (gid_t)-1), 0);
	assert_int_equal(stat_of(sem).mode, 0604);
	assert_int_equal(stat_of(sem).gid, getegid());
	assert_int_equal(tsem_set_access(sem, 01600, other), -EINVAL);
	if (geteuid() == 0)
		assert_int_equal(end_of_child(start_child(change_access_as_nobody, sem)), 0);
	assert_int_equal(stat_of(sem).mode, 0604);
	assert_int_equal(stat_of(sem).gid, getegid());
	tsem_close(sem);
}

static int
create_in_the_group_of_root(void *name)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = 1, .flags = TSEM_GROUP};
	CHECK(setgid(65534) == 0 && setuid(65534) == 0);
	CHECK(tsem_create(name, &config, NULL) == -EPERM);
	return 0;
}

TEST(a_group_that_is_refused)
{
	if (geteuid() != 0)
		SKIP("not root: cannot play another user");
	tsem *sem;
	const char *name = fresh_name();
	assert_int_equal(end_of_child(start_child(create_in_the_group_of_root, (void *)(uintptr_t)name)), 0);
	assert_int_equal(tsem_open(name, 0, &sem), -ENOENT);
}

TEST(read_only_handles_change_nothing)
{
	const char *name = fresh_name();
	tsem *sem = NULL;
	tsem_hold hold;
	uint32_t number = 99;
	assert_int_equal(tsem_create(name, &three, NULL), 0);
	assert_int_equal(tsem_open(name, TSEM_READ_ONLY, &sem), 0);
	assert_int_equal(tsem_take(sem, 1, NULL), -EPERM);
	assert_int_equal(tsem_try_take(sem, 1), -EPERM);
	assert_int_equal(tsem_post(sem, 1, &number), -EPERM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EPERM);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EPERM);
	assert_int_equal(tsem_recover(sem, &number), -EPERM);
	assert_int_equal(tsem_release_for(sem, getpid()), -EPERM);
	assert_int_equal(number, 99);
	assert_int_equal(stat_of(sem).available, 3);
	tsem_close(sem);
}

/* SPDX-License-Identifier: MIT */
/*
 * sem_open(), sem_close() and sem_unlink(); named semaphores across fork() and exec(); and semaphores of sem_init(), which
 * stay libc's. What is quoted is POSIX.1-2017, or a page of the Linux man-pages where it says so.
 */
#include "posix_support.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <grp.h>
#include <sched.h>
#include <unistd.h>

static const char *
posix_file_of(const char *posix)
{
	return file_of(tsem_name_of(posix));
}

/* ---- the program, executed once more ---- */

/* What it does: its exit status is 0 or a line's. Names end with a null pointer. */
static int
use_by_name(char *names[])
{
	sem_t *sem = sem_open(names[0], 0);
	CHECK(sem != SEM_FAILED);
	CHECK(value_of(sem) == 3);
	CHECK(sem_post(sem) == 0);
	CHECK(sem_close(sem) == 0);
	return 0;
}

/* Whether a line of the file /proc/self/maps, or an open descriptor, names the semaphore. */
static bool
is_mapped(const char *posix)
{
	char line[600];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		found = found || strstr(line, posix + 1) != NULL;
	return maps == NULL || fclose(maps) != 0 || found;
}

static bool
has_descriptor(const char *posix)
{
	for (int fd = 0; fd < 1024; fd++) {
		char path[64];
		char target[600] = "";
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, posix + 1) != NULL)
			return true;
	}
	return false;
}

static int
expect_nothing_open(char *names[])
{
	for (; *names != NULL; names++)
		CHECK(!is_mapped(*names) && !has_descriptor(*names));
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		return run_all_tests(110);
	alarm(60);
	return strcmp(argv[1], "use") == 0 ? use_by_name(argv + 2) : expect_nothing_open(argv + 2);
}

struct execution {
	const char *role;
	const char *names[3];
};

static int
execute(void *arg)
{
	const struct execution *execution = arg;
	char role[16];
	char names[2][80] = {"", ""};
	char *arguments[] = {role, role, names[0], execution->names[1] != NULL ? names[1] : NULL, NULL};
	snprintf(role, sizeof(role), "%s", execution->role);
	for (int i = 0; i < 2 && execution->names[i] != NULL; i++)
		snprintf(names[i], sizeof(names[i]), "%s", execution->names[i]);
	execv("/proc/self/exe", arguments);
	return 99;
}

/* ---- what is tested ---- */

TEST(the_functions_are_those_of_this_library)
{
	static const char *const functions[] = {"sem_open",      "sem_close",   "sem_unlink",
	                                        "sem_wait",      "sem_trywait", "sem_timedwait",
	                                        "sem_clockwait", "sem_post",    "sem_getvalue"};
	if (UNDER_SANITIZER)
		SKIP("the sanitizer's functions come first");
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		Dl_info info;
		void *function = dlsym(RTLD_DEFAULT, functions[i]);
		assert_non_null(function);
		assert_true(dladdr(function, &info) != 0);
		if (strstr(info.dli_fname, "libtsem-posix.so") == NULL)
			fail_msg("%s() is from %s", functions[i], info.dli_fname);
	}
}

/* ---- creation ---- */

TEST(it_is_created_with_its_value)
{
	static const unsigned values[] = {0, 1, 2, 255, 65536, (unsigned)SEM_VALUE_MAX - 1, (unsigned)SEM_VALUE_MAX};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const char *name = fresh_posix_name();
		/* "This flag is used to create a semaphore if it does not already exist." */
		sem_t *sem = sem_open(name, O_CREAT, 0600, values[i]);
		/* "No successful return from sem_open() shall return the value SEM_FAILED." */
		assert_ptr_not_equal(sem, SEM_FAILED);
		/* "The semaphore is created with an initial value of value." */
		assert_int_equal(value_of(sem), values[i]);
		assert_int_equal(sem_close(sem), 0);
		assert_int_equal(sem_unlink(name), 0);
	}
}

TEST(a_value_above_the_highest_is_refused)
{
	static const unsigned values[] = {(unsigned)SEM_VALUE_MAX + 1U, UINT_MAX - 1, UINT_MAX};
	const char *name = fresh_posix_name();
	/* "[EINVAL] [...] O_CREAT was specified in oflag and value was greater than {SEM_VALUE_MAX}." */
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		EXPECT_OPEN_ERROR(EINVAL, sem_open(name, O_CREAT, 0600, values[i]));
		EXPECT_OPEN_ERROR(EINVAL, sem_open(name, O_CREAT | O_EXCL, 0600, values[i]));
	}
	EXPECT_OPEN_ERROR(ENOENT, sem_open(name, 0));
}

TEST(creating_one_that_exists_opens_it)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 3);
	struct stat before, after;
	assert_int_equal(stat(posix_file_of(name), &before), 0);
	/* "If O_CREAT is set and the semaphore already exists, then O_CREAT has no effect, except as noted under O_EXCL." */
	sem_t *same = sem_open(name, O_CREAT, 0666, 7);
	assert_ptr_equal(same, sem);
	/* sem_open(3): "If O_CREAT is specified, and a semaphore [...] already exists, then mode and value are ignored." */
	assert_int_equal(value_of(same), 3);
	assert_int_equal(stat(posix_file_of(name), &after), 0);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(sem_close(sem), 0);
	assert_int_equal(sem_close(same), 0);
	/* The same, when no process has it open. */
	same = sem_open(name, O_CREAT, 0666, 7);
	assert_ptr_not_equal(same, SEM_FAILED);
	assert_int_equal(value_of(same), 3);
	assert_int_equal(sem_close(same), 0);
}

TEST(exclusive_creation_fails_if_it_exists)
{
	const char *name = fresh_posix_name();
	sem_t *sem = sem_open(name, O_CREAT | O_EXCL, 0600, 3);
	assert_ptr_not_equal(sem, SEM_FAILED);
	/* "If O_EXCL and O_CREAT are set, sem_open() fails if the semaphore name exists." */
	EXPECT_OPEN_ERROR(EEXIST, sem_open(name, O_CREAT | O_EXCL, 0600, 1));
	assert_int_equal(value_of(sem), 3);
	assert_int_equal(sem_close(sem), 0);
	EXPECT_OPEN_ERROR(EEXIST, sem_open(name, O_CREAT | O_EXCL, 0600, 1));
	assert_int_equal(sem_unlink(name), 0);
	sem = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	assert_ptr_not_equal(sem, SEM_FAILED);
	assert_int_equal(value_of(sem), 1);
	assert_int_equal(sem_close(sem), 0);
}

enum { CREATORS = 6, CREATIONS = 12 };

struct creation {
	const char *names[CREATIONS];
	int flags;
	_Atomic int arrived[CREATIONS];
	_Atomic int created[CREATIONS];
	_Atomic int refused[CREATIONS];
	_Atomic bool may_end;
};

static int
create_together(void *arg)
{
	struct creation *creation = arg;
	for (int i = 0; i < CREATIONS; i++) {
		creation->arrived[i]++;
		while (creation->arrived[i] < CREATORS)
			sched_yield();
		errno = 0;
		sem_t *sem = sem_open(creation->names[i], creation->flags, 0600, 10);
		if (sem == SEM_FAILED) {
			CHECK(errno == EEXIST);
			creation->refused[i]++;
		} else {
			CHECK(sem_post(sem) == 0);
			creation->created[i]++;
		}
	}
	return 0;
}

static struct creation *
let_processes_create(int flags)
{
	pid_t creators[CREATORS];
	struct creation *creation = shared_memory(sizeof(*creation));
	creation->flags = flags;
	for (int i = 0; i < CREATIONS; i++)
		creation->names[i] = fresh_posix_name();
	for (int i = 0; i < CREATORS; i++)
		creators[i] = start_bounded(create_together, creation);
	for (int i = 0; i < CREATORS; i++)
		assert_int_equal(end_of_child(creators[i]), 0);
	return creation;
}

static void
expect_posts(const char *name, int posts)
{
	sem_t *sem = open_posix(name);
	assert_int_equal(value_of(sem), 10 + posts);
	assert_int_equal(sem_close(sem), 0);
}

/* "The check for the existence of the semaphore and the creation [...] are atomic with respect to other processes" */
TEST(one_process_of_several_creates_it_exclusively)
{
	struct creation *creation = let_processes_create(O_CREAT | O_EXCL);
	for (int i = 0; i < CREATIONS; i++) {
		assert_int_equal(creation->created[i], 1);
		assert_int_equal(creation->refused[i], CREATORS - 1);
		expect_posts(creation->names[i], 1);
	}
	munmap(creation, sizeof(*creation));
}

/* "processes calling sem_open() with the same value of name shall refer to the same semaphore object" */
TEST(processes_that_create_it_at_once_share_it)
{
	struct creation *creation = let_processes_create(O_CREAT);
	for (int i = 0; i < CREATIONS; i++) {
		assert_int_equal(creation->created[i], CREATORS);
		expect_posts(creation->names[i], CREATORS);
	}
	munmap(creation, sizeof(*creation));
}

TEST(one_that_does_not_exist_is_not_opened)
{
	const char *name = fresh_posix_name();
	/* "[ENOENT] O_CREAT is not set in oflag and the named semaphore does not exist." */
	EXPECT_OPEN_ERROR(ENOENT, sem_open(name, 0));
	/* "[ENOENT] The named semaphore does not exist." */
	EXPECT_ERROR(ENOENT, sem_unlink(name));
	sem_t *sem = new_posix(name, 1);
	assert_int_equal(sem_unlink(name), 0);
	EXPECT_OPEN_ERROR(ENOENT, sem_open(name, 0));
	EXPECT_ERROR(ENOENT, sem_unlink(name));
	assert_int_equal(sem_close(sem), 0);
}

TEST(an_unrelated_process_opens_it_by_its_name)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 3);
	struct execution use = {"use", {name}};
	/* "other processes can connect to the semaphore by calling sem_open() with the same value of name" */
	assert_int_equal(run_bounded(execute, &use), 0);
	assert_int_equal(value_of(sem), 4);
	assert_int_equal(sem_close(sem), 0);
}

/* ---- modes and users ---- */

enum { NOBODY = 65534, NOT_POSSIBLE = 77 };

/* PR_SET_PDEATHSIG ends with the change. */
static int
become(uid_t uid, gid_t gid)
{
	CHECK(setgroups(0, NULL) == 0);
	CHECK(setresgid(gid, gid, gid) == 0);
	CHECK(setresuid(uid, uid, uid) == 0);
	CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	return 0;
}

static void
need_root(void)
{
	if (geteuid() != 0)
		SKIP("this needs root, to become another user");
}

struct creator {
	const char *name;
	mode_t umask;
	mode_t mode;
	sem_t *sem;
};

static int
create_with_umask(void *arg)
{
	const struct creator *creator = arg;
	struct stat file;
	umask(creator->umask);
	sem_t *sem = sem_open(creator->name, O_CREAT, creator->mode, 1);
	CHECK(sem != SEM_FAILED);
	CHECK(stat(posix_file_of(creator->name), &file) == 0);
	/* "the value of the mode argument except those set in the file mode creation mask of the process" */
	CHECK((file.st_mode & 0777) == (creator->mode & ~creator->umask));
	CHECK(umask(creator->umask) == creator->umask);
	/* Whatever the mode is, its creator has it open. */
	CHECK(sem_wait(sem) == 0);
	CHECK(sem_post(sem) == 0);
	CHECK(value_of(sem) == 1);
	return 0;
}

TEST(the_umask_is_taken_off_the_mode)
{
	static const mode_t modes[] = {0600, 0644, 0660, 0666, 0640, 0606, 0700, 0777, 0400, 0200, 0070, 0007, 0};
	static const mode_t umasks[] = {0, 022, 077, 027, 0777};
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		for (size_t j = 0; j < sizeof(umasks) / sizeof(umasks[0]); j++) {
			struct creator creator = {.name = fresh_posix_name(), .umask = umasks[j], .mode = modes[i]};
			const int status = run_bounded(create_with_umask, &creator);
			if (status != 0)
				fail_msg("mode %04o, umask %04o: %d", modes[i], umasks[j], status);
			unlink(posix_file_of(creator.name));
		}
	}
}

TEST(it_belongs_to_the_user_and_the_group_of_its_creator)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 1);
	struct stat file;
	assert_int_equal(stat(posix_file_of(name), &file), 0);
	/* "The user ID of the semaphore shall be set to the effective user ID of the process." */
	assert_int_equal(file.st_uid, geteuid());
	/* "The group ID of the semaphore shall be set to the effective group ID of the process" */
	assert_int_equal(file.st_gid, getegid());
	assert_int_equal(sem_close(sem), 0);
}

static int
create_as_effective_user(void *name)
{
	struct stat file;
	CHECK(setegid(4242) == 0);
	CHECK(seteuid(NOBODY) == 0);
	CHECK(sem_open(name, O_CREAT, 0600, 1) != SEM_FAILED);
	CHECK(stat(posix_file_of(name), &file) == 0);
	CHECK(file.st_uid == NOBODY);
	CHECK(file.st_gid == 4242);
	return 0;
}

TEST(it_belongs_to_the_effective_user_and_group)
{
	need_root();
	assert_int_equal(run_bounded(create_as_effective_user, (void *)(uintptr_t)fresh_posix_name()), 0);
}

static int
be_refused(void *name)
{
	CHECK(become(NOBODY, NOBODY) == 0);
	CHECK_OPEN_ERROR(EACCES, sem_open(name, 0));
	CHECK_OPEN_ERROR(EACCES, sem_open(name, O_CREAT, 0666, 1));
	CHECK_OPEN_ERROR(EEXIST, sem_open(name, O_CREAT | O_EXCL, 0666, 1));
	CHECK_ERROR(EACCES, sem_unlink(name));
	return 0;
}

TEST(another_user_needs_read_and_write_permission)
{
	static const mode_t modes[] = {0600, 0660, 0644, 0622, 0604, 0602, 0700, 0};
	need_root();
	const mode_t old = umask(0);
	/* "[EACCES] The named semaphore exists and the permissions specified by oflag are denied" */
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		const char *name = fresh_posix_name();
		sem_t *sem = sem_open(name, O_CREAT | O_EXCL, modes[i], 2);
		assert_ptr_not_equal(sem, SEM_FAILED);
		assert_int_equal(sem_close(sem), 0);
		const int status = run_bounded(be_refused, (void *)(uintptr_t)name);
		if (status != 0)
			fail_msg("mode %04o: %d", modes[i], status);
		sem = open_posix(name);
		assert_int_equal(value_of(sem), 2);
		assert_int_equal(sem_close(sem), 0);
	}
	umask(old);
}

static int
use_as_nobody(void *name)
{
	CHECK(become(NOBODY, NOBODY) == 0);
	sem_t *sem = sem_open(name, 0);
	CHECK(sem != SEM_FAILED);
	CHECK(sem_wait(sem) == 0);
	CHECK(sem_post(sem) == 0);
	CHECK(sem_post(sem) == 0);
	CHECK(value_of(sem) == 3);
	sem_t *same = sem_open(name, O_CREAT, 0600, 1);
	CHECK(same == sem);
	CHECK(sem_close(sem) == 0);
	CHECK(sem_close(sem) == 0);
	/* "[EACCES] Permission is denied to unlink the named semaphore." */
	CHECK_ERROR(EACCES, sem_unlink(name));
	return 0;
}

TEST(another_user_with_permission_uses_it)
{
	need_root();
	const char *name = fresh_posix_name();
	const mode_t old = umask(0);
	sem_t *sem = sem_open(name, O_CREAT | O_EXCL, 0666, 2);
	umask(old);
	assert_ptr_not_equal(sem, SEM_FAILED);
	assert_int_equal(run_bounded(use_as_nobody, (void *)(uintptr_t)name), 0);
	assert_int_equal(value_of(sem), 3);
	assert_int_equal(access(posix_file_of(name), F_OK), 0);
	assert_int_equal(sem_close(sem), 0);
}

static int
use_as_member(void *name)
{
	CHECK(become(4243, NOBODY) == 0);
	sem_t *sem = sem_open(name, 0);
	CHECK(sem != SEM_FAILED);
	CHECK(sem_post(sem) == 0);
	return 0;
}

static int
create_for_group(void *name)
{
	umask(0);
	CHECK(become(4242, NOBODY) == 0);
	CHECK(sem_open(name, O_CREAT, 0660, 0) != SEM_FAILED);
	return 0;
}

TEST(a_member_of_the_group_uses_it)
{
	need_root();
	const char *name = fresh_posix_name();
	assert_int_equal(run_bounded(create_for_group, (void *)(uintptr_t)name), 0);
	assert_int_equal(run_bounded(use_as_member, (void *)(uintptr_t)name), 0);
	sem_t *sem = open_posix(name);
	assert_int_equal(value_of(sem), 1);
	assert_int_equal(sem_close(sem), 0);
}

static int
create_without_permissions(void *name)
{
	CHECK(geteuid() != 0 || become(NOBODY, NOBODY) == 0);
	sem_t *sem = sem_open(name, O_CREAT | O_EXCL, 0, 1);
	CHECK(sem != SEM_FAILED);
	CHECK(sem_wait(sem) == 0);
	CHECK(sem_post(sem) == 0);
	CHECK_OPEN_ERROR(EACCES, sem_open(name, 0));
	CHECK_OPEN_ERROR(EACCES, sem_open(name, O_CREAT, 0600, 1));
	CHECK(value_of(sem) == 1);
	CHECK(sem_close(sem) == 0);
	CHECK_OPEN_ERROR(EACCES, sem_open(name, 0));
	return 0;
}

/* Root may do everything, so it becomes another user. */
TEST(one_without_permissions_serves_those_that_have_it_open)
{
	assert_int_equal(run_bounded(create_without_permissions, (void *)(uintptr_t)fresh_posix_name()), 0);
}

static int
create_and_unlink(void *arg)
{
	const struct creator *creator = arg;
	CHECK(geteuid() != 0 || become(NOBODY, NOBODY) == 0);
	sem_t *sem = sem_open(creator->name, O_CREAT | O_EXCL, creator->mode, 1);
	CHECK(sem != SEM_FAILED);
	CHECK(sem_unlink(creator->name) == 0);
	CHECK_OPEN_ERROR(ENOENT, sem_open(creator->name, 0));
	CHECK(sem_wait(sem) == 0);
	CHECK(sem_close(sem) == 0);
	return 0;
}

/* As in glibc: a process needs the file's permissions to use it, and the directory's to remove it. */
TEST(its_owner_unlinks_it_whatever_its_mode_is)
{
	static const mode_t modes[] = {0600, 0, 0400, 0200, 0077};
	int failures = 0;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct creator creator = {.name = fresh_posix_name(), .mode = modes[i]};
		const int status = run_bounded(create_and_unlink, &creator);
		if (status != 0)
			print_message("# mode %04o: %d\n", modes[i], status);
		failures += status != 0;
	}
	assert_int_equal(failures, 0);
}

/* ---- addresses ---- */

TEST(the_same_semaphore_has_the_same_address)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 1);
	/* "If a process makes multiple successful calls to sem_open() [...] the same semaphore address shall be returned" */
	assert_ptr_equal(sem_open(name, 0), sem);
	assert_ptr_equal(sem_open(name, O_CREAT, 0600, 9), sem);
	assert_ptr_equal(sem_open(name, 0), sem);
	/* "at least one previous successful sem_open() call for this semaphore has not been matched with a sem_close() call" */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(sem_close(sem), 0);
		assert_int_equal(sem_wait(sem), 0);
		assert_int_equal(sem_post(sem), 0);
		assert_int_equal(value_of(sem), 1);
	}
	assert_ptr_equal(sem_open(name, 0), sem);
	assert_int_equal(sem_close(sem), 0);
	assert_int_equal(sem_close(sem), 0);
	EXPECT_ERROR(EINVAL, sem_close(sem));
}

TEST(what_is_no_open_semaphore_cannot_be_closed)
{
	sem_t unnamed;
	int (*volatile close_any)(sem_t *) = sem_close; /* so that the compiler does not see the null pointer */
	assert_int_equal(sem_init(&unnamed, 0, 1), 0);
	EXPECT_ERROR(EINVAL, sem_close(&unnamed));
	EXPECT_ERROR(EINVAL, close_any(SEM_FAILED));
	assert_int_equal(sem_destroy(&unnamed), 0);
}

TEST(different_semaphores_have_different_addresses)
{
	const char *one_name = fresh_posix_name();
	const char *other_name = fresh_posix_name();
	sem_t *one = new_posix(one_name, 1);
	sem_t *other = new_posix(other_name, 5);
	assert_ptr_not_equal(one, other);
	assert_int_equal(sem_post(one), 0);
	assert_int_equal(value_of(one), 2);
	assert_int_equal(value_of(other), 5);
	assert_int_equal(sem_close(one), 0);
	assert_int_equal(value_of(other), 5);
	assert_int_equal(sem_close(other), 0);
}

TEST(a_new_semaphore_of_the_name_has_another_address)
{
	const char *name = fresh_posix_name();
	sem_t *old = new_posix(name, 1);
	assert_int_equal(sem_unlink(name), 0);
	/* "Calls to sem_open() to recreate or reconnect to the semaphore refer to a new semaphore after sem_unlink()" */
	sem_t *new = sem_open(name, O_CREAT | O_EXCL, 0600, 5);
	assert_ptr_not_equal(new, SEM_FAILED);
	assert_ptr_not_equal(new, old);
	assert_ptr_equal(sem_open(name, 0), new);
	assert_int_equal(sem_close(new), 0);
	assert_int_equal(sem_post(old), 0);
	assert_int_equal(value_of(old), 2);
	assert_int_equal(value_of(new), 5);
	/* The old one is closed by its own address. */
	assert_int_equal(sem_close(old), 0);
	EXPECT_ERROR(EINVAL, sem_post(old));
	assert_int_equal(sem_post(new), 0);
	assert_int_equal(value_of(new), 6);
	assert_int_equal(sem_close(new), 0);
}

static int
recreate(void *name)
{
	CHECK(sem_unlink(name) == 0);
	CHECK(sem_open(name, O_CREAT | O_EXCL, 0600, 5) != SEM_FAILED);
	return 0;
}

TEST(another_process_gives_the_name_to_a_new_one)
{
	const char *name = fresh_posix_name();
	sem_t *old = new_posix(name, 1);
	assert_int_equal(run_bounded(recreate, (void *)(uintptr_t)name), 0);
	sem_t *new = open_posix(name);
	assert_ptr_not_equal(new, old);
	assert_int_equal(value_of(new), 5);
	assert_int_equal(value_of(old), 1);
	assert_int_equal(sem_close(new), 0);
	assert_int_equal(sem_close(old), 0);
}

struct opener {
	const char *names[2];
	_Atomic int *arrived;
	sem_t *sem;
	int faults;
};

static void *
open_with_the_others(void *arg)
{
	struct opener *opener = arg;
	++*opener->arrived;
	while (*opener->arrived < 4)
		sched_yield();
	opener->sem = sem_open(opener->names[0], O_CREAT, 0600, 1);
	for (int i = 0; i < 50; i++) {
		sem_t *again = sem_open(opener->names[i & 1], O_CREAT, 0600, 1);
		opener->faults += again == SEM_FAILED;
		opener->faults += ((i & 1) == 0) != (again == opener->sem);
		opener->faults += sem_wait(again) != 0;
		opener->faults += sem_post(again) != 0;
		opener->faults += sem_close(again) != 0;
	}
	return NULL;
}

/* sem_open(3): "MT-Safe"; sem_close(3): "MT-Safe" */
TEST(threads_open_and_close_at_once)
{
	_Atomic int arrived = 0;
	pthread_t threads[4];
	struct opener openers[4];
	const char *names[2] = {fresh_posix_name(), fresh_posix_name()};
	for (int i = 0; i < 4; i++) {
		openers[i] = (struct opener){.names = {names[0], names[1]}, .arrived = &arrived};
		assert_int_equal(pthread_create(&threads[i], NULL, open_with_the_others, &openers[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(openers[i].faults, 0);
		assert_ptr_equal(openers[i].sem, openers[0].sem);
	}
	assert_int_equal(value_of(openers[0].sem), 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(sem_close(openers[0].sem), 0);
	EXPECT_ERROR(EINVAL, sem_close(openers[0].sem));
}

static void *
open_and_close_for_ever(void *arg)
{
	const struct opener *opener = arg;
	for (unsigned i = 0;; i++) {
		sem_t *sem = sem_open(opener->names[i & 1], O_CREAT, 0600, 1);
		if (sem == SEM_FAILED || sem_wait(sem) != 0 || sem_post(sem) != 0 || sem_close(sem) != 0)
			abort();
		if (i % 7 == 0)
			sem_unlink(opener->names[i & 1]);
	}
	return NULL;
}

static int
fork_while_threads_open_and_close(void *arg)
{
	pthread_t threads[3];
	struct opener *opener = arg;
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, open_and_close_for_ever, opener) == 0);
	for (int i = 0; i < 100; i++) {
		const pid_t child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			sem_t *sem = sem_open(opener->names[0], O_CREAT, 0600, 1);
			_exit(sem == SEM_FAILED || sem_wait(sem) != 0 || sem_post(sem) != 0 || sem_close(sem) != 0);
		}
		CHECK(end_of_child(child) == 0);
	}
	return 0;
}

/* fork(3p): "the child process [...] may only execute async-signal-safe operations"; as in glibc, these work, too. */
TEST(threads_open_and_close_during_a_fork)
{
	struct opener opener = {.names = {fresh_posix_name(), fresh_posix_name()}};
	assert_int_equal(run_bounded(fork_while_threads_open_and_close, &opener), 0);
	/* There, each process that waits takes a lock. */
	const pid_t pid = start_in_pid_namespace(fork_while_threads_open_and_close, &opener);
	if (pid < 0)
		SKIP("no new PID namespace allowed here");
	assert_int_equal(end_of_child(pid), 0);
}

/* ---- names ---- */

enum { LONGEST = 255, NAME_ROOM = 300 };

/* A semaphore whose name is removed already, so that it goes even if the test fails. */
static sem_t *
open_without_name(const char *name, unsigned value)
{
	sem_t *sem = sem_open(name, O_CREAT | O_EXCL, 0600, value);
	if (sem == SEM_FAILED)
		fail_msg("sem_open(%s): %s", name, strerror(errno));
	if (sem_unlink(name) != 0)
		fail_msg("sem_unlink(%s): %s", name, strerror(errno));
	return sem;
}

/* glibc does the same. POSIX: "If name does not begin with the <slash> character, the effect is implementation-defined." */
TEST(a_name_without_slash_is_the_same_name)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 1);
	assert_ptr_equal(sem_open(name + 1, 0), sem);
	EXPECT_OPEN_ERROR(EEXIST, sem_open(name + 1, O_CREAT | O_EXCL, 0600, 1));
	assert_int_equal(sem_close(sem), 0);
	assert_int_equal(sem_close(sem), 0);
	assert_int_equal(sem_unlink(name + 1), 0);
	EXPECT_OPEN_ERROR(ENOENT, sem_open(name, 0));
	sem = sem_open(name + 1, O_CREAT | O_EXCL, 0600, 4);
	assert_ptr_not_equal(sem, SEM_FAILED);
	assert_ptr_equal(sem_open(name, 0), sem);
	assert_int_equal(sem_close(sem), 0);
	assert_int_equal(sem_close(sem), 0);
	assert_int_equal(sem_unlink(name), 0);
}

TEST(names_that_are_not_well_formed)
{
	/* "[EINVAL] The sem_open() operation is not supported for the given name" */
	static const char *const names[] = {"", "/", "/a/b", "a/b", "/a/", "a/", "/a//b", "/../a", "/a/../b"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		EXPECT_OPEN_ERROR(EINVAL, sem_open(names[i], 0));
		EXPECT_OPEN_ERROR(EINVAL, sem_open(names[i], O_CREAT, 0600, 1));
		EXPECT_OPEN_ERROR(EINVAL, sem_open(names[i], O_CREAT | O_EXCL, 0600, 1));
		/* "[ENOENT] The named semaphore does not exist." */
		EXPECT_ERROR(ENOENT, sem_unlink(names[i]));
	}
}

/* A name of `length` bytes after the slash, which no other test has. */
static void
fill_name(char name[NAME_ROOM], size_t length, char filling)
{
	const char *fresh = fresh_posix_name();
	const size_t used = strlen(fresh);
	assert_true(length + 1 >= used);
	memset(name, filling, length + 1);
	memcpy(name, fresh, used);
	name[length + 1] = '\0';
}

TEST(long_names_that_differ_in_the_last_byte)
{
	static const size_t lengths[] = {60,  190, 191, 192, 193, 194, 195, 196, 197,    198,
	                                 199, 200, 201, 249, 250, 251, 252, 254, LONGEST};
	static const char fillings[] = {'x', ' ', '\n', '\x80', '\xff', '\x01'};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char one_name[NAME_ROOM], other_name[NAME_ROOM];
		fill_name(one_name, lengths[i], fillings[i % sizeof(fillings)]);
		strcpy(other_name, one_name);
		one_name[lengths[i]] = ' ';
		other_name[lengths[i]] = '\t';
		sem_t *one = open_without_name(one_name, 1);
		sem_t *other = open_without_name(other_name, 2);
		assert_ptr_not_equal(one, other);
		assert_int_equal(sem_post(one), 0);
		assert_int_equal(value_of(one), 2);
		assert_int_equal(value_of(other), 2);
		assert_int_equal(sem_close(one), 0);
		assert_int_equal(sem_close(other), 0);
	}
}

/* The semaphores exist at the same time under their names, which are removed before anything is asserted. */
TEST(names_of_any_bytes_are_all_different)
{
	static const char *const endings[] = {" ",  "_",     "\t",   "\n",   ".",    "-",    "+",  "*",    "?",    "[a]",
	                                      "\\", "%s%n",  "\x01", "\x7f", "\x80", "\xff", "é",  "日本", "\xc3", "\"",
	                                      "'",  "$HOME", "`",    ";",    "..",   "~",    "__", " _",   "_ ",   "  ",
	                                      "A",  "a",     ":",    "=",    "#",    "&",    "(",  ")",    "|",    "<"};
	enum { COUNT = sizeof(endings) / sizeof(endings[0]) };
	static char names[COUNT][NAME_ROOM];
	static sem_t *sems[COUNT];
	sem_t *again[COUNT];
	int unlinked[COUNT];
	const char *fresh = fresh_posix_name();
	for (int i = 0; i < COUNT; i++) {
		snprintf(names[i], NAME_ROOM, "%s%s", fresh, endings[i]);
		sems[i] = sem_open(names[i], O_CREAT | O_EXCL, 0600, (unsigned)i);
	}
	for (int i = 0; i < COUNT; i++)
		again[i] = sem_open(names[i], 0);
	for (int i = 0; i < COUNT; i++)
		unlinked[i] = sem_unlink(names[i]);
	for (int i = 0; i < COUNT; i++) {
		assert_ptr_not_equal(sems[i], SEM_FAILED);
		assert_ptr_equal(again[i], sems[i]);
		assert_int_equal(unlinked[i], 0);
		assert_int_equal(value_of(sems[i]), i);
		assert_int_equal(sem_close(sems[i]), 0);
		assert_int_equal(sem_close(sems[i]), 0);
	}
}

/* The first byte of a tsem name is limited, but not that of a POSIX name. */
TEST(names_of_any_first_byte)
{
	static const char firsts[] = {'.', '-', '_', ' ', '~', '\x01', '\xff', '*', 'A', '9'};
	for (size_t i = 0; i < sizeof(firsts); i++) {
		char name[NAME_ROOM];
		snprintf(name, sizeof(name), "/%c%s", firsts[i], fresh_posix_name() + 1);
		sem_t *sem = open_without_name(name, 1);
		assert_int_equal(value_of(sem), 1);
		assert_int_equal(sem_close(sem), 0);
	}
}

TEST(a_name_that_is_too_long)
{
	static const size_t lengths[] = {LONGEST + 1, 4095, 4096, 20000};
	static char name[20010];
	/* "[ENAMETOOLONG] The length of the name argument exceeds [...]" */
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(name, 'x', sizeof(name));
		name[0] = '/';
		name[lengths[i] + 1] = '\0';
		for (int without = 0; without < 2; without++) {
			EXPECT_OPEN_ERROR(ENAMETOOLONG, sem_open(name + without, 0));
			EXPECT_OPEN_ERROR(ENAMETOOLONG, sem_open(name + without, O_CREAT, 0600, 1));
			EXPECT_ERROR(ENAMETOOLONG, sem_unlink(name + without));
		}
	}
}

/* ---- files of another kind ---- */

static void
make_text(const char *path)
{
	FILE *file = fopen(path, "wxe");
	assert_non_null(file);
	assert_true(fputs("no semaphore\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void
make_empty(const char *path)
{
	const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void
make_zeros(const char *path)
{
	make_empty(path);
	assert_int_equal(truncate(path, 4194304), 0);
}

static void
make_directory(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
}

static void
make_fifo(const char *path)
{
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void
make_link(const char *path)
{
	assert_int_equal(symlink("/dev/null", path), 0);
}

static void
make_dangling_link(const char *path)
{
	assert_int_equal(symlink("/dev/shm/tsem.posix.no-such-semaphore", path), 0);
}

static void
make_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)), 0);
	close(fd);
}

static const struct file_kind {
	const char *name;
	void (*make)(const char *path);
} file_kinds[] = {
	{"text", make_text},
	{"an empty file", make_empty},
	{"zeros", make_zeros},
	{"a directory", make_directory},
	{"a FIFO", make_fifo},
	{"a symbolic link", make_link},
	{"a dangling link", make_dangling_link},
	{"a socket", make_socket},
};

enum { FILE_KINDS = sizeof(file_kinds) / sizeof(file_kinds[0]) };

static int
try_to_open(void *name)
{
	CHECK_OPEN_ERROR(EINVAL, sem_open(name, 0));
	CHECK_OPEN_ERROR(EINVAL, sem_open(name, O_CREAT, 0600, 1));
	CHECK(sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED);
	CHECK(errno == EEXIST || errno == EINVAL);
	return 0;
}

TEST(a_file_of_another_kind_is_refused_and_unchanged)
{
	int failures = 0;
	for (int i = 0; i < FILE_KINDS; i++) {
		const char *name = fresh_posix_name();
		char path[300];
		struct stat before, after;
		snprintf(path, sizeof(path), "%s", posix_file_of(name));
		file_kinds[i].make(path);
		assert_int_equal(lstat(path, &before), 0);
		/* In a child, because opening a FIFO might block. */
		const int status = run_bounded(try_to_open, (void *)(uintptr_t)name);
		if (status != 0)
			print_message("# %s: %d\n", file_kinds[i].name, status);
		failures += status != 0;
		assert_int_equal(lstat(path, &after), 0);
		assert_int_equal(after.st_ino, before.st_ino);
		assert_int_equal(after.st_mode, before.st_mode);
		assert_int_equal(after.st_size, before.st_size);
		assert_int_equal(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
		assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
		/* As in glibc, the name can be made free. */
		assert_int_equal(sem_unlink(name), S_ISDIR(before.st_mode) ? -1 : 0);
		assert_int_equal(lstat(path, &after), S_ISDIR(before.st_mode) ? 0 : -1);
	}
	assert_int_equal(failures, 0);
}

/* ---- limits ---- */

static int
open_without_descriptors(void *arg)
{
	const char *const *names = arg;
	struct rlimit limit;
	for (int fd = 0; fd < 3; fd++)
		CHECK(fcntl(fd, F_GETFD) >= 0 || open("/dev/null", O_RDWR) == fd);
	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	const struct rlimit low = {3, limit.rlim_max};
	CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
	/* "[EMFILE] Too many semaphore descriptors or file descriptors are currently in use by this process." */
	CHECK_OPEN_ERROR(EMFILE, sem_open(names[0], 0));
	CHECK_OPEN_ERROR(EMFILE, sem_open(names[1], O_CREAT, 0600, 1));
	CHECK_OPEN_ERROR(EMFILE, sem_open(names[1], O_CREAT | O_EXCL, 0600, 1));
	CHECK(access(posix_file_of(names[1]), F_OK) != 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	sem_t *sem = sem_open(names[0], 0);
	CHECK(sem != SEM_FAILED);
	CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
	/* What is open works without a free descriptor. */
	CHECK(sem_wait(sem) == 0);
	CHECK(sem_post(sem) == 0);
	CHECK_ERROR(EAGAIN, sem_trywait(sem) == 0 ? sem_trywait(sem) : 0);
	CHECK(sem_post(sem) == 0);
	CHECK(sem_close(sem) == 0);
	return 0;
}

TEST(no_descriptor_is_free)
{
	const char *names[2] = {fresh_posix_name(), fresh_posix_name()};
	assert_int_equal(sem_close(new_posix(names[0], 1)), 0);
	assert_int_equal(run_bounded(open_without_descriptors, names), 0);
}

static int
open_without_memory(void *arg)
{
	const char *const *names = arg;
	struct rlimit limit;
	CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
	const struct rlimit low = {1, limit.rlim_max};
	CHECK(setrlimit(RLIMIT_AS, &low) == 0);
	/* "[ENOMEM] There is insufficient memory for the creation of the new named semaphore." */
	CHECK_OPEN_ERROR(ENOMEM, sem_open(names[0], 0));
	CHECK_OPEN_ERROR(ENOMEM, sem_open(names[1], O_CREAT, 0600, 1));
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	CHECK_OPEN_ERROR(ENOENT, sem_open(names[1], 0));
	sem_t *sem = sem_open(names[0], 0);
	CHECK(sem != SEM_FAILED);
	CHECK(value_of(sem) == 1);
	return 0;
}

TEST(no_memory_is_free)
{
	if (UNDER_SANITIZER)
		SKIP("the sanitizer needs memory itself");
	const char *names[2] = {fresh_posix_name(), fresh_posix_name()};
	assert_int_equal(sem_close(new_posix(names[0], 1)), 0);
	assert_int_equal(run_bounded(open_without_memory, names), 0);
}

/* A file system of its own in place of /dev/shm, that ends with the process. */
static bool
has_own_file_system(const char *options)
{
	return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
	       && mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
}

static int
wait_and_post(void *sem)
{
	CHECK(sem_wait(sem) == 0);
	CHECK(sem_post(sem) == 0);
	return 0;
}

/* Nothing that the open semaphore does later needs room that is no longer there. */
static int
use_in_full_file_system(sem_t *sem)
{
	static const char block[4096] = {1};
	pid_t pids[8];
	const int fd = open("/dev/shm/filler", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	while (fd >= 0 && write(fd, block, sizeof(block)) > 0)
		continue;
	CHECK(fd < 0 || errno == ENOSPC);
	for (int i = 0; i < 8; i++)
		pids[i] = start_bounded(wait_and_post, sem);
	for (int i = 0; i < 8; i++)
		CHECK(end_of_child(pids[i]) == 0);
	CHECK(value_of(sem) == 1);
	CHECK(fd < 0 || close(fd) == 0);
	unlink("/dev/shm/filler");
	return 0;
}

static int
open_in_small_file_system(void *arg)
{
	const int *kilobytes = arg;
	char options[64];
	snprintf(options, sizeof(options), "size=%dk,nr_inodes=100,mode=1777", *kilobytes);
	if (!has_own_file_system(options))
		return NOT_POSSIBLE;
	errno = 0;
	sem_t *sem = sem_open("/small", O_CREAT, 0600, 1);
	if (sem != SEM_FAILED)
		return *kilobytes < 8 ? 1 : use_in_full_file_system(sem);
	/* "[ENOSPC] There is insufficient space on a storage device for the creation of the new named semaphore." */
	CHECK(errno == ENOSPC);
	CHECK_OPEN_ERROR(ENOENT, sem_open("/small", 0));
	CHECK(access("/dev/shm/tsem.posix.small", F_OK) != 0);
	return 0;
}

static int
open_where_nothing_can_be_created(void *arg)
{
	(void)arg;
	if (!has_own_file_system("mode=1777"))
		return NOT_POSSIBLE;
	sem_t *sem = sem_open("/there", O_CREAT, 0600, 1);
	CHECK(sem != SEM_FAILED);
	CHECK(sem_close(sem) == 0);
	CHECK(mount(NULL, "/dev/shm", NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
	CHECK_OPEN_ERROR(EROFS, sem_open("/new", O_CREAT, 0600, 1));
	CHECK_OPEN_ERROR(EROFS, sem_open("/there", 0));
	CHECK_ERROR(EROFS, sem_unlink("/there"));
	CHECK(mount("tmpfs", "/dev", "tmpfs", 0, NULL) == 0); /* without shm */
	CHECK_OPEN_ERROR(ENOENT, sem_open("/new", O_CREAT, 0600, 1));
	CHECK_OPEN_ERROR(ENOENT, sem_open("/there", 0));
	CHECK_ERROR(ENOENT, sem_unlink("/there"));
	return 0;
}

/* As glibc. */
TEST(a_file_system_that_is_read_only_or_not_there)
{
	const int status = run_bounded(open_where_nothing_can_be_created, NULL);
	if (status == NOT_POSSIBLE)
		SKIP("no file system can be mounted here");
	assert_int_equal(status, 0);
}

TEST(no_space_is_left)
{
	static const int sizes[] = {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int size = sizes[i];
		const int status = run_bounded(open_in_small_file_system, &size);
		if (status == NOT_POSSIBLE)
			SKIP("no file system can be mounted here");
		if (status != 0)
			fail_msg("%d kilobytes: %d", size, status);
	}
}

static int
create_where_that_is_denied(void *unused)
{
	(void)unused;
	if (!has_own_file_system("size=8m,mode=0755"))
		return NOT_POSSIBLE;
	CHECK(become(NOBODY, NOBODY) == 0);
	/* "or the named semaphore does not exist and permission to create the named semaphore is denied" */
	CHECK_OPEN_ERROR(EACCES, sem_open("/denied", O_CREAT, 0600, 1));
	CHECK_OPEN_ERROR(EACCES, sem_open("/denied", O_CREAT | O_EXCL, 0600, 1));
	CHECK_OPEN_ERROR(ENOENT, sem_open("/denied", 0));
	return 0;
}

TEST(a_user_that_may_not_create)
{
	need_root();
	const int status = run_bounded(create_where_that_is_denied, NULL);
	if (status == NOT_POSSIBLE)
		SKIP("no file system can be mounted here");
	assert_int_equal(status, 0);
}

enum { MANY = 300 };

static int
open_many(void *fresh)
{
	static sem_t *sems[MANY];
	struct rlimit limit;
	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	const struct rlimit low = {64, limit.rlim_max};
	CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
	for (int i = 0; i < MANY; i++) {
		char name[NAME_ROOM];
		snprintf(name, sizeof(name), "%s.%d", (const char *)fresh, i);
		sems[i] = sem_open(name, O_CREAT | O_EXCL, 0600, (unsigned)i);
		CHECK(sems[i] != SEM_FAILED);
		CHECK(sem_unlink(name) == 0);
	}
	for (int i = 0; i < MANY; i++) {
		CHECK(value_of(sems[i]) == i);
		CHECK(sem_post(sems[i]) == 0);
		CHECK(sem_wait(sems[i]) == 0);
	}
	for (int i = 0; i < MANY; i++) {
		CHECK(value_of(sems[i]) == i);
		CHECK(sem_close(sems[i]) == 0);
	}
	return 0;
}

TEST(three_hundred_are_open_with_few_descriptors)
{
	struct utsname system;
	int major = 0, minor = 0;
	assert_int_equal(uname(&system), 0);
	assert_int_equal(sscanf(system.release, "%d.%d", &major, &minor), 2);
	if (major < 5 || (major == 5 && minor < 14))
		SKIP("this needs Linux 5.14");
	if (with_holds())
		SKIP("with holds, each semaphore keeps its descriptor");
	assert_int_equal(run_bounded(open_many, (void *)(uintptr_t)fresh_posix_name()), 0);
}

/* ---- closing ---- */

TEST(closing_gives_resources_back)
{
	const char *name = fresh_posix_name();
	/* "shall deallocate (that is, make available for reuse [...]) any system resources allocated by the system" */
	for (int i = 0; i < 200; i++) {
		sem_t *sem = sem_open(name, O_CREAT, 0600, 1);
		assert_ptr_not_equal(sem, SEM_FAILED);
		assert_int_equal(sem_wait(sem), 0);
		assert_int_equal(sem_post(sem), 0);
		assert_int_equal(sem_close(sem), 0);
	}
	assert_false(is_mapped(name));
	assert_false(has_descriptor(name));
}

TEST(closing_does_not_change_the_value)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 1);
	for (int value = 1; value < 5; value++) {
		assert_int_equal(value_of(sem), value);
		assert_int_equal(sem_post(sem), 0);
		/* "sem_close() has no effect on the state of the semaphore" */
		assert_int_equal(sem_close(sem), 0);
		sem = open_posix(name);
	}
	assert_int_equal(sem_wait(sem), 0);
	assert_int_equal(sem_close(sem), 0);
	sem = open_posix(name);
	assert_int_equal(value_of(sem), 4);
	assert_int_equal(sem_close(sem), 0);
}

TEST(closing_leaves_the_waiters_of_other_processes)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	struct waiter *waiter = new_waiter(sem, blocking_calls[0].wait);
	EVENTUALLY(waiting_for(name) == 1);
	assert_int_equal(sem_close(sem), 0);
	assert_int_equal(waiting_for(name), 1);
	sem = open_posix(name);
	assert_int_equal(sem_post(sem), 0);
	expect_success(waiter);
	end_waiter(waiter);
	assert_int_equal(sem_close(sem), 0);
}

TEST(a_closed_semaphore_is_refused_by_each_function)
{
	const char *name = fresh_posix_name();
	const struct timespec past = {0};
	int value = -99;
	sem_t *sem = new_posix(name, 2);
	assert_int_equal(sem_close(sem), 0);
	/* "[EINVAL] The sem argument does not refer to a valid semaphore." */
	for (int i = 0; i < BLOCKING_CALLS; i++)
		EXPECT_ERROR(EINVAL, blocking_calls[i].wait(sem));
	EXPECT_ERROR(EINVAL, sem_trywait(sem));
	EXPECT_ERROR(EINVAL, sem_timedwait(sem, &past));
	EXPECT_ERROR(EINVAL, sem_clockwait(sem, CLOCK_MONOTONIC, &past));
	EXPECT_ERROR(EINVAL, sem_post(sem));
	EXPECT_ERROR(EINVAL, sem_getvalue(sem, &value));
	assert_int_equal(value, -99);
	/* "[EINVAL] The sem argument is not a valid semaphore descriptor." */
	EXPECT_ERROR(EINVAL, sem_close(sem));
	sem_t *again = open_posix(name);
	assert_int_equal(value_of(again), 2);
	assert_int_equal(sem_close(again), 0);
}

static int
create_and_leave(void *name)
{
	sem_t *sem = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	CHECK(sem != SEM_FAILED);
	CHECK(sem_post(sem) == 0);
	CHECK(sem_post(sem) == 0);
	return 0;
}

/* sem_overview(7): "if not removed by sem_unlink(3), a semaphore will exist until the system is shut down" */
TEST(it_outlives_its_processes)
{
	const char *name = fresh_posix_name();
	assert_int_equal(run_bounded(create_and_leave, (void *)(uintptr_t)name), 0);
	sem_t *sem = open_posix(name);
	assert_int_equal(value_of(sem), 3);
	assert_int_equal(sem_close(sem), 0);
}

/* ---- unlinking ---- */

TEST(an_unlinked_one_goes_on_working)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 0);
	tsem *look = look_at(name);
	struct waiter *waiters[2];
	for (unsigned i = 0; i < 2; i++) {
		waiters[i] = new_waiter(sem, blocking_calls[i].wait);
		EVENTUALLY(stat_of(look).waiting == i + 1);
	}
	/* "The sem_unlink() call shall not block until all references have been destroyed; it shall return immediately." */
	assert_int_equal(sem_unlink(name), 0);
	/* "then sem_unlink() has no effect on the state of the semaphore" */
	assert_int_equal(stat_of(look).waiting, 2);
	assert_false(waiters[0]->is_back);
	assert_int_equal(sem_post(sem), 0);
	expect_success(waiters[0]);
	assert_false(waiters[1]->is_back);
	assert_int_equal(sem_post(sem), 0);
	expect_success(waiters[1]);
	for (int i = 0; i < 2; i++)
		end_waiter(waiters[i]);
	if (with_holds())
		EVENTUALLY(sem_trywait(sem) == 0);
	if (with_holds())
		EVENTUALLY(sem_trywait(sem) == 0);
	/* "destruction of the semaphore is postponed until all references to the semaphore have been destroyed" */
	assert_int_equal(value_of(sem), 0);
	EXPECT_ERROR(EAGAIN, sem_trywait(sem));
	assert_int_equal(sem_post(sem), 0);
	assert_int_equal(sem_wait(sem), 0);
	struct waiter *late = new_waiter(sem, blocking_calls[3].wait);
	EVENTUALLY(stat_of(look).waiting == 1);
	assert_int_equal(sem_post(sem), 0);
	expect_success(late);
	end_waiter(late);
	tsem_close(look);
	assert_int_equal(sem_close(sem), 0);
	EXPECT_ERROR(EINVAL, sem_post(sem));
}

TEST(an_unlinked_one_is_gone_with_its_last_process)
{
	const char *name = fresh_posix_name();
	sem_t *sem = new_posix(name, 1);
	assert_int_equal(sem_unlink(name), 0);
	/* "If the name [...] the semaphore is no longer accessible" after its last sem_close() */
	assert_int_equal(sem_close(sem), 0);
	EXPECT_OPEN_ERROR(ENOENT, sem_open(name, 0));
	sem = sem_open(name, O_CREAT, 0600, 7);
	assert_ptr_not_equal(sem, SEM_FAILED);
	assert_int_equal(value_of(sem), 7);
	assert_int_equal(sem_close(sem), 0);
	assert_int_equal(sem_unlink(name), 0);
}

TEST(one_that_is_closed_can_be_unlinked)
{
	const char *name = fresh_posix_name();
	assert_int_equal(sem_close(new_posix(name, 1)), 0);
	assert_int_equal(access(posix_file_of(name), F_OK), 0);
	/* "The sem_unlink() function shall remove the semaphore named by the string name." */
	assert_int_equal(sem_unlink(name), 0);
	assert_int_equal(access(posix_file_of(name), F_OK), -1);
	EXPECT_ERROR(ENOENT, sem_unlink(name));
}

/* ---- fork ---- */

struct family {
	const char *name;
	sem_t *sem;
	_Atomic bool may_go_on;
};

static int
use_and_close(void *arg)
{
	const struct family *family = arg;
	CHECK(sem_post(family->sem) == 0);
	CHECK(sem_post(family->sem) == 0);
	CHECK(sem_wait(family->sem) == 0);
	CHECK(sem_post(family->sem) == 0);
	CHECK(value_of(family->sem) == 3);
	CHECK(sem_open(family->name, 0) == family->sem);
	CHECK(sem_close(family->sem) == 0);
	CHECK(value_of(family->sem) == 3);
	CHECK(sem_close(family->sem) == 0);
	CHECK_ERROR(EINVAL, sem_post(family->sem));
	return 0;
}

TEST(a_child_has_the_semaphores_of_its_parent)
{
	struct family family = {.name = fresh_posix_name()};
	family.sem = new_posix(family.name, 1);
	/* fork(): "Any semaphores that are open in the parent process shall also be open in the child process." */
	assert_int_equal(run_bounded(use_and_close, &family), 0);
	assert_int_equal(value_of(family.sem), 3);
	assert_int_equal(sem_wait(family.sem), 0);
	assert_int_equal(sem_post(family.sem), 0);
	assert_ptr_equal(sem_open(family.name, 0), family.sem);
	assert_int_equal(sem_close(family.sem), 0);
	assert_int_equal(sem_close(family.sem), 0);
	EXPECT_ERROR(EINVAL, sem_close(family.sem));
}

static int
post_when_the_parent_has_closed(void *arg)
{
	struct family *family = arg;
	AWAIT(family->may_go_on);
	CHECK(sem_post(family->sem) == 0);
	CHECK(value_of(family->sem) == 2);
	return 0;
}

TEST(a_child_keeps_what_its_parent_closes)
{
	struct family *family = shared_memory(sizeof(*family));
	family->name = fresh_posix_name();
	family->sem = new_posix(family->name, 1);
	const pid_t child = start_bounded(post_when_the_parent_has_closed, family);
	assert_int_equal(sem_close(family->sem), 0);
	assert_int_equal(sem_unlink(family->name), 0);
	family->may_go_on = true;
	assert_int_equal(end_of_child(child), 0);
	munmap(family, sizeof(*family));
}

static int
post_once(void *sem)
{
	CHECK(sem_post(sem) == 0);
	return 0;
}

static int
let_a_grandchild_post(void *sem)
{
	CHECK(end_of_child(start_bounded(post_once, sem)) == 0);
	CHECK(sem_wait(sem) == 0);
	CHECK(sem_post(sem) == 0);
	return 0;
}

TEST(a_grandchild_has_them_too)
{
	sem_t *sem = new_posix(fresh_posix_name(), 0);
	assert_int_equal(run_bounded(let_a_grandchild_post, sem), 0);
	assert_int_equal(value_of(sem), 1);
	assert_int_equal(sem_close(sem), 0);
}

static int
open_another(void *arg)
{
	const struct family *family = arg;
	sem_t *sem = sem_open(family->name, O_CREAT | O_EXCL, 0600, 4);
	CHECK(sem != SEM_FAILED);
	CHECK(sem_post(sem) == 0);
	CHECK(sem_close(family->sem) == 0);
	CHECK(value_of(sem) == 5);
	return 0;
}

/* A child opens its own, and the parent knows nothing of it. */
TEST(what_a_child_opens_is_its_own)
{
	struct family family = {.name = fresh_posix_name(), .sem = new_posix(fresh_posix_name(), 1)};
	assert_int_equal(run_bounded(open_another, &family), 0);
	sem_t *sem = open_posix(family.name);
	assert_ptr_not_equal(sem, family.sem);
	assert_int_equal(value_of(sem), 5);
	assert_int_equal(value_of(family.sem), 1);
	assert_int_equal(sem_close(sem), 0);
	assert_int_equal(sem_close(family.sem), 0);
}

struct forker {
	const char *name;
	_Atomic bool may_end;
	_Atomic int faults;
};

static void *
open_and_close_repeatedly(void *arg)
{
	struct forker *forker = arg;
	while (!forker->may_end) {
		sem_t *sem = sem_open(forker->name, 0);
		forker->faults += sem == SEM_FAILED || sem_close(sem) != 0;
	}
	return NULL;
}

static int
open_and_close_in_child(void *arg)
{
	const struct forker *forker = arg;
	sem_t *sem = sem_open(forker->name, 0);
	CHECK(sem != SEM_FAILED);
	CHECK(sem_post(sem) == 0);
	CHECK(sem_close(sem) == 0);
	return 0;
}

static int
fork_beside_a_thread(void *arg)
{
	struct forker *forker = arg;
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, open_and_close_repeatedly, forker) == 0);
	for (int i = 0; i < 40; i++)
		CHECK(run_bounded(open_and_close_in_child, forker) == 0);
	forker->may_end = true;
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(forker->faults == 0);
	return 0;
}

/* As in glibc, a lock that another thread has at that moment does not stay locked in the child. */
TEST(a_child_that_is_forked_while_another_thread_opens)
{
	struct forker forker = {.name = fresh_posix_name()};
	sem_t *sem = new_posix(forker.name, 0);
	assert_int_equal(run_bounded(fork_beside_a_thread, &forker), 0);
	assert_int_equal(value_of(sem), 40);
	assert_int_equal(sem_close(sem), 0);
}

/* ---- exec ---- */

TEST(exec_closes_them)
{
	const char *one_name = fresh_posix_name();
	const char *other_name = fresh_posix_name();
	sem_t *one = new_posix(one_name, 3);
	sem_t *other = new_posix(other_name, 0);
	struct execution look = {"closed", {one_name, other_name}};
	struct execution use = {"use", {one_name}};
	/* exec: "Any named semaphores open in the calling process shall be closed as if by appropriate calls to sem_close()" */
	assert_int_equal(run_bounded(execute, &look), 0);
	assert_int_equal(value_of(one), 3);
	assert_int_equal(run_bounded(execute, &use), 0);
	assert_int_equal(value_of(one), 4);
	assert_int_equal(value_of(other), 0);
	assert_int_equal(sem_close(one), 0);
	assert_int_equal(sem_close(other), 0);
}

/* ---- semaphores of sem_init() ---- */

static int
use_like_a_counter(sem_t *sem)
{
	const struct timespec past = {0};
	const struct timespec invalid = {0, -1};
	CHECK(value_of(sem) == 2);
	CHECK(sem_wait(sem) == 0);
	CHECK(sem_trywait(sem) == 0);
	CHECK_ERROR(EAGAIN, sem_trywait(sem));
	CHECK_ERROR(ETIMEDOUT, sem_timedwait(sem, &past));
	CHECK_ERROR(EINVAL, sem_timedwait(sem, &invalid));
	CHECK_ERROR(ETIMEDOUT, sem_clockwait(sem, CLOCK_MONOTONIC, &past));
	CHECK_ERROR(ETIMEDOUT, sem_clockwait(sem, CLOCK_REALTIME, &past));
	CHECK(value_of(sem) == 0);
	CHECK(sem_post(sem) == 0);
	CHECK(sem_timedwait(sem, &past) == 0);
	CHECK(sem_post(sem) == 0);
	CHECK(sem_clockwait(sem, CLOCK_MONOTONIC, &past) == 0);
	CHECK(sem_post(sem) == 0);
	CHECK(value_of(sem) == 1);
	return 0;
}

TEST(semaphores_of_sem_init_are_those_of_libc)
{
	static const int fillings[] = {0, 0xff, 0xa3, 0x5a};
	sem_t sems[2];
	for (int shared = 0; shared < 2; shared++) {
		for (size_t i = 0; i < sizeof(fillings) / sizeof(fillings[0]); i++) {
			memset(sems, fillings[i], sizeof(sems));
			for (int j = 0; j < 2; j++) {
				assert_int_equal(sem_init(&sems[j], shared, 2), 0);
				assert_int_equal(use_like_a_counter(&sems[j]), 0);
			}
			for (int j = 0; j < 2; j++) {
				assert_int_equal(value_of(&sems[j]), 1);
				assert_int_equal(sem_destroy(&sems[j]), 0);
			}
		}
	}
}

TEST(the_highest_value_of_an_unnamed_one)
{
	sem_t sem;
	assert_int_equal(sem_init(&sem, 0, (unsigned)SEM_VALUE_MAX), 0);
	EXPECT_ERROR(EOVERFLOW, sem_post(&sem));
	assert_int_equal(value_of(&sem), SEM_VALUE_MAX);
	assert_int_equal(sem_destroy(&sem), 0);
}

/* No function reads beyond its end. */
TEST(an_unnamed_one_at_the_end_of_the_memory)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *memory = shared_memory(2 * page);
	assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
	sem_t *sem = (sem_t *)(void *)(memory + page - sizeof(sem_t));
	assert_int_equal(sem_init(sem, 1, 2), 0);
	assert_int_equal(use_like_a_counter(sem), 0);
	assert_int_equal(sem_destroy(sem), 0);
	munmap(memory, 2 * page);
}

static void *
wait_for_each_call(void *arg)
{
	sem_t *sems = arg;
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		if (sem_post(&sems[1]) != 0 || blocking_calls[i].wait(&sems[0]) != 0)
			return "a call failed";
	}
	return NULL;
}

static int
wait_for_each_call_in_process(void *sems)
{
	CHECK(wait_for_each_call(sems) == NULL);
	return 0;
}

/* One says that the other process or thread waits. */
static void
post_to_each_call(sem_t sems[2])
{
	for (int i = 0; i < BLOCKING_CALLS; i++) {
		assert_int_equal(sem_wait(&sems[1]), 0);
		assert_int_equal(sem_post(&sems[0]), 0);
	}
}

TEST(a_thread_waits_for_an_unnamed_one)
{
	sem_t sems[2];
	pthread_t thread;
	void *fault = NULL;
	for (int i = 0; i < 2; i++)
		assert_int_equal(sem_init(&sems[i], 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_each_call, sems), 0);
	post_to_each_call(sems);
	assert_int_equal(pthread_join(thread, &fault), 0);
	assert_null(fault);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(value_of(&sems[i]), 0);
		assert_int_equal(sem_destroy(&sems[i]), 0);
	}
}

TEST(a_process_waits_for_an_unnamed_one)
{
	sem_t *sems = shared_memory(2 * sizeof(sem_t));
	for (int i = 0; i < 2; i++)
		assert_int_equal(sem_init(&sems[i], 1, 0), 0);
	const pid_t child = start_bounded(wait_for_each_call_in_process, sems);
	post_to_each_call(sems);
	assert_int_equal(end_of_child(child), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(value_of(&sems[i]), 0);
		assert_int_equal(sem_destroy(&sems[i]), 0);
	}
	munmap(sems, 2 * sizeof(sem_t));
}

static int
use_named_and_unnamed(void *arg)
{
	sem_t *named = arg;
	sem_t unnamed;
	CHECK(sem_init(&unnamed, 0, 2) == 0);
	CHECK(use_like_a_counter(named) == 0);
	CHECK(use_like_a_counter(&unnamed) == 0);
	CHECK(value_of(named) == 1);
	CHECK(value_of(&unnamed) == 1);
	CHECK(sem_destroy(&unnamed) == 0);
	return 0;
}

TEST(named_and_unnamed_ones_side_by_side)
{
	sem_t *named = new_posix(fresh_posix_name(), 2);
	assert_int_equal(run_bounded(use_named_and_unnamed, named), 0);
	const int left = with_holds() ? 2 : 1; /* the permit that the process had comes back */
	EVENTUALLY(value_of(named) == left);
	assert_int_equal(sem_close(named), 0);
}

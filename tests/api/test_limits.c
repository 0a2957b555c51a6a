/* SPDX-License-Identifier: MIT */
/* Limits of descriptors, file size, space, and memory. Each is an error that changes nothing. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RECORDS_AT_REST = 64, REFUSED_HERE = 77 };

/*
 * Changes the soft limit, so that the test can raise it again. A macro, because C libraries differ in the type of a
 * resource.
 */
#define EXCHANGE_LIMIT(resource, value)        \
	do {                                       \
		struct rlimit limit_;                  \
		if (getrlimit(resource, &limit_) != 0) \
			abort();                           \
		const rlim_t new_ = *(value);          \
		*(value) = limit_.rlim_cur;            \
		limit_.rlim_cur = new_;                \
		if (setrlimit(resource, &limit_) != 0) \
			abort();                           \
	} while (0)

/* The lowest free descriptor. */
static rlim_t
next_descriptor(void)
{
	const int fd = dup(STDIN_FILENO);
	close(fd);
	return (rlim_t)fd;
}

/* Uses all records that a new semaphore has. */
static int
acquire_all_at_rest(tsem *sem, tsem_hold holds[RECORDS_AT_REST])
{
	int rc = 0;
	for (size_t i = 0; i < RECORDS_AT_REST && rc == 0; i++)
		rc = tsem_acquire(sem, 1, NULL, &holds[i]);
	return rc;
}

TEST(no_descriptor_for_a_handle)
{
	const char *name = fresh_name();
	tsem_close(new_semaphore_named(name, 1, 0));
	const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	tsem *sem = NULL;
	rlim_t limit = next_descriptor();
	EXCHANGE_LIMIT(RLIMIT_NOFILE, &limit);
	const int opened = tsem_open(name, 0, &sem);
	const int created = tsem_create(fresh_name(), &config, &sem);
	const int removed = tsem_remove(name, 0);
	EXCHANGE_LIMIT(RLIMIT_NOFILE, &limit);
	assert_int_equal(opened, -EMFILE);
	assert_int_equal(created, -EMFILE);
	assert_int_equal(removed, -EMFILE);
	assert_null(sem);
	assert_int_equal(tsem_remove(name, 0), 0);
}

struct inherited {
	tsem *sem;
	tsem_hold hold;
};

/* A child has to find out its identity, and cannot: it must not act with half of one. */
static int
use_a_handle_without_descriptor(void *arg)
{
	struct inherited *inherited = arg;
	tsem_hold hold;
	const struct timespec past = {0};
	tsem *sem;
	rlim_t limit = next_descriptor();
	EXCHANGE_LIMIT(RLIMIT_NOFILE, &limit);
	const int adopted = tsem_adopt(&inherited->hold);
	const int acquired = tsem_acquire(inherited->sem, 1, NULL, &hold);
	const int tried = tsem_try_acquire(inherited->sem, 1, &hold);
	const int taken = tsem_take(inherited->sem, 9, &past);
	const int opened = tsem_open("x", 0, &sem);
	EXCHANGE_LIMIT(RLIMIT_NOFILE, &limit);
	CHECK(adopted == -EMFILE);
	CHECK(acquired == -EMFILE);
	CHECK(tried == -EMFILE);
	CHECK(taken == -EMFILE);
	CHECK(opened == -EMFILE);
	CHECK(stat_of(inherited->sem).held == 1);
	CHECK(tsem_adopt(&inherited->hold) == 0);
	CHECK(tsem_acquire(inherited->sem, 1, NULL, &hold) == 0);
	CHECK(tsem_release(&hold) == 0);
	return -tsem_release(&inherited->hold);
}

TEST(no_descriptor_to_find_the_identity)
{
	struct inherited inherited = {.sem = new_semaphore(9, 0)};
	assert_int_equal(tsem_acquire(inherited.sem, 1, NULL, &inherited.hold), 0);
	assert_int_equal(end_of_child(start_child(use_a_handle_without_descriptor, &inherited)), 0);
	assert_int_equal(stat_of(inherited.sem).available, 9);
	tsem_close(inherited.sem);
}

TEST(no_larger_file)
{
	static tsem_hold holds[RECORDS_AT_REST];
	const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	const struct timespec past = {0};
	tsem *sem = new_semaphore(100, 0);
	tsem *other = NULL;
	tsem_hold more;
	assert_int_equal(acquire_all_at_rest(sem, holds), 0);
	rlim_t limit = 4096;
	EXCHANGE_LIMIT(RLIMIT_FSIZE, &limit);
	const int created = tsem_create(fresh_name(), &config, &other);
	const int acquired = tsem_acquire(sem, 1, NULL, &more);
	const int tried = tsem_try_acquire(sem, 1, &more);
	const int waited = tsem_take(sem, 90, &past);
	const int taken = tsem_take(sem, 36, NULL); /* a take needs no record */
	EXCHANGE_LIMIT(RLIMIT_FSIZE, &limit);
	assert_int_equal(created, -EFBIG);
	assert_int_equal(acquired, -EFBIG);
	assert_int_equal(tried, -EFBIG);
	assert_int_equal(waited, -EFBIG);
	assert_int_equal(taken, 0);
	assert_int_equal(tsem_post(sem, 36, NULL), 0);
	assert_int_equal(stat_of(sem).held, RECORDS_AT_REST);
	assert_int_equal(stat_of(sem).waiting, 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &more), 0);
	assert_int_equal(stat_of(sem).held, RECORDS_AT_REST + 1);
	tsem_close(sem);
}

/* ---- handles that need no descriptor ---- */

static bool
has_closed_descriptor(tsem *sem)
{
	return tsem_set_access(sem, 0600, (gid_t)-1) == -EBADF;
}

static tsem *
new_semaphore_without_descriptor(const char *name, uint32_t permits)
{
	const struct tsem_config config = {
		.size = sizeof(config), .permits = permits, .mode = 0640, .flags = TSEM_NO_DESCRIPTOR};
	tsem *sem = NULL;
	assert_int_equal(tsem_create(name, &config, &sem), 0);
	return sem;
}

static int
use_many_records(void *sem)
{
	tsem_hold holds[4 * RECORDS_AT_REST];
	for (size_t i = 0; i < 4 * RECORDS_AT_REST; i++)
		CHECK(tsem_acquire(sem, 1, NULL, &holds[i]) == 0);
	return 0;
}

TEST(semaphores_without_descriptors)
{
	enum { SEMAPHORES = 100 };
	const char *name = fresh_name();
	tsem *sems[SEMAPHORES];
	tsem *sem = new_semaphore_without_descriptor(name, 1000);
	if (!has_closed_descriptor(sem))
		SKIP("it needs Linux 5.14");
	rlim_t limit = next_descriptor() + 1;
	EXCHANGE_LIMIT(RLIMIT_NOFILE, &limit);
	int opened = 0;
	while (opened < SEMAPHORES && tsem_open(name, TSEM_NO_DESCRIPTOR, &sems[opened]) == 0)
		opened++;
	tsem *other = NULL;
	const int with = tsem_open(name, 0, &other);
	tsem *more = NULL;
	const int without = tsem_open(name, 0, &more);
	EXCHANGE_LIMIT(RLIMIT_NOFILE, &limit);
	assert_int_equal(opened, SEMAPHORES);
	assert_int_equal(with, 0);
	assert_int_equal(without, -EMFILE);
	const struct tsem_stat stat = stat_of(sem);
	assert_int_equal(stat.mode, 0640);
	assert_int_equal(stat.uid, geteuid());
	assert_int_equal(stat.gid, getegid());
	/* The table of records grows, also after the name has gone. */
	assert_int_equal(tsem_unlink(name, 0), 0);
	assert_int_equal(use_many_records(sems[0]), 0);
	assert_int_equal(stat_of(sem).held, 4 * RECORDS_AT_REST);
	assert_int_equal(end_of_child(start_child(use_many_records, sems[1])), 0);
	assert_int_equal(tsem_recover(other, NULL), 0);
	assert_int_equal(stat_of(other).held, 4 * RECORDS_AT_REST);
	for (size_t i = 0; i < SEMAPHORES; i++)
		tsem_close(sems[i]);
	tsem_close(other);
	tsem_close(sem);
}

TEST(a_descriptor_that_is_needed)
{
	const char *name = fresh_name();
	const struct tsem_config config = {.size = sizeof(config), .permits = 1, .flags = TSEM_NO_DESCRIPTOR};
	rlim_t limit = 1 << 20;
	tsem *sem = NULL;
	EXCHANGE_LIMIT(RLIMIT_FSIZE, &limit);
	const int created = tsem_create(name, &config, &sem);
	EXCHANGE_LIMIT(RLIMIT_FSIZE, &limit);
	assert_int_equal(created, 0);
	assert_false(has_closed_descriptor(sem));
	tsem_close(sem);
}

/* A private /dev/shm with space for one idle semaphore. */
static int
fill_shared_memory(void *unused)
{
	static tsem_hold holds[RECORDS_AT_REST];
	const struct tsem_config config = {.size = sizeof(config), .permits = 100};
	const struct timespec past = {0};
	tsem *sem;
	tsem *other;
	tsem_hold more;
	(void)unused;
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
	    || mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=32k") != 0)
		return REFUSED_HERE;
	CHECK(tsem_create("one", &config, &sem) == 0);
	CHECK(tsem_create("two", &config, &other) == -ENOSPC);
	tsem *without;
	CHECK(tsem_open("one", TSEM_NO_DESCRIPTOR, &without) == 0);
	CHECK(acquire_all_at_rest(sem, holds) == 0);
	CHECK(tsem_acquire(sem, 1, NULL, &more) == -ENOSPC);
	CHECK(tsem_try_acquire(sem, 1, &more) == -ENOSPC);
	CHECK(tsem_try_acquire(without, 1, &more) == -ENOSPC);
	CHECK(tsem_take(sem, 90, &past) == -ENOSPC);
	CHECK(tsem_take(sem, 36, NULL) == 0);
	CHECK(tsem_post(sem, 36, NULL) == 0);
	CHECK(stat_of(sem).held == RECORDS_AT_REST && stat_of(sem).waiting == 0);
	CHECK(tsem_release(&holds[7]) == 0);
	CHECK(tsem_acquire(sem, 1, NULL, &more) == 0); /* instead of the record */
	CHECK(mount(NULL, "/dev/shm", NULL, MS_REMOUNT, "size=36k") == 0);
	CHECK(tsem_acquire(sem, 1, NULL, &holds[7]) == 0);
	CHECK(stat_of(sem).held == RECORDS_AT_REST + 1);
	return 0;
}

TEST(no_room)
{
	const int status = end_of_child(start_child(fill_shared_memory, NULL));
	if (status == REFUSED_HERE)
		SKIP("a private /dev/shm is refused here");
	assert_int_equal(status, 0);
}

TEST(no_address_space)
{
	if (UNDER_SANITIZER)
		SKIP("a sanitizer takes address space when it likes");
	const char *name = fresh_name();
	const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	tsem *sem = NULL;
	tsem_close(new_semaphore_named(name, 1, 0));
	/* Less than is in use already; the allocator has small pieces in stock. */
	rlim_t limit = 1 << 20;
	EXCHANGE_LIMIT(RLIMIT_AS, &limit);
	const int opened = tsem_open(name, 0, &sem);
	const int created = tsem_create(fresh_name(), &config, &sem);
	EXCHANGE_LIMIT(RLIMIT_AS, &limit);
	assert_int_equal(opened, -ENOMEM);
	assert_int_equal(created, -ENOMEM);
	assert_null(sem);
	assert_int_equal(tsem_remove(name, 0), 0);
}

/* Each mapping is locked in memory, and the limit is too low for that. */
static int
open_with_little_to_lock(void *name)
{
	const struct rlimit limit = {1 << 20, 1 << 20};
	tsem *sem = NULL;
	const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
	if (geteuid() == 0)
		CHECK(setgid(65534) == 0 && setuid(65534) == 0);
	if (mlockall(MCL_FUTURE) != 0)
		return REFUSED_HERE;
	CHECK(tsem_open(name, 0, &sem) == -ENOMEM);
	CHECK(tsem_create(name, &config, &sem) == -ENOMEM);
	CHECK(sem == NULL);
	return 0;
}

TEST(no_memory_that_may_be_locked)
{
	const char *name = fresh_name();
	const struct tsem_config config = {.size = sizeof(config), .permits = 1, .mode = 0666};
	assert_int_equal(tsem_create(name, &config, NULL), 0);
	const int status = end_of_child(start_child(open_with_little_to_lock, (void *)(uintptr_t)name));
	if (status == REFUSED_HERE || UNDER_SANITIZER)
		SKIP("mlockall() is refused here");
	assert_int_equal(status, 0);
}

static int
open_a_leased_file(void *name)
{
	tsem *sem = NULL;
	CHECK(tsem_open(name, 0, &sem) == -EBUSY);
	CHECK(tsem_open(name, TSEM_READ_ONLY, &sem) == -EBUSY);
	CHECK(tsem_remove(name, TSEM_FORCE) == -EBUSY);
	CHECK(sem == NULL);
	return 0;
}

/* Another process is asked to give up a lease, and does not. */
TEST(no_end_of_a_lease)
{
	const char *name = fresh_name();
	tsem_close(new_semaphore_named(name, 1, 0));
	const int fd = open(file_of(name), O_RDWR | O_CLOEXEC);
	void (*const before)(int) = signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0)
		SKIP("there are no leases here");
	const int status = end_of_child(start_child(open_a_leased_file, (void *)(uintptr_t)name));
	fcntl(fd, F_SETLEASE, F_UNLCK);
	close(fd);
	signal(SIGIO, before);
	assert_int_equal(status, 0);
	tsem_close(open_semaphore(name));
}

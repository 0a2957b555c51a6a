/* SPDX-License-Identifier: MIT */
/* Read-only handles: a peer with write permission can neither end the process that reads, nor keep it from a result. */
#include "support.h"
#include "traffic.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENT_BYTES_MIN = 32768 };

static tsem *
reader_of(const char *name)
{
	tsem *reader = NULL;
	assert_int_equal(tsem_open(name, TSEM_READ_ONLY | TSEM_FOREIGN, &reader), 0);
	return reader;
}

static int
count_owner(const struct tsem_owner *owner, void *arg)
{
	*(uint64_t *)arg += owner->position == 0 ? owner->count : 0;
	return 0;
}

/* The three functions that read must have the same result. */
static int
look(tsem *reader)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	uint64_t held = 0;
	const int rc = tsem_stat(reader, &stat);
	CHECK(tsem_owners(reader, count_owner, &held) == rc);
	CHECK(tsem_snapshot(reader, &stat, count_owner, &held) == rc);
	return rc;
}

struct cut {
	const char *name;
	off_t size;
	tsem *reader;
};

/* In a child, which may die. */
static int
read_a_truncated_file(void *arg)
{
	const struct cut *cut = arg;
	CHECK(truncate(file_of(cut->name), cut->size) == 0);
	CHECK(look(cut->reader) == -EBADMSG);
	/* The file has zeros then, and is no semaphore. */
	CHECK(truncate(file_of(cut->name), SEGMENT_BYTES_MIN) == 0);
	CHECK(look(cut->reader) == (cut->size < 512 ? -EBADMSG : 0));
	return 0;
}

TEST(a_truncated_file_is_damaged)
{
	static const off_t sizes[] = {0, 1, 4095, 4096, 20480, 28672, SEGMENT_BYTES_MIN - 1};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *name = fresh_name();
		tsem *sem = new_semaphore_named(name, 2, 0);
		tsem_hold hold;
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_int_equal(tsem_release(&hold), 0);
		tsem_close(sem);
		struct cut cut = {name, sizes[i], reader_of(name)};
		assert_int_equal(look(cut.reader), 0);
		assert_int_equal(end_of_child(start_child(read_a_truncated_file, &cut)), 0);
		tsem_close(cut.reader);
	}
}

/* ---- more records than at the beginning, and fewer ---- */

TEST(records_come_and_go)
{
	enum { HOLDS = 300 };
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, HOLDS, 0);
	tsem *reader = reader_of(name);
	tsem_hold holds[HOLDS];
	uint64_t held = 0;
	struct stat st;
	for (size_t i = 0; i < HOLDS; i++)
		assert_int_equal(tsem_acquire(sem, 1, NULL, &holds[i]), 0);
	assert_int_equal(tsem_owners(reader, count_owner, &held), 0);
	assert_int_equal(held, HOLDS);

	/* Their records are gone, and the counters still count them. */
	assert_int_equal(stat(file_of(name), &st), 0);
	assert_true(st.st_size > SEGMENT_BYTES_MIN);
	assert_int_equal(truncate(file_of(name), SEGMENT_BYTES_MIN), 0);
	held = 0;
	assert_int_equal(tsem_owners(reader, count_owner, &held), 0);
	assert_in_range(held, 1, HOLDS - 1);
	assert_int_equal(stat_of(reader).held, HOLDS);
	tsem_close(reader);

	/* They are released into memory that exists again. */
	assert_int_equal(truncate(file_of(name), st.st_size), 0);
	tsem_close(sem);
}

/* ---- a peer that truncates in a loop ---- */

static int
truncate_in_a_loop(void *arg)
{
	static unsigned char good[SEGMENT_BYTES_MIN];
	const int fd = open(file_of(arg), O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(pread(fd, good, sizeof(good), 0) == (ssize_t)sizeof(good));
	for (;;) {
		CHECK(ftruncate(fd, 0) == 0);
		CHECK(pwrite(fd, good, sizeof(good), 0) == (ssize_t)sizeof(good));
		CHECK(ftruncate(fd, SEGMENT_BYTES_MIN * 4) == 0);
	}
}

static int
read_again_and_again(void *arg)
{
	enum { LOOKS = 2000 };
	int good = 0;
	int bad = 0;
	while (good < LOOKS || bad < LOOKS) {
		struct tsem_stat stat = {.size = sizeof(stat)};
		uint64_t held = 0;
		tsem *reader;
		int rc = tsem_open(arg, TSEM_READ_ONLY, &reader);
		CHECK(rc == 0 || rc == -EBADMSG);
		if (rc == 0) {
			rc = tsem_stat(reader, &stat);
			CHECK(rc == 0 || rc == -EBADMSG);
			rc = tsem_snapshot(reader, &stat, count_owner, &held);
			CHECK(rc == 0 || rc == -EBADMSG);
			tsem_close(reader);
		}
		good += rc == 0;
		bad += rc != 0;
	}
	return 0;
}

TEST(a_file_truncated_in_a_loop_is_whole_or_damaged)
{
	char name[100];
	strcpy(name, fresh_name());
	tsem_close(new_semaphore_named(name, 1, 0));
	const pid_t cutter = start_child(truncate_in_a_loop, name);
	assert_int_equal(end_of_child(start_child(read_again_and_again, name)), 0);
	kill_child(cutter);
}

/* ---- one handle, several threads, and a semaphore in use ---- */

struct reader {
	tsem *reader;
	size_t wrong;
	size_t busy;
};

static void *
compare_again_and_again(void *arg)
{
	enum { SNAPSHOTS = 300 };
	struct reader *reader = arg;
	for (int taken = 0; taken < SNAPSHOTS || reader->busy == 0; taken++) {
		struct tsem_stat stat;
		reader->wrong += !snapshot_adds_up(reader->reader, 2, &stat);
		reader->busy += stat.waiting > 0; /* at some time: there are more users than permits */
	}
	return NULL;
}

/* Uses a permit for a moment: while all users hold, sleep or wait, nothing changes, and a reader can read all of it. */
static int
use_again_and_again(void *arg)
{
	tsem *sem = arg;
	tsem_hold hold;
	while (tsem_acquire(sem, 1, NULL, &hold) == 0) {
		usleep(500);
		CHECK(tsem_release(&hold) == 0);
	}
	return 1;
}

TEST(threads_share_a_handle_in_use)
{
	enum { USERS = 3, LOOKERS = 2 };
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 2, 0);
	tsem *reader = reader_of(name);
	pid_t children[USERS];
	pthread_t threads[LOOKERS];
	struct reader lookers[LOOKERS] = {{.reader = reader}, {.reader = reader}};
	for (size_t i = 0; i < USERS; i++)
		children[i] = start_child(use_again_and_again, sem);
	for (size_t i = 0; i < LOOKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, compare_again_and_again, &lookers[i]), 0);
	for (size_t i = 0; i < LOOKERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(lookers[i].wrong, 0);
	}
	for (size_t i = 0; i < USERS; i++)
		kill_child(children[i]);
	tsem_close(reader);
	tsem_close(sem);
}

/* ---- a file that grows ---- */

struct growth {
	tsem *sem;
	_Atomic int *done;
};

static int
hold_more_and_more(void *arg)
{
	enum { HOLDS = 3000 };
	static tsem_hold holds[HOLDS];
	const struct growth *growth = arg;
	for (size_t i = 0; i < HOLDS; i++)
		CHECK(tsem_acquire(growth->sem, 1, NULL, &holds[i]) == 0);
	*growth->done = 1;
	return stay_until_killed(NULL);
}

/* Another process works at full speed, so that no two reads are the same, and the file is longer after each. */
TEST(a_file_that_grows_meanwhile_is_not_damaged)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 5000, 0);
	tsem *reader = reader_of(name);
	struct growth growth = {sem, shared_memory(sizeof(int))};
	const pid_t busy = start_child(acquire_again_and_again, sem);
	const pid_t grower = start_child(hold_more_and_more, &growth);
	do {
		assert_int_equal(look(reader), 0);
	} while (*growth.done == 0);
	kill_child(busy);
	assert_in_range(stat_of(reader).held, 3000, 3001);
	kill_child(grower);
	tsem_close(reader);
	tsem_close(sem);
}

/* ---- the descriptor ---- */

TEST(a_handle_needs_its_descriptor)
{
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	const int next = dup(STDERR_FILENO); /* the number of the handle's descriptor */
	close(next);
	tsem *reader = reader_of(name);
	assert_int_equal(close(next), 0);
	assert_int_equal(look(reader), -EBADF);
	const int other = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_int_equal(other, next);
	assert_int_equal(look(reader), -EBADF);
	tsem_close(reader);
	assert_int_equal(close(other), 0); /* the handle must not close it */
	tsem_close(sem);
}

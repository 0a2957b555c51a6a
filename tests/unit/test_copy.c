/* SPDX-License-Identifier: MIT */
/*
 * A copy of a segment shows one instant, whatever a peer does between two reads. The peer acts inside pread(), which
 * the linker wraps, after a part of the file was read. _FILE_OFFSET_BITS decides which of the two names of pread() a
 * file calls.
 */
#include "fixture.h"

#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__ /* whose pread() may take an off_t of 32 bits */
#define real_pread __real_pread64
#else
#define real_pread __real_pread
#endif

ssize_t real_pread(int fd, void *to, size_t bytes, off_t from);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t from);
ssize_t __wrap_pread64(int fd, void *to, size_t bytes, off_t from);

static struct segment segment; /* the peer's */
static void (*after_header)(int nth, struct header *read);
static void (*after_records)(int nth, struct record *read);
static int read_error; /* not 0: every read fails with it */
static int headers;
static int records;

ssize_t
__wrap_pread(int fd, void *to, size_t bytes, off_t from)
{
	if (read_error != 0) {
		errno = read_error;
		return -1;
	}
	const ssize_t length = real_pread(fd, to, bytes, from);
	if (from == 0 && after_header != NULL)
		after_header(++headers, to);
	if (from == (off_t)RECORDS_OFFSET && after_records != NULL)
		after_records(++records, to);
	return length;
}

ssize_t
__wrap_pread64(int fd, void *to, size_t bytes, off_t from)
{
	return __wrap_pread(fd, to, bytes, from);
}

static struct segment
copy_while(void (*peer_after_header)(int, struct header *), void (*peer_after_records)(int, struct record *))
{
	const char *name = fresh_name();
	struct segment reader;
	struct segment copy;
	segment = create_segment(name);
	assert_int_equal(segment_attach(name, SEGMENT_READ_ONLY, &reader), 0);
	headers = 0;
	records = 0;
	after_header = peer_after_header;
	after_records = peer_after_records;
	assert_int_equal(segment_copy(&reader, &copy), 0);
	after_header = NULL;
	after_records = NULL;
	segment_detach(&reader);
	segment_detach(&segment);
	return copy;
}

/* ---- a peer that acts once ---- */

static void
acquire_once(int nth, struct header *read)
{
	(void)read;
	if (nth != 1)
		return;
	STORE_SEQ(&segment.records[3].owner, owner_process(4711, 1));
	STORE_SEQ(&segment.records[3].state, state_next(0, STATE_HELD, 0));
	STORE_SEQ(&segment.header->tickets, counter_word_make(1, tag_make(3, 0)));
}

TEST(a_copy_has_a_holder_that_came_after_the_counters_were_read)
{
	struct segment copy = copy_while(acquire_once, NULL);
	assert_int_equal(counter_value(LOAD_SEQ(&copy.header->tickets)), 1);
	assert_int_equal(owner_pid(LOAD_SEQ(&copy.records[3].owner)), 4711);
	segment_free_copy(&copy);
}

/* The owner was read before the hold went to another process, and the rest of the record afterwards. */
static void
hand_over_while_it_is_read(int nth, struct record *read)
{
	if (nth != 1)
		return;
	STORE_SEQ(&segment.records[3].owner, owner_handed(4712, 0));
	STORE_SEQ(&segment.records[3].start, 99);
	STORE_SEQ(&read[3].owner, owner_process(4711, 1));
	STORE_SEQ(&read[3].start, 99);
}

TEST(a_copy_has_one_owner_of_a_record_handed_over_meanwhile)
{
	struct segment copy = copy_while(NULL, hand_over_while_it_is_read);
	assert_int_equal(owner_pid(LOAD_SEQ(&copy.records[3].owner)), 4712);
	assert_int_equal(LOAD_SEQ(&copy.records[3].start), 99);
	segment_free_copy(&copy);
}

static void
grow_once(int nth, struct record *read)
{
	(void)read;
	if (nth != 1)
		return;
	assert_int_equal(segment_reserve(&segment, RECORDS_PER_PAGE + 1), 0);
	STORE_SEQ(&segment.records[RECORDS_PER_PAGE].owner, owner_process(4711, 1));
}

TEST(a_copy_has_a_record_that_the_file_did_not_have_before)
{
	struct segment copy = copy_while(NULL, grow_once);
	assert_int_equal(LOAD_SEQ(&copy.reserved), 2 * RECORDS_PER_PAGE);
	assert_int_equal(owner_pid(LOAD_SEQ(&copy.records[RECORDS_PER_PAGE].owner)), 4711);
	segment_free_copy(&copy);
}

/* ---- a peer that acts all the time ---- */

static void
move_always(int nth, struct header *read)
{
	(void)read;
	STORE_SEQ(&segment.header->tickets, counter_word_make((uint64_t)nth, TAG_NONE));
}

TEST(a_copy_ends_though_the_counters_never_stand_still)
{
	struct segment copy = copy_while(move_always, NULL);
	assert_in_range(headers, 100, 100000);
	segment_free_copy(&copy);
}

static void
grow_always(int nth, struct record *read)
{
	(void)read;
	if ((uint32_t)nth * RECORDS_PER_PAGE < RECORDS_MAX)
		assert_int_equal(segment_reserve(&segment, (uint32_t)nth * RECORDS_PER_PAGE), 0);
}

TEST(a_copy_ends_though_the_file_always_grows)
{
	struct segment copy = copy_while(move_always, grow_always);
	assert_in_range(LOAD_SEQ(&copy.reserved), RECORDS_PER_PAGE, RECORDS_MAX);
	segment_free_copy(&copy);
	copy = copy_while(NULL, grow_always);
	assert_in_range(LOAD_SEQ(&copy.reserved), 2 * RECORDS_PER_PAGE, RECORDS_MAX);
	segment_free_copy(&copy);
}

static void
cut_and_extend(int nth, struct record *read)
{
	(void)read;
	assert_int_equal(ftruncate(segment.fd, (off_t)SEGMENT_BYTES_MIN + (nth % 500) * PAGE_BYTES), 0);
}

TEST(a_copy_ends_though_the_file_is_cut_and_extended_all_the_time)
{
	struct segment copy = copy_while(NULL, cut_and_extend);
	assert_in_range(LOAD_SEQ(&copy.reserved), RECORDS_PER_PAGE, RECORDS_MAX);
	segment_free_copy(&copy);
}

/* Otherwise `remove -f` would delete a healthy segment. */
TEST(a_read_error_is_not_damage)
{
	static const unsigned modes[] = {0, SEGMENT_READ_ONLY};
	const char *name = fresh_name();
	struct segment again;
	segment = create_segment(name);
	read_error = EIO;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(segment_attach(name, modes[i], &again), -EIO);
	read_error = 0;
	segment_detach(&segment);
}

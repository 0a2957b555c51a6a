/* SPDX-License-Identifier: MIT */
/*
 * A counter carries the tag of a record that this process cannot map, here because its file size limit does not allow
 * it to allocate the page. The process cannot know whether that record's step is finished, so it must leave the counter
 * as it is.
 */
#include "fixture.h"

#include <sys/resource.h>

enum { FAR = 1000 };

static struct rlimit limit;

static int
set_up(void **state)
{
	(void)state;
	begin(3);
	STORE_SEQ(&sem->segment.header->reserved, FAR + 1); /* as another process, without the limit, has left it */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	return 0;
}

static void
limit_file_sizes(bool limited)
{
	const struct rlimit low = {.rlim_cur = SEGMENT_BYTES_MIN, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, limited ? &low : &limit), 0);
}

static int
lift_limit(void **state)
{
	limit_file_sizes(false);
	return tear_down(state);
}

#define TEST_HERE(name) TEST_BETWEEN(set_up, lift_limit, name)

TEST_HERE(an_unknown_arrival_stops_further_arrivals)
{
	const uint64_t tickets = counter_word_make(0, tag_make(FAR, 0));
	const struct timespec past = {0};
	tsem_hold hold;
	STORE_SEQ(&sem->segment.header->tickets, tickets);
	limit_file_sizes(true);
	const int tried = tsem_try_take(sem, 1);
	const int taken = tsem_take(sem, 1, &past);
	const int acquired = tsem_acquire(sem, 1, &past, &hold);
	limit_file_sizes(false);
	assert_int_equal(tried, -EBADMSG);
	assert_int_equal(taken, -EBADMSG);
	assert_int_equal(acquired, -EBADMSG);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->tickets), tickets);
	assert_int_equal(records_in_use(sem), 0);

	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
}

TEST_HERE(an_unknown_release_stops_further_releases)
{
	const uint64_t grants = counter_word_make(0, tag_make(FAR, 0));
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	STORE_SEQ(&sem->segment.header->grants, grants);
	limit_file_sizes(true);
	const int released = tsem_release(&hold);
	limit_file_sizes(false);
	assert_int_equal(released, -EBADMSG);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), grants);

	/* The permits are still held, and can be released without the limit. */
	assert_int_equal(stat_of(sem).held, 2);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).available, 3);
}

/* Another process may have been about to move G, so the owner cannot go back. */
TEST_HERE(a_release_that_was_begun_is_not_taken_back)
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	STORE_SEQ(&sem->segment.header->grants, counter_word_make(0, tag_make(FAR, 0)));
	limit_file_sizes(true);
	const int released = tsem_release(&hold);
	limit_file_sizes(false);
	assert_int_equal(released, -EBADMSG);
	recover_all(sem, NULL); /* as another process that has no such limit */
	assert_int_equal(stat_of(sem).available, 3);
	assert_int_equal(tsem_release(&hold), -EPERM);
	assert_int_equal(stat_of(sem).available, 3);
}

TEST_HERE(a_slot_of_an_unknown_holder_is_not_given_away)
{
	tsem_hold hold;
	STORE_SEQ(&sem->segment.slots[0], slot_make(0, FAR));
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	limit_file_sizes(true);
	const uint32_t slot = tsem_hold_slot(&hold);
	limit_file_sizes(false);
	assert_int_equal(slot, 1);
	assert_int_equal(LOAD_SEQ(&sem->segment.slots[0]), slot_make(0, FAR));
	assert_int_equal(tsem_release(&hold), 0);
}

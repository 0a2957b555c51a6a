/* SPDX-License-Identifier: MIT */
/* Counters that wrap around at 2^48 ("the seam"), or move by billions. */
#include "fixture.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* T and G this far below 2^48. */
static const uint64_t below[] = {0, 1, 2, 3, 5, 1000};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void
begin_below_the_seam(uint32_t permits, uint32_t max, uint64_t distance)
{
	begin_limited(permits, max);
	set_counters(sem, COUNTER_MASK + 1 - distance, COUNTER_MASK + 1 - distance);
}

static void
expect_counts(uint64_t available, uint64_t held)
{
	const struct tsem_stat stat = stat_of(sem);
	assert_int_equal(stat.available, available);
	assert_int_equal(stat.held, held);
	assert_int_equal(stat.waiting, 0);
}

TEST_BETWEEN(NULL, tear_down, take_and_post_wrap_around)
{
	for (size_t i = 0; i < LENGTH(below); i++) {
		begin_below_the_seam(2, 0, below[i]);
		for (int round = 0; round < 10; round++) {
			uint32_t previous = 99;
			assert_int_equal(tsem_take(sem, 1, NULL), 0);
			expect_counts(1, 1);
			assert_int_equal(tsem_try_take(sem, 1), 0);
			expect_counts(0, 2);
			assert_int_equal(tsem_try_take(sem, 1), -EAGAIN);
			assert_int_equal(tsem_post(sem, 1, &previous), 0);
			assert_int_equal(previous, 0);
			assert_int_equal(tsem_post(sem, 1, &previous), 0);
			assert_int_equal(previous, 1);
			expect_counts(2, 0);
		}
		assert_int_equal(tickets_of(sem), counter_add(COUNTER_MASK + 1 - below[i], 20));
	}
}

TEST_BETWEEN(NULL, tear_down, acquire_and_release_wrap_around)
{
	for (size_t i = 0; i < LENGTH(below); i++) {
		begin_below_the_seam(3, 0, below[i]);
		for (int round = 0; round < 10; round++) {
			tsem_hold first, second, third;
			assert_int_equal(tsem_acquire(sem, 2, NULL, &first), 0);
			assert_int_equal(tsem_try_acquire(sem, 1, &second), 0);
			expect_counts(0, 3);
			assert_int_equal(tsem_try_acquire(sem, 1, &third), -EAGAIN);
			assert_int_equal(tsem_release(&first), 0);
			expect_counts(2, 1);
			assert_int_equal(tsem_release(&second), 0);
			expect_counts(3, 0);
		}
		assert_int_equal(tickets_of(sem), counter_add(COUNTER_MASK + 1 - below[i], 30));
		assert_int_equal(grants_of(sem), tickets_of(sem));
	}
}

/* An orphan of a timeout costs no other process a permit. */
TEST_BETWEEN(NULL, tear_down, orphans_beyond_the_seam_are_skipped)
{
	for (size_t i = 0; i < LENGTH(below); i++) {
		begin_below_the_seam(1, 0, below[i]);
		const struct timespec past = {0};
		for (int round = 0; round < 5; round++) {
			tsem_hold hold, other;
			assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
			assert_int_equal(tsem_acquire(sem, 1, &past, &other), -ETIMEDOUT);
			assert_int_equal(tsem_take(sem, 1, &past), -ETIMEDOUT);
			expect_counts(0, 1);
			assert_int_equal(tsem_release(&hold), 0);
			expect_counts(1, 0);
			assert_int_equal(records_in_use(sem), 0);
		}
		assert_int_equal(tickets_of(sem), counter_add(COUNTER_MASK + 1 - below[i], 15));
	}
}

static int
acquire_and_die(void *unused)
{
	(void)unused;
	tsem_hold hold;
	return tsem_try_acquire(sem, 2, &hold);
}

TEST_BETWEEN(NULL, tear_down, recovery_wraps_around)
{
	for (size_t i = 0; i < LENGTH(below); i++) {
		begin_below_the_seam(3, 0, below[i]);
		for (int round = 0; round < 3; round++) {
			uint32_t recovered = 99;
			assert_int_equal(end_of_child(start_child(acquire_and_die, NULL)), 0);
			expect_counts(1, 2);
			assert_int_equal(tsem_recover(sem, &recovered), 0);
			assert_int_equal(recovered, 2);
			expect_counts(3, 0);
			assert_int_equal(tsem_recover(sem, &recovered), 0);
			assert_int_equal(recovered, 0);
		}
	}
}

static int
wait_in_queue(void *unused)
{
	(void)unused;
	tsem_hold hold;
	int rc = tsem_acquire(sem, 1, NULL, &hold);
	return rc != 0 ? 1 : -tsem_release(&hold);
}

static int
wait_until_killed(void *unused)
{
	(void)unused;
	tsem_hold hold;
	return tsem_acquire(sem, 1, NULL, &hold);
}

/* A waiter dies with a ticket below the seam. E is beyond the seam when it is enabled; or it is still waiting. */
TEST_BETWEEN(NULL, tear_down, dead_waiters_beyond_the_seam_are_skipped)
{
	for (uint64_t below_it = 1; below_it <= 3; below_it++) {
		for (int enabled = 0; enabled <= 1; enabled++) {
			begin_below_the_seam(1, 0, below_it);
			tsem_hold hold;
			assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
			const pid_t child = start_child(wait_until_killed, NULL);
			EVENTUALLY(stat_of(sem).waiting == 1);
			kill(child, SIGSTOP);
			if (enabled)
				assert_int_equal(tsem_release(&hold), 0);
			kill_child(child);
			assert_int_equal(tsem_recover(sem, NULL), 0);
			expect_counts(enabled ? 1 : 0, enabled ? 0 : 1);
			assert_int_equal(stat_of(sem).waiting, 0);
			if (!enabled)
				assert_int_equal(tsem_release(&hold), 0);
			expect_counts(1, 0);
		}
	}
}

TEST_BETWEEN(NULL, tear_down, waiters_on_both_sides_of_the_seam_are_woken)
{
	enum { WAITERS = 6 };
	begin_below_the_seam(1, 0, 4);
	tsem_hold hold;
	pid_t children[WAITERS];
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	for (uint32_t i = 0; i < WAITERS; i++) {
		children[i] = start_child(wait_in_queue, NULL);
		EVENTUALLY(stat_of(sem).waiting == i + 1);
	}
	assert_int_equal(tickets_of(sem), 3);
	assert_int_equal(tsem_release(&hold), 0);
	for (size_t i = 0; i < WAITERS; i++)
		assert_int_equal(end_of_child(children[i]), 0);
	expect_counts(1, 0);
}

TEST_BETWEEN(NULL, tear_down, billions_of_permits_at_once)
{
	begin_below_the_seam(UINT32_MAX, 0, 1);
	tsem_hold all, one;
	uint32_t previous = 0;
	const struct timespec past = {0};
	for (int round = 0; round < 3; round++) {
		assert_int_equal(tsem_acquire(sem, UINT32_MAX, NULL, &all), 0);
		expect_counts(0, UINT32_MAX);
		assert_int_equal(tsem_try_acquire(sem, 1, &one), -EAGAIN);
		assert_int_equal(tsem_acquire(sem, UINT32_MAX, &past, &one), -ETIMEDOUT);
		assert_int_equal(tsem_release(&all), 0);
		expect_counts(UINT32_MAX, 0);

		assert_int_equal(tsem_take(sem, UINT32_MAX, NULL), 0);
		assert_int_equal(tsem_post(sem, UINT32_MAX, &previous), 0);
		assert_int_equal(previous, 0);
	}

	/* More may be available than `previous` can say. */
	assert_int_equal(tsem_post(sem, UINT32_MAX, NULL), 0);
	expect_counts(2 * (uint64_t)UINT32_MAX, 0);
	assert_int_equal(tsem_post(sem, 1, &previous), 0);
	assert_int_equal(previous, UINT32_MAX);
}

struct image {
	uint64_t tickets, grants;
	uint32_t capacity;
	unsigned char first_records[PAGE_BYTES / 2];
};

static struct image
image_of(void)
{
	struct image image;
	memset(&image, 0, sizeof(image)); /* the padding is compared, too */
	image.tickets = LOAD_SEQ(&sem->segment.header->tickets);
	image.grants = LOAD_SEQ(&sem->segment.header->grants);
	image.capacity = LOAD_SEQ(&sem->segment.header->capacity);
	memcpy(image.first_records, sem->segment.records, sizeof(image.first_records));
	return image;
}

TEST_BETWEEN(NULL, tear_down, posts_beyond_the_range_are_refused)
{
	begin_below_the_seam(1, 0, 10);
	/* G is so far ahead of T that five more permits reach the limit. */
	set_counters(sem, COUNTER_MASK - 9, counter_add(COUNTER_MASK - 9, COUNTER_DRIFT - 1 - 5));
	uint32_t previous = 99;
	const struct image before = image_of();
	assert_int_equal(tsem_post(sem, 6, &previous), -EOVERFLOW);
	assert_int_equal(tsem_post(sem, UINT32_MAX, &previous), -EOVERFLOW);
	assert_int_equal(previous, 99);
	const struct image after = image_of();
	assert_memory_equal(&before, &after, sizeof(before));

	assert_int_equal(tsem_post(sem, 5, &previous), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), -EOVERFLOW);
	assert_int_equal(tsem_try_take(sem, 1), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
}

TEST_BETWEEN(NULL, tear_down, arrivals_beyond_the_range_are_refused)
{
	begin_below_the_seam(4, 0, 10);
	/* T is so far ahead of E that only three more tickets may be drawn. */
	set_counters(sem, counter_add(COUNTER_MASK - 9, COUNTER_DRIFT + 4 - 3), COUNTER_MASK - 9);
	const struct timespec past = {0};
	tsem_hold hold;
	memset(&hold, 0x5a, sizeof(hold));
	const tsem_hold untouched = hold;
	const uint64_t tickets = LOAD_SEQ(&sem->segment.header->tickets);
	const uint64_t grants = LOAD_SEQ(&sem->segment.header->grants);
	assert_int_equal(tsem_acquire(sem, 4, &past, &hold), -EOVERFLOW);
	assert_int_equal(tsem_take(sem, 4, &past), -EOVERFLOW);
	assert_memory_equal(&hold, &untouched, sizeof(hold));
	assert_int_equal(LOAD_SEQ(&sem->segment.header->tickets), tickets);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->grants), grants);
	assert_int_equal(records_in_use(sem), 0);

	assert_int_equal(tsem_acquire(sem, 3, &past, &hold), -ETIMEDOUT);
	assert_int_equal(tickets_of(sem), counter_add(counter_value(tickets), 3));
}

TEST_BETWEEN(NULL, tear_down, a_maximum_holds_across_the_seam)
{
	for (size_t i = 0; i < LENGTH(below); i++) {
		begin_below_the_seam(3, 5, below[i]);
		uint32_t previous = 99;
		const struct image before = image_of();
		assert_int_equal(tsem_post(sem, 3, &previous), -EOVERFLOW);
		assert_int_equal(tsem_post(sem, UINT32_MAX, &previous), -EOVERFLOW);
		assert_int_equal(previous, 99);
		const struct image after = image_of();
		assert_memory_equal(&before, &after, sizeof(before));

		assert_int_equal(tsem_post(sem, 2, &previous), 0);
		assert_int_equal(previous, 3);
		assert_int_equal(tsem_post(sem, 1, &previous), -EOVERFLOW);
		/* The maximum limits what is available. Permits that were taken do not count. */
		assert_int_equal(tsem_try_take(sem, 5), 0);
		assert_int_equal(tsem_post(sem, 5, &previous), 0);
		assert_int_equal(previous, 0);
		assert_int_equal(tsem_post(sem, 1, &previous), -EOVERFLOW);
		expect_counts(5, 0);
	}
}

TEST_BETWEEN(NULL, tear_down, waiters_make_room_below_a_maximum)
{
	begin_below_the_seam(1, 2, 2);
	set_counters(sem, 3, COUNTER_MASK); /* four tickets issued, one enabled: three wait */
	uint32_t previous = 99;
	assert_int_equal(tsem_post(sem, 6, &previous), -EOVERFLOW);
	assert_int_equal(tsem_post(sem, 5, &previous), 0);
	assert_int_equal(previous, 0);
	assert_int_equal(stat_of(sem).available, 2);
}

/* Records 1 and 2 are a holder and a waiter, the last ticket. What is not theirs was drawn by orphans and takers. */
struct front {
	const char *what;
	uint32_t capacity, posted, drawn;
	uint32_t held, orphan, wanted;
	int64_t free;
};

static void
expect_front(const struct front *front, uint64_t base)
{
	const uint64_t ticket = counter_add(base, front->drawn - front->wanted);
	set_counters(sem, counter_add(base, front->drawn), counter_add(base, front->posted));
	put_record(sem, 1, front->held > 0 ? UNUSED_PROCESS : 0, STATE_HELD, 0, base, front->held);
	put_record(sem, 2, front->wanted > 0 ? UNUSED_PROCESS : 0, STATE_QUEUED, 0, ticket, front->wanted);
	const uint64_t given_up = counter_add(base, front->drawn - front->wanted - front->orphan);
	put_record(sem, 3, front->orphan > 0 ? owner_orphan(given_up) : 0, STATE_QUEUED, 0, given_up, front->orphan);
	const struct tsem_stat stat = stat_of(sem);
	if (stat.first_free != front->free || stat.first_wanted != front->wanted)
		fail_msg("%s: %lld free for %llu, should be %lld for %u", front->what, (long long)stat.first_free,
		         (unsigned long long)stat.first_wanted, (long long)front->free, front->wanted);
}

TEST_BETWEEN(NULL, tear_down, what_is_free_at_the_front_of_the_queue)
{
	static const struct front fronts[] = {
		{"idle", 2, 0, 0, 0, 0, 0, 2},
		{"drained", 0, 0, 1, 0, 0, 1, 0},
		{"drained, held", 0, 0, 2, 1, 0, 1, -1},
		{"lowered", 1, 0, 3, 0, 0, 3, 1},
		{"lowered, held", 1, 0, 4, 1, 0, 3, 0},
		{"lowered, held more", 1, 0, 3, 2, 0, 1, -1},
		{"posted", 0, 2, 3, 0, 0, 3, 2},
		{"all held", 2, 0, 2, 2, 0, 0, 0},
		{"taken and held", 2, 0, 3, 1, 0, 1, 0},
		{"one is kept", 3, 0, 4, 2, 0, 2, 1},
		{"a place in front was given up", 3, 0, 7, 2, 3, 2, 1},
	};
	for (size_t i = 0; i < LENGTH(below); i++) {
		for (size_t j = 0; j < LENGTH(fronts); j++) {
			begin(fronts[j].capacity);
			expect_front(&fronts[j], COUNTER_MASK + 1 - below[i]);
		}
	}
}

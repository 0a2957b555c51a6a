/* SPDX-License-Identifier: MIT */
/* Skipping a full table of orphans: how many scans of all records it takes. The scans are counted, not timed. */
#include "fixture.h"

enum {
	PARTICIPANTS = UNDER_SANITIZER ? 2000 : 16350, /* twice as many records */
	FRONT = 100,                                   /* E, and the ticket of the first orphan */
	LIVE = 1,                                      /* the waiter behind all orphans */
	ORPHANS_WORTH_A_SCAN = 64
};

static uint32_t orphans;

static int
set_up(void **state)
{
	(void)state;
	orphans = begin_full(PARTICIPANTS, FRONT) - LIVE;
	return 0;
}

/* order[i]: the record of the i-th ticket. */
static uint32_t order[RECORDS_MAX];

/* Orphans for `count` permits each, and a live waiter behind them. No permit is available. */
static void
put_orphans(uint32_t count)
{
	set_counters(sem, FRONT + (uint64_t)orphans * count + 1, 0);
	for (uint32_t i = 0; i < orphans; i++) {
		const uint64_t ticket = FRONT + (uint64_t)i * count;
		put_record(sem, order[i], owner_orphan(ticket), STATE_QUEUED, 0, ticket, count);
	}
	put_record(sem, orphans, owner_process(1, 1), STATE_QUEUED, 0, FRONT + (uint64_t)orphans * count, 1);
	note_orphan(sem, FRONT);
}

/* Skips the orphans. Returns how many scans that took. The live waiter is next then, and no orphan is left. */
static uint32_t
scans_to_skip_orphans(uint32_t count)
{
	put_orphans(count);
	scans = 0;
	skip_orphans(sem);
	const uint32_t taken = scans;
	assert_int_equal(grants_of(sem), (uint64_t)orphans * count);
	assert_int_equal(records_in_use(sem), LIVE);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->pending) & PENDING_ORPHANS, 0);
	return taken;
}

static uint32_t
ascending(uint32_t i)
{
	return i;
}

static uint32_t
descending(uint32_t i)
{
	return orphans - 1 - i;
}

static void
put_in_order(uint32_t (*record_of)(uint32_t i))
{
	for (uint32_t i = 0; i < orphans; i++)
		order[i] = record_of(i);
}

/* Fisher and Yates, with the same numbers in each run. */
static void
shuffle(void)
{
	uint32_t random = 1;
	for (uint32_t i = orphans - 1; i > 0; i--) {
		random = random * 1664525 + 1013904223;
		const uint32_t j = (random >> 8) % (i + 1);
		const uint32_t swapped = order[i];
		order[i] = order[j];
		order[j] = swapped;
	}
}

static void
expect_few_scans(void)
{
	for (uint32_t count = 1; count <= 201; count += 100)
		assert_in_range(scans_to_skip_orphans(count), 1, orphans / ORPHANS_WORTH_A_SCAN + 8);
}

TEST_WITH(set_up, one_scan_for_many_orphans_in_any_order)
{
	put_in_order(descending);
	expect_few_scans();
	put_in_order(ascending);
	expect_few_scans();
	shuffle();
	expect_few_scans();
}

/* The orphans behind it stay, even if their records are in the order of their tickets. */
TEST_WITH(set_up, a_live_waiter_among_orphans_is_not_skipped)
{
	put_in_order(ascending);
	for (uint32_t at = 0; at < 300; at += 37) {
		put_orphans(1);
		put_record(sem, order[at], owner_process(1, 1), STATE_QUEUED, 0, FRONT + at, 1);
		skip_orphans(sem);
		assert_int_equal(grants_of(sem), at);
		assert_int_equal(records_in_use(sem), orphans + LIVE - at);
	}
}

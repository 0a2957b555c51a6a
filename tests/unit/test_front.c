/* SPDX-License-Identifier: MIT */
/*
 * A full table of places given up: what it costs to pass over them. The work is counted and not timed. The header
 * tells of one record more than there is memory for, so each scan of all records asks for that record once, in vain.
 */
#include "inside.h"
#include "recover.h"
#include "wait.h"

#include <errno.h>
#include <sys/mman.h>

enum {
	PARTICIPANTS = UNDER_SANITIZER ? 2000 : 16350, /* twice as many records */
	FRONT = 100,                                   /* the ticket of the first place, and E */
	LIVE = 1,                                      /* the waiter behind them all */
	PLACES_WORTH_A_SCAN = 64
};

static uint32_t scans;
static uint32_t records; /* places given up */
static unsigned char *memory;
static tsem *sem;

int __wrap_segment_reserve(struct segment *segment, uint32_t n);

/* Here the linker puts it in place of segment_reserve(). */
int
__wrap_segment_reserve(struct segment *segment, uint32_t n)
{
	(void)segment;
	(void)n;
	scans++;
	return -EUSERS;
}

static int
set_up(void **state)
{
	(void)state;
	static const struct tsem_config config = {.size = sizeof(config), .permits = FRONT};
	const size_t size = tsem_size_at(PARTICIPANTS);
	memory = shared_memory(size);
	assert_int_equal(tsem_init_at(memory, size, &config, &sem), 0);
	records = sem->segment.reserved - LIVE;
	STORE_SEQ(&sem->segment.header->reserved, records + LIVE + 1);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	const size_t size = tsem_size_at(PARTICIPANTS);
	tsem_close(sem);
	munmap(memory, size);
	return 0;
}

/* order[i]: in which record the i-th place in line stands. */
static uint32_t order[RECORDS_MAX];

/* Places for `count` permits each, and behind them one that is not given up. All permits are out. */
static void
put_orphans(uint32_t count)
{
	set_counters(sem, FRONT + (uint64_t)records * count + 1, 0);
	for (uint32_t i = 0; i < records; i++) {
		const uint64_t ticket = FRONT + (uint64_t)i * count;
		put_record(sem, order[i], owner_orphan(ticket), STATE_QUEUED, 0, ticket, count);
	}
	put_record(sem, records, owner_process(1, 1), STATE_QUEUED, 0, FRONT + (uint64_t)records * count, 1);
	note_orphan(sem, FRONT);
}

/* Returns how many scans it took. After them the live waiter is next, and nothing of the others is left over. */
static uint32_t
scans_to_the_live_one(uint32_t count)
{
	put_orphans(count);
	scans = 0;
	skip_orphans(sem);
	const uint32_t taken = scans;
	assert_int_equal(grants_of(sem), (uint64_t)records * count);
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
	return records - 1 - i;
}

/* The even ones, and then the odd ones. */
static uint32_t
every_second(uint32_t i)
{
	const uint32_t even = (records + 1) / 2;
	return i < even ? 2 * i : 2 * (i - even) + 1;
}

static void
put_in_order(uint32_t (*record_of)(uint32_t i))
{
	for (uint32_t i = 0; i < records; i++)
		order[i] = record_of(i);
}

/* Fisher and Yates, with the same numbers in each run. */
static void
shuffle(void)
{
	uint32_t random = 1;
	for (uint32_t i = records - 1; i > 0; i--) {
		random = random * 1664525 + 1013904223;
		const uint32_t j = (random >> 8) % (i + 1);
		const uint32_t swapped = order[i];
		order[i] = order[j];
		order[j] = swapped;
	}
}

/* Places that stand in the order of their records need no scan for each few of them. */
static void
in_the_order_of_the_records(void **state)
{
	(void)state;
	static uint32_t (*const orders[])(uint32_t) = {ascending, descending, every_second};
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		put_in_order(orders[i]);
		for (uint32_t count = 1; count <= 201; count += 100)
			assert_in_range(scans_to_the_live_one(count), 1, 8);
	}
}

static void
in_any_order(void **state)
{
	(void)state;
	put_in_order(ascending);
	shuffle();
	for (uint32_t count = 1; count <= 201; count += 100)
		assert_in_range(scans_to_the_live_one(count), 1, records / PLACES_WORTH_A_SCAN + 8);
}

/* It is not passed over, and nor is anything behind it, also where that is what the order of the records suggests. */
static void
a_live_one_among_them(void **state)
{
	(void)state;
	put_in_order(ascending);
	for (uint32_t at = 0; at < 300; at += 37) {
		put_orphans(1);
		put_record(sem, order[at], owner_process(1, 1), STATE_QUEUED, 0, FRONT + at, 1);
		skip_orphans(sem);
		assert_int_equal(grants_of(sem), at);
		assert_int_equal(records_in_use(sem), records + LIVE - at);
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(in_the_order_of_the_records),
		TEST(in_any_order),
		TEST(a_live_one_among_them),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

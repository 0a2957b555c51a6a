/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a record while all are in use: what a freed record wakes, what a waiter does meanwhile, and what it costs. The
 * header tells of one record more than there is memory for, so each scan of all records asks for that record, in vain.
 */
#include "recover.h"
#include "one_held.h"

#include <errno.h>
#include <sys/mman.h>

enum { PARTICIPANTS = 3, DEADLINE_MS = 10000, TICKS = 25, INSTANTS = 30 };

static uint64_t scans;
static uint32_t records;
static size_t size;
static unsigned char *memory;

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

/* Live processes have every record there is. */
static int
set_up_full(void **state)
{
	(void)state;
	static const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	size = tsem_size_at(PARTICIPANTS);
	memory = shared_memory(size);
	assert_int_equal(tsem_init_at(memory, size, &config, &sem), 0);
	records = sem->segment.reserved;
	STORE_SEQ(&sem->segment.header->reserved, records + 1);
	set_counters(sem, records, records - 1);
	for (uint32_t i = 0; i < records; i++)
		put_record(sem, i, NOBODY, STATE_HELD, 0, i, 1);
	scans = 0;
	fake_begin();
	began = fake.clock;
	return 0;
}

static int
tear_down_full(void **state)
{
	tear_down(state);
	munmap(memory, size);
	return 0;
}

static void
begin_again(void **state)
{
	tear_down_full(state);
	set_up_full(state);
}

static _Atomic uint32_t *
vacancy(void)
{
	return &sem->segment.header->record_waiters;
}

/* A record becomes free, and whoever did that dies before it wakes a waiter. */
static void
others_free_and_die(uint32_t index)
{
	STORE_SEQ(&sem->segment.records[index].state, state_next(0, STATE_IDLE, 0));
	STORE_SEQ(&sem->segment.records[index].owner, 0);
}

static void
others_free(uint32_t index)
{
	struct record *record = &sem->segment.records[index];
	STORE_SEQ(&record->state, state_next(0, STATE_IDLE, 0));
	record_free_for(sem, index, record, LOAD_SEQ(&record->owner));
}

static void
others_leave(void)
{
	others_post();
	others_free(2);
}

/* Of the wakes on that word, the one with this number, from 0: how many it may wake. */
static int
most_woken(size_t which)
{
	for (uint64_t i = 0; i < fake.wakes; i++) {
		if (fake.woken[i] == vacancy() && which-- == 0)
			return fake.woken_most[i];
	}
	return 0;
}

static void
a_freed_record_wakes_one(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_leave;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(most_woken(0), 1);
	assert_int_equal(most_woken(1), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(state_kind(state_of(sem, 2)), STATE_HELD);
}

static uint64_t timed_out_before;

static void
others_leave_and_it_is_noted(void)
{
	timed_out_before = fake.timed_out;
	others_leave();
}

/* Between any two steps of the waiter: from then on no sleep lasts until its time. */
static void
a_record_freed_at_any_instant(void **state)
{
	for (uint64_t at = 1; at <= INSTANTS; at++) {
		begin_again(state);
		tsem_hold hold;
		fake.at_call = at;
		fake.others = others_leave_and_it_is_noted;
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_null(fake.others);
		assert_int_equal(fake.timed_out, timed_out_before);
	}
	assert_true(fake.timed_out >= 2);
}

/* How far from the tick another process looks around, for all. */
static int64_t looks_after;

static void
others_look_at_each_tick(void)
{
	STORE_SEQ(&sem->segment.header->scanned, fake.slept_until[fake.sleeps - 1] + (uint64_t)looks_after);
	fake.others = others_look_at_each_tick;
}

/* It sleeps from tick to tick. What is said of a wait without end is said of a minute. */
static void
it_wakes_up_at_the_ticks_only(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(60000);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -EUSERS);
	assert_int_equal(fake.clock - began, 60 * NS_PER_SECOND);
	assert_in_range(fake.sleeps, 150, 152);
	for (size_t i = 0; i < 60; i++)
		assert_int_equal(fake.slept_until[i] % TICK_MAX, 0);
}

/* Nor is a record looked at as long as nothing says that one is free: no scan but for those at the ends of the wait. */
static void
it_searches_only_when_woken(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(DEADLINE_MS);
	tsem_hold hold;
	fake.others = others_look_at_each_tick;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -EUSERS);
	fake.others = NULL;
	assert_in_range(fake.sleeps, TICKS, TICKS + 1);
	assert_in_range(scans, 1, 20);
	assert_in_range(fake.calls - fake.sleeps, 1, 3 * records);
}

/* ---- where a wake is missed ---- */

static void
others_free_three_and_die(void)
{
	for (uint32_t i = 1; i <= 3; i++)
		others_free_and_die(i);
	others_post();
}

/* The first that looks around finds them, for all who wait. */
static void
freed_by_one_that_died_before_waking(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_free_three_and_die;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_in_range(fake.clock - began, 1, TICK_MAX);
	assert_in_range(most_woken(0), 2, 3);
}

/* The first sleep ends by its time, and not because the word has changed meanwhile, which no waiter that sleeps notices. */
static void
the_first_sleep_lasts_until_its_tick(void)
{
	fake.at_sleep = fake.sleeps;
	fake.sleep_result = -ETIMEDOUT;
	fake.clock = fake.slept_until[fake.sleeps - 1];
	looks_after = 0;
	others_look_at_each_tick();
	fake.others = NULL;
}

static void
others_die_in_telling_that_nobody_sleeps(void)
{
	AND_SEQ(vacancy(), ~WORD_SLEEPERS);
	others_free_and_die(1);
	others_post();
	the_first_sleep_lasts_until_its_tick();
}

/* A look of others is none for a waiter that the word does not tell of any more. */
static void
a_word_that_forgets_the_waiter(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_die_in_telling_that_nobody_sleeps;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
}

static uint64_t scans_before;

static void
others_leave_and_the_scans_are_noted(void)
{
	scans_before = scans - scans_before;
	others_leave();
}

static void
others_wake_another(void)
{
	scans_before = scans;
	ADD_SEQ(vacancy(), WORD_STEP);
	the_first_sleep_lasts_until_its_tick();
	fake.others = others_leave_and_the_scans_are_noted;
}

/* That one searches. */
static void
no_search_where_another_was_woken(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_wake_another;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 2);
	assert_int_equal(scans_before, 0);
}

static void
others_free_and_cancel(void)
{
	others_free(2);
	ADD_SEQ(&sem->segment.header->cancels, 1);
}

/* The one that was woken leaves without a record: another waiter gets the wake. */
static void
cancelled_when_it_was_woken(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.others = others_free_and_cancel;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -ECANCELED);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(most_woken(0), 1);
	assert_int_equal(most_woken(1), 1);
	assert_int_equal(LOAD_SEQ(&sem->segment.records[2].owner), 0);
}

static void
others_free_and_die_at_the_end(void)
{
	others_free_and_die(2);
	others_post();
}

static void
freed_at_the_last_instant(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(100);
	tsem_hold hold;
	fake.others = others_free_and_die_at_the_end;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), 0);
	assert_int_equal(fake.clock - began, 100 * NS_PER_MS);
}

/* ---- who comes while others wait ---- */

/* One record is free, and one permit. */
static void
free_one(void)
{
	others_free(2);
	others_post();
	OR_SEQ(vacancy(), WORD_SLEEPERS);
}

/* The waiter that was woken for a free record gets a moment to claim it. */
static void
a_newcomer_gives_way(void **state)
{
	(void)state;
	tsem_hold hold;
	free_one();
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_in_range(fake.clock - began, 1, 2 * NS_PER_MS);
	/* And what kept it waiting was an old word. */
	assert_int_equal(LOAD_SEQ(vacancy()) & WORD_SLEEPERS, 0);
	assert_int_equal(state_kind(state_of(sem, 2)), STATE_HELD);
}

static void
a_newcomer_that_cannot_wait(void **state)
{
	(void)state;
	const struct timespec past = clock_after(0);
	tsem_hold hold;
	free_one();
	assert_int_equal(tsem_acquire(sem, 1, &past, &hold), 0);
	assert_int_equal(fake.sleeps, 0);
	assert_int_equal(tsem_release(&hold), 0);
	OR_SEQ(vacancy(), WORD_SLEEPERS);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), 0);
	assert_int_equal(fake.sleeps, 0);
}

/* A thread that keeps a record takes it from no waiter. */
static void
a_kept_record_is_no_vacancy(void **state)
{
	(void)state;
	tsem_hold hold;
	others_free(2);
	others_post();
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(state_kind(state_of(sem, 2)), STATE_CLAIMED);
	ADD_SEQ(&sem->segment.header->tickets, counter_word_make(1, 0)); /* so that it goes the long way */
	others_post();
	OR_SEQ(vacancy(), WORD_SLEEPERS);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 0);
}

/* ---- progress ---- */

static uint32_t progress_calls;

static int
count_progress(void *arg, uint32_t position)
{
	(void)arg;
	assert_int_equal(position, 0);
	progress_calls++;
	return 0;
}

static void
progress_is_told_as_often_as_asked_for(void **state)
{
	static const struct {
		uint32_t every_ms, least, most;
	} cases[] = {{0, TICKS - 1, TICKS + 1}, {50, 198, 201}, {1000, 9, 11}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_again(state);
		const struct timespec deadline = clock_after(DEADLINE_MS);
		const struct tsem_wait options = {
			.size = sizeof(options), .deadline = &deadline, .progress = count_progress, .every_ms = cases[i].every_ms};
		tsem_hold hold;
		progress_calls = 0;
		assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -EUSERS);
		assert_in_range(progress_calls, cases[i].least, cases[i].most);
	}
}

static int
give_up(void *arg, uint32_t position)
{
	return count_progress(arg, position) == 0 && progress_calls == 3;
}

static void
progress_gives_up(void **state)
{
	(void)state;
	const struct tsem_wait options = {.size = sizeof(options), .progress = give_up};
	tsem_hold hold;
	progress_calls = 0;
	looks_after = 0;
	fake.others = others_look_at_each_tick;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ECANCELED);
	assert_in_range(fake.clock - began, 2 * TICK_MAX, 4 * TICK_MAX);
}

#define TEST_FULL(function) cmocka_unit_test_setup_teardown(function, set_up_full, tear_down_full)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FULL(a_freed_record_wakes_one),
		TEST_FULL(a_record_freed_at_any_instant),
		TEST_FULL(it_wakes_up_at_the_ticks_only),
		TEST_FULL(it_searches_only_when_woken),
		TEST_FULL(freed_by_one_that_died_before_waking),
		TEST_FULL(a_word_that_forgets_the_waiter),
		TEST_FULL(no_search_where_another_was_woken),
		TEST_FULL(cancelled_when_it_was_woken),
		TEST_FULL(freed_at_the_last_instant),
		TEST_FULL(a_newcomer_gives_way),
		TEST_FULL(a_newcomer_that_cannot_wait),
		TEST_FULL(a_kept_record_is_no_vacancy),
		TEST_FULL(progress_is_told_as_often_as_asked_for),
		TEST_FULL(progress_gives_up),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

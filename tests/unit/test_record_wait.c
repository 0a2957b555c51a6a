/* SPDX-License-Identifier: MIT */
/* Waiting for a record while all are in use: what a freed record wakes, and what a waiter does meanwhile. */
#include "fixture.h"

enum { PARTICIPANTS = 3, DEADLINE_MS = 10000, TICKS = 25, INSTANTS = 30 };

static uint32_t records;

/* Each record belongs to a hold of a live process. */
static int
set_up(void **state)
{
	(void)state;
	records = begin_full(PARTICIPANTS, 1);
	set_counters(sem, records, records - 1);
	for (uint32_t i = 0; i < records; i++)
		put_record(sem, i, UNUSED_PROCESS, STATE_HELD, 0, i, 1);
	fake_begin();
	began = fake.clock;
	return 0;
}

static _Atomic uint32_t *
waiters_word(void)
{
	return &sem->segment.header->record_waiters;
}

/* The process that frees the record dies before it wakes a waiter. */
static void
peer_frees_and_dies(uint32_t index)
{
	STORE_SEQ(&sem->segment.records[index].state, state_next(0, STATE_IDLE, 0));
	STORE_SEQ(&sem->segment.records[index].owner, 0);
}

static void
peer_frees(uint32_t index)
{
	struct record *record = &sem->segment.records[index];
	STORE_SEQ(&record->state, state_next(0, STATE_IDLE, 0));
	record_free_for(sem, index, record, LOAD_SEQ(&record->owner));
}

static void
peer_releases(void)
{
	peer_posts();
	peer_frees(2);
}

/* How many waiters the wake with this number, counted from 0, may wake; 0 if there was no such wake. */
static int
most_woken(size_t which)
{
	for (uint64_t i = 0; i < fake.wakes; i++) {
		if (fake.woken[i] == waiters_word() && which-- == 0)
			return fake.woken_most[i];
	}
	return 0;
}

static void
a_freed_record_wakes_one_waiter(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.peer = peer_releases;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(most_woken(0), 1);
	assert_int_equal(most_woken(1), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(state_kind(state_of(sem, 2)), STATE_HELD);
}

static uint64_t timed_out_before;

static void
peer_releases_and_it_is_noted(void)
{
	timed_out_before = fake.timed_out;
	peer_releases();
}

/* The peer acts between any two steps of the waiter. No sleep after that times out. */
static void
a_record_freed_at_any_instant_is_noticed(void **state)
{
	for (uint64_t at = 1; at <= INSTANTS; at++) {
		set_up(state);
		tsem_hold hold;
		fake.at_call = at;
		fake.peer = peer_releases_and_it_is_noted;
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_null(fake.peer);
		assert_int_equal(fake.timed_out, timed_out_before);
	}
	assert_true(fake.timed_out >= 2);
}

/* At each tick a peer looks for dead owners, for all. */

static void
peer_looks_at_each_tick(void)
{
	peer_has_looked(identity_pid_ns(), fake.slept_until[fake.sleeps - 1]);
	fake.peer = peer_looks_at_each_tick;
}

/* A minute stands for a wait without end. */
static void
a_waiter_wakes_up_at_the_ticks_only(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(60000);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -EUSERS);
	assert_int_equal(fake.clock - began, 60 * NS_PER_SECOND);
	assert_in_range(fake.sleeps, 150, 152);
	for (size_t i = 0; i < 60; i++)
		assert_int_equal(fake.slept_until[i] % TICK, 0);
}

/* It scans the records where the wait begins and ends, and not in between. */
static void
a_waiter_searches_only_when_woken(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(DEADLINE_MS);
	tsem_hold hold;
	fake.peer = peer_looks_at_each_tick;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -EUSERS);
	fake.peer = NULL;
	assert_in_range(fake.sleeps, TICKS, TICKS + 1);
	assert_in_range(scans, 1, 20);
	assert_in_range(fake.calls - fake.sleeps, 1, TICKS + 3 * records);
}

/* ---- lost wakes ---- */

static void
peer_frees_three_and_dies(void)
{
	for (uint32_t i = 1; i <= 3; i++)
		peer_frees_and_dies(i);
	peer_posts();
}

/* The first waiter that looks wakes as many waiters as records are free. */
static void
a_tick_finds_records_freed_by_a_process_that_died_before_waking(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.peer = peer_frees_three_and_dies;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_in_range(fake.clock - began, 1, TICK);
	assert_in_range(most_woken(0), 2, 3);
}

/* The fake would end the sleep because the word has changed, but no sleeping waiter notices that. */
static void
the_sleep_lasts_until_its_tick(void)
{
	fake.at_sleep = fake.sleeps;
	fake.sleep_result = -ETIMEDOUT;
	fake.clock = fake.slept_until[fake.sleeps - 1];
	peer_looks_at_each_tick();
	fake.peer = NULL;
}

static void
peer_dies_after_clearing_the_word(void)
{
	AND_SEQ(waiters_word(), ~WORD_SLEEPERS);
	peer_frees_and_dies(1);
	peer_posts();
	the_sleep_lasts_until_its_tick();
}

/* At its tick the waiter looks itself, although a peer has looked: the word did not say that the waiter sleeps. */
static void
a_word_that_forgets_the_waiter_costs_one_tick(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.peer = peer_dies_after_clearing_the_word;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
}

static uint64_t scans_before;

static void
peer_releases_and_the_scans_are_noted(void)
{
	scans_before = scans - scans_before;
	peer_releases();
}

static void
peer_wakes_another(void)
{
	scans_before = scans;
	ADD_SEQ(waiters_word(), WORD_STEP);
	the_sleep_lasts_until_its_tick();
	fake.peer = peer_releases_and_the_scans_are_noted;
}

/* That waiter searches. */
static void
no_search_where_another_waiter_was_woken(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.peer = peer_wakes_another;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 2);
	assert_int_equal(scans_before, 0);
}

static void
peer_frees_and_cancels(void)
{
	peer_frees(2);
	ADD_SEQ(&sem->segment.header->cancels, 1);
}

static void
a_woken_waiter_that_is_cancelled_passes_the_wake_on(void **state)
{
	(void)state;
	tsem_hold hold;
	fake.peer = peer_frees_and_cancels;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -ECANCELED);
	assert_int_equal(fake.timed_out, 0);
	assert_int_equal(most_woken(0), 1);
	assert_int_equal(most_woken(1), 1);
	assert_int_equal(LOAD_SEQ(&sem->segment.records[2].owner), 0);
}

static void
peer_frees_and_dies_at_the_end(void)
{
	peer_frees_and_dies(2);
	peer_posts();
}

static void
a_record_freed_at_the_deadline_is_found(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(100);
	tsem_hold hold;
	fake.peer = peer_frees_and_dies_at_the_end;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), 0);
	assert_int_equal(fake.clock - began, 100 * NS_PER_MS);
}

/* ---- newcomers while others wait ---- */

/* One record is free, and one permit is available. */
static void
free_one_record(void)
{
	peer_frees(2);
	peer_posts();
	OR_SEQ(waiters_word(), WORD_SLEEPERS);
}

static void
a_newcomer_lets_a_woken_waiter_claim_first(void **state)
{
	(void)state;
	tsem_hold hold;
	free_one_record();
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_in_range(fake.clock - began, 1, 2 * NS_PER_MS);
	/* No waiter was there: the word was old. */
	assert_int_equal(LOAD_SEQ(waiters_word()) & WORD_SLEEPERS, 0);
	assert_int_equal(state_kind(state_of(sem, 2)), STATE_HELD);
}

static void
a_newcomer_that_may_not_wait_claims_at_once(void **state)
{
	(void)state;
	const struct timespec past = clock_after(0);
	tsem_hold hold;
	free_one_record();
	assert_int_equal(tsem_acquire(sem, 1, &past, &hold), 0);
	assert_int_equal(fake.sleeps, 0);
	assert_int_equal(tsem_release(&hold), 0);
	OR_SEQ(waiters_word(), WORD_SLEEPERS);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), 0);
	assert_int_equal(fake.sleeps, 0);
}

static void
a_thread_with_a_cached_record_does_not_wait(void **state)
{
	(void)state;
	tsem_hold hold;
	peer_frees(2);
	peer_posts();
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(state_kind(state_of(sem, 2)), STATE_CLAIMED);
	ADD_SEQ(&sem->segment.header->tickets, counter_word_make(1, 0)); /* so that it takes the slow path */
	peer_posts();
	OR_SEQ(waiters_word(), WORD_SLEEPERS);
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
progress_is_reported_at_its_pace(void **state)
{
	static const struct {
		uint32_t every_ms, least, most;
	} cases[] = {{0, 12, 13}, {50, 198, 201}, {1000, 9, 11}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up(state);
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
progress_may_give_up(void **state)
{
	(void)state;
	const struct tsem_wait options = {.size = sizeof(options), .progress = give_up};
	tsem_hold hold;
	progress_calls = 0;
	fake.peer = peer_looks_at_each_tick;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ECANCELED);
	assert_in_range(fake.clock - began, 4 * TICK, 6 * TICK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_WITH(set_up, a_freed_record_wakes_one_waiter),
		TEST_WITH(set_up, a_record_freed_at_any_instant_is_noticed),
		TEST_WITH(set_up, a_waiter_wakes_up_at_the_ticks_only),
		TEST_WITH(set_up, a_waiter_searches_only_when_woken),
		TEST_WITH(set_up, a_tick_finds_records_freed_by_a_process_that_died_before_waking),
		TEST_WITH(set_up, a_word_that_forgets_the_waiter_costs_one_tick),
		TEST_WITH(set_up, no_search_where_another_waiter_was_woken),
		TEST_WITH(set_up, a_woken_waiter_that_is_cancelled_passes_the_wake_on),
		TEST_WITH(set_up, a_record_freed_at_the_deadline_is_found),
		TEST_WITH(set_up, a_newcomer_lets_a_woken_waiter_claim_first),
		TEST_WITH(set_up, a_newcomer_that_may_not_wait_claims_at_once),
		TEST_WITH(set_up, a_thread_with_a_cached_record_does_not_wait),
		TEST_WITH(set_up, progress_is_reported_at_its_pace),
		TEST_WITH(set_up, progress_may_give_up),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* What a waiter does while no process wakes it: it reports its progress, and it looks for dead owners. */
#include "fixture.h"

struct progress {
	uint32_t calls;
	uint32_t position;
	uint32_t stop_at; /* the call that gives up */
	uint64_t at[64];
};

static int
note_progress(void *arg, uint32_t position)
{
	struct progress *progress = arg;
	if (progress->calls < 64)
		progress->at[progress->calls] = fake.clock - began;
	progress->position = position;
	return ++progress->calls == progress->stop_at;
}

static void
progress_is_reported_at_its_pace(void **state)
{
	(void)state;
	struct progress progress = {0};
	const struct timespec deadline = clock_after(2100);
	const struct tsem_wait options = {
		.size = sizeof(options), .deadline = &deadline, .progress = note_progress, .arg = &progress, .every_ms = 250};
	tsem_hold hold;
	/* Two waiters in front, for one permit and for three. */
	set_counters(sem, 5, 0);
	put_record(sem, 41, UNUSED_PROCESS, STATE_QUEUED, 0, 1, 1);
	put_record(sem, 42, UNUSED_PROCESS, STATE_QUEUED, 0, 2, 3);
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ETIMEDOUT);
	assert_int_equal(progress.calls, 8);
	for (uint32_t i = 0; i < progress.calls; i++)
		assert_int_equal(progress.at[i], (i + 1) * 250 * NS_PER_MS);
	assert_int_equal(progress.position, 3);
}

static void
progress_without_a_pace_comes_with_the_ticks(void **state)
{
	(void)state;
	struct progress progress = {0};
	const struct timespec deadline = clock_after(4000);
	const struct tsem_wait options = {
		.size = sizeof(options), .deadline = &deadline, .progress = note_progress, .arg = &progress};
	tsem_hold hold;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ETIMEDOUT);
	assert_in_range(progress.calls, 9, 11);
	assert_in_range(fake.sleeps, 9, 11);
	assert_int_equal(progress.position, 0); /* without a pace, the position is not looked up */
}

static void
progress_may_give_up(void **state)
{
	(void)state;
	struct progress progress = {.stop_at = 3};
	const struct tsem_wait options = {
		.size = sizeof(options), .progress = note_progress, .arg = &progress, .every_ms = 100};
	tsem_hold hold;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ECANCELED);
	assert_int_equal(progress.calls, 3);
	assert_int_equal(fake.clock - began, 300 * NS_PER_MS);
	assert_int_equal(records_in_use(sem), 1);
	assert_int_equal(stat_of(sem).timeouts, 1);
}

/* ---- dead owners ---- */

static uint64_t judged;
static bool holder_is_dead;

static int
judge_the_holder(const struct process_id *owner)
{
	(void)owner;
	judged++;
	return holder_is_dead ? LIVENESS_DEAD : LIVENESS_ALIVE;
}

static void
the_holder_dies(void)
{
	holder_is_dead = true;
}

static void
a_dead_holder_is_found_within_half_a_second(void **state)
{
	(void)state;
	tsem_hold hold;
	platform.judge = judge_the_holder;
	const uint64_t start = fake.clock;
	/* At any time relative to the tick and to the last look of another waiter. */
	for (uint64_t ago = 0; ago < 200; ago++) {
		began = fake.clock = start + ago * 1077 * NS_PER_MS;
		STORE_SEQ(&sem->segment.header->scanned, began - ago * NS_PER_MS);
		set_counters(sem, 1, 0);
		put_record(sem, 40, UNUSED_PROCESS, STATE_HELD, 0, 0, 1);
		holder_is_dead = false;
		fake.peer = the_holder_dies; /* just after the waiter's first look, if it looks */
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_in_range(fake.clock - began, 1, 499 * NS_PER_MS);
		assert_int_equal(tsem_release(&hold), 0);
	}
	assert_int_equal(stat_of(sem).recovered, 200);
}

/* The holder is dead. The next waiter has been killed too, but the first look still finds it alive. */
static int
judge_the_second_dead_later(const struct process_id *owner)
{
	return owner->pid == 1 || judged++ > 0 ? LIVENESS_DEAD : LIVENESS_ALIVE;
}

static void
a_second_look_follows_a_recovery_soon(void **state)
{
	(void)state;
	tsem_hold hold;
	judged = 0;
	platform.judge = judge_the_second_dead_later;
	set_counters(sem, 2, 0);
	put_record(sem, 40, owner_process(1, 1), STATE_HELD, 0, 0, 1);
	put_record(sem, 41, owner_process(2, 1), STATE_QUEUED, 0, 1, 1);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.clock - began, LOOK_EVERY);
	assert_int_equal(judged, 2);
}

/* A look during the wait would be too soon after the first one, but a waiter always looks before it gives up. */
static void
a_dead_holder_is_found_at_the_deadline(void **state)
{
	(void)state;
	const struct timespec deadline = clock_after(50);
	tsem_hold hold;
	holder_is_dead = false;
	platform.judge = judge_the_holder;
	fake.peer = the_holder_dies;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), 0);
	assert_int_equal(fake.clock - began, 50 * NS_PER_MS);
	assert_int_equal(stat_of(sem).recovered, 1);
	assert_int_equal(tsem_release(&hold), 0);
}

/*
 * Waits from `began` on; another waiter has looked `ago_ms` before. Returns the number of looks of the waiter itself.
 */
static uint64_t
looks_of_a_wait(uint64_t ago_ms, uint64_t ms)
{
	tsem_hold hold;
	const struct timespec deadline = clock_after(ms);
	fake.clock = began;
	fake.sleeps = 0;
	judged = 0;
	holder_is_dead = false;
	platform.judge = judge_the_holder;
	STORE_SEQ(&sem->segment.header->scanned, began - ago_ms * NS_PER_MS);
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	return judged;
}

/* All wake up at the same tick, and one of them looks. A look from before that tick does not count. */
static void
waiters_share_looks(void **state)
{
	(void)state;
	enum { AT_THE_DEADLINE = 1, AT_THE_TICK = 1, LOOK_MS = LOOK_EVERY / NS_PER_MS };
	const uint64_t tick = began + TICK_MAX - began % TICK_MAX;
	began = tick + 200 * NS_PER_MS;
	assert_int_equal(looks_of_a_wait(LOOK_MS - 1, 100), AT_THE_DEADLINE);
	assert_int_equal(looks_of_a_wait(LOOK_MS, 100), 1 + AT_THE_DEADLINE);
	assert_int_equal(looks_of_a_wait(LOOK_MS - 1, TICK_MAX / NS_PER_MS), AT_THE_TICK + AT_THE_DEADLINE);
	assert_int_equal(fake.slept_until[0], tick + TICK_MAX);
	began = tick + LOOK_EVERY / 2;
	assert_int_equal(looks_of_a_wait(LOOK_MS / 2, 100), AT_THE_DEADLINE);
	assert_int_equal(looks_of_a_wait(LOOK_MS / 2 + 1, 100), 1 + AT_THE_DEADLINE);
	assert_in_range(looks_of_a_wait(0, 10000), 25, 27);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_HELD(progress_is_reported_at_its_pace),
		TEST_HELD(progress_without_a_pace_comes_with_the_ticks),
		TEST_HELD(progress_may_give_up),
		TEST_HELD(a_dead_holder_is_found_within_half_a_second),
		TEST_HELD(a_second_look_follows_a_recovery_soon),
		TEST_HELD(a_dead_holder_is_found_at_the_deadline),
		TEST_HELD(waiters_share_looks),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

TEST_HELD(progress_is_reported_at_its_pace)
{
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

TEST_HELD(progress_without_a_pace_comes_every_800_ms)
{
	struct progress progress = {0};
	const struct timespec deadline = clock_after(4000);
	const struct tsem_wait options = {
		.size = sizeof(options), .deadline = &deadline, .progress = note_progress, .arg = &progress};
	tsem_hold hold;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ETIMEDOUT);
	assert_int_equal(progress.calls, 5);
	for (uint32_t i = 0; i < progress.calls; i++)
		assert_int_equal(progress.at[i], (i + 1) * 800 * NS_PER_MS);
	assert_int_equal(progress.position, 0); /* without a pace, the position is not looked up */
}

TEST_HELD(progress_may_give_up)
{
	struct progress progress = {.stop_at = 3};
	const struct tsem_wait options = {
		.size = sizeof(options), .progress = note_progress, .arg = &progress, .every_ms = 100};
	tsem_hold hold;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ECANCELED);
	assert_int_equal(progress.calls, 3);
	assert_in_range(fake.clock - began, 300 * NS_PER_MS, 300 * NS_PER_MS + SPIN_MAX);
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

TEST_HELD(a_dead_holder_is_found_within_50_ms)
{
	tsem_hold hold;
	platform.judge = judge_the_holder;
	const uint64_t start = fake.clock;
	/* At any time relative to the tick and to the last look of another waiter. */
	for (uint64_t ago = 0; ago < 200; ago++) {
		began = fake.clock = start + ago * 1077 * NS_PER_MS;
		peer_has_looked(identity_pid_ns(), began - ago * NS_PER_MS);
		set_counters(sem, 1, 0);
		put_record(sem, 40, UNUSED_PROCESS, STATE_HELD, 0, 0, 1);
		holder_is_dead = false;
		fake.peer = the_holder_dies; /* just after the waiter's first look, if it looks */
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
		assert_in_range(fake.clock - began, 1, LOOKOUT_EVERY);
		assert_int_equal(tsem_release(&hold), 0);
	}
	assert_int_equal(stat_of(sem).recovered, 200);
}

/* Before the next look is due. */
TEST_HELD(a_dead_holder_is_found_at_the_deadline)
{
	const struct timespec deadline = clock_after(40);
	tsem_hold hold;
	holder_is_dead = false;
	platform.judge = judge_the_holder;
	fake.peer = the_holder_dies;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), 0);
	assert_int_equal(fake.clock - began, 40 * NS_PER_MS);
	assert_int_equal(stat_of(sem).recovered, 1);
	assert_int_equal(tsem_release(&hold), 0);
}

/* Waits for 40 ms; another waiter has looked `ago_ms` before. Returns whether the waiter looked when it began to sleep. */
static bool
looks_first(uint64_t ago_ms)
{
	tsem_hold hold;
	const struct timespec deadline = clock_after(40);
	fake.clock = began;
	judged = 0;
	holder_is_dead = false;
	platform.judge = judge_the_holder;
	peer_has_looked(identity_pid_ns(), began - ago_ms * NS_PER_MS);
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_in_range(judged, 1, 2); /* it always looks at its deadline */
	return judged == 2;
}

/* Or a semaphore with many short waits would have as many looks. */
TEST_HELD(a_waiter_does_not_look_first_if_another_has_just_looked)
{
	assert_false(looks_first(0));
	assert_false(looks_first(LOOKOUT_EVERY / NS_PER_MS));
	assert_true(looks_first(LOOKOUT_EVERY / NS_PER_MS + 1));
	assert_true(looks_first(3600 * 1000));
}

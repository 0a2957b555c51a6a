/* SPDX-License-Identifier: MIT */
/*
 * The fast path looks at a few words and infers the rest (lib/protocol/fast.h). Each of those words, changed by another process
 * or thread, must send the next acquire or release to the slow path. The slow path is the only caller of arrive() and
 * move_grants(), and the linker puts functions that count these calls in their place.
 */
#include "fixture.h"

#include <pthread.h>

/* The calls that this thread has made. */
static _Thread_local uint32_t slow_acquires;
static _Thread_local uint32_t slow_releases;

int __real_arrive(struct tsem *s, uint64_t tag, uint32_t count, enum arrival arrival, uint64_t *ticket);
int __wrap_arrive(struct tsem *s, uint64_t tag, uint32_t count, enum arrival arrival, uint64_t *ticket);

int
__wrap_arrive(struct tsem *s, uint64_t tag, uint32_t count, enum arrival arrival, uint64_t *ticket)
{
	slow_acquires += tag != TAG_NONE; /* a take has no record */
	return __real_arrive(s, tag, count, arrival, ticket);
}

enum move __real_move_grants(struct tsem *s, uint32_t index, const struct record *record, uint64_t state,
                             struct grant *grant);
enum move __wrap_move_grants(struct tsem *s, uint32_t index, const struct record *record, uint64_t state,
                             struct grant *grant);

enum move
__wrap_move_grants(struct tsem *s, uint32_t index, const struct record *record, uint64_t state, struct grant *grant)
{
	slow_releases++;
	return __real_move_grants(s, index, record, state, grant);
}

static void
acquire_on(bool slow_path, uint32_t count, tsem_hold *hold)
{
	const uint32_t before = slow_acquires;
	assert_int_equal(tsem_try_acquire(sem, count, hold), 0);
	assert_int_equal(slow_acquires - before, slow_path);
}

static void
acquire_fast(tsem_hold *hold)
{
	acquire_on(false, 1, hold);
}

static void
acquire_slow(tsem_hold *hold)
{
	acquire_on(true, 1, hold);
}

static void
fail_to_acquire_slow(void)
{
	tsem_hold hold;
	const uint32_t before = slow_acquires;
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EAGAIN);
	assert_true(slow_acquires > before);
}

static void
release_on(bool slow_path, tsem_hold *hold)
{
	const uint32_t before = slow_releases;
	assert_int_equal(tsem_release(hold), 0);
	assert_int_equal(slow_releases - before, slow_path);
}

static void
release_fast(tsem_hold *hold)
{
	release_on(false, hold);
}

static void
release_slow(tsem_hold *hold)
{
	release_on(true, hold);
}

static void
expect_all_available(void)
{
	assert_int_equal(grants_of(sem), tickets_of(sem));
	assert_int_equal(records_in_use(sem), 0);
	assert_int_equal(stat_of(sem).available, stat_of(sem).capacity);
}

/* ---- acquire ---- */

/* So the counts tell the paths apart: a handle's first use is slow, and every further one is fast. */
TEST_CACHED(undisturbed_uses_are_fast)
{
	tsem_hold hold;
	for (int use = 0; use < 3; use++) {
		acquire_fast(&hold);
		release_fast(&hold);
	}
	tsem_close(sem);
	sem = open_semaphore(sem_name);
	acquire_slow(&hold);
	release_slow(&hold);
	expect_all_available();
}

TEST_CACHED(acquire_is_slow_when_T_has_moved)
{
	tsem_hold hold;
	assert_int_equal(tsem_take(sem, 2, NULL), 0);
	fail_to_acquire_slow();
	assert_int_equal(tsem_post(sem, 2, NULL), 0);
	acquire_slow(&hold);
	release_slow(&hold);
	expect_all_available();
}

TEST_CACHED(acquire_is_slow_when_the_capacity_was_lowered)
{
	tsem_hold hold;
	assert_int_equal(tsem_set(sem, 0), 0);
	fail_to_acquire_slow();
	assert_int_equal(tsem_set(sem, 1), 0);
	acquire_slow(&hold);
	release_slow(&hold);
	expect_all_available();
}

/* The setter may die before it changes anything but C. */
TEST_CACHED(acquire_is_slow_when_a_setter_died_after_it_changed_C)
{
	tsem_hold hold;
	STORE_SEQ(&sem->segment.header->capacity, 0);
	fail_to_acquire_slow();
	STORE_SEQ(&sem->segment.header->capacity, 2);
	acquire_slow(&hold);
	release_slow(&hold);
	expect_all_available();
}

/* The record is cached while no permit is available, and T has not moved since. */
TEST_CACHED(acquire_is_slow_when_there_was_no_room_at_the_last_release)
{
	tsem_hold first, second;
	acquire_fast(&first);
	acquire_slow(&second);
	STORE_SEQ(&sem->segment.header->capacity, 1);
	release_slow(&second);
	assert_int_equal(cache_entry(sem)->hold.record, hold_inside(&second)->record);
	fail_to_acquire_slow();
	release_slow(&first);
	acquire_slow(&second);
	release_slow(&second);
	expect_all_available();
}

TEST_CACHED(acquire_is_slow_when_a_permit_was_abandoned)
{
	tsem_hold hold;
	STORE_SEQ(&sem->segment.header->abandoned, 1);
	acquire_slow(&hold);
	assert_true(tsem_hold_recovered(&hold));
	release_slow(&hold);
	acquire_fast(&hold);
	assert_false(tsem_hold_recovered(&hold));
	release_fast(&hold);
	expect_all_available();
}

/* The record is the same, the number of permits is not. */
TEST_CACHED(acquire_is_slow_for_another_count)
{
	tsem_hold hold;
	const uint32_t counts[] = {1, 2, 1, 1, 2, 2, 1};
	for (size_t i = 1; i < sizeof(counts) / sizeof(counts[0]); i++) {
		acquire_on(counts[i] != counts[i - 1], counts[i], &hold);
		assert_int_equal(stat_of(sem).available, 2 - counts[i]);
		assert_int_equal(tsem_release(&hold), 0);
		expect_all_available();
	}
}

/* ---- release ---- */

TEST_CACHED(release_is_slow_when_T_has_moved)
{
	tsem_hold hold;
	acquire_fast(&hold);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	release_slow(&hold);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	expect_all_available();
}

/* A post has replaced the record's tag. */
TEST_CACHED(release_is_slow_when_G_has_moved)
{
	tsem_hold hold;
	acquire_fast(&hold);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	release_slow(&hold);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	expect_all_available();
}

static void *
acquire_both(void *unused)
{
	tsem_hold hold;
	(void)unused;
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	return NULL;
}

TEST_CACHED(release_lets_in_a_thread_that_has_queued_up)
{
	tsem_hold hold;
	pthread_t thread;
	acquire_fast(&hold);
	assert_int_equal(pthread_create(&thread, NULL, acquire_both, NULL), 0);
	EVENTUALLY(stat_of(sem).waiting == 1);
	release_slow(&hold);
	assert_int_equal(pthread_join(thread, NULL), 0);
	expect_all_available();
}

/* Otherwise that waiter would sleep until its next tick. */
TEST_CACHED(release_wakes_a_waiter_that_has_queued_up)
{
	tsem_hold hold;
	acquire_fast(&hold);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const uint64_t ticket = tickets_of(sem);
	put_record(sem, 1, identity_owner(), STATE_QUEUED, 0, ticket, 1);
	STORE_SEQ(&sem->segment.header->tickets, counter_word_make(counter_add(ticket, 1), TAG_NONE));
	OR_SEQ(word_of(ticket), WORD_SLEEPERS);
	release_slow(&hold);
	assert_int_equal(LOAD_SEQ(word_of(ticket)) & WORD_SLEEPER_BITS, 0);
}

/* The first is a hold of the fast path, the second one of the slow path; and each is released once only. */
TEST_CACHED(release_refuses_a_hold_that_is_over)
{
	tsem_hold first, second, copy;
	acquire_fast(&first);
	acquire_slow(&second);
	assert_int_equal(tsem_release(&first), 0);
	assert_int_equal(tsem_release(&first), -EPERM);
	assert_int_equal(tsem_release(&second), 0);
	assert_int_equal(tsem_release(&second), -EPERM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &first), 0);
	copy = first;
	assert_int_equal(tsem_release(&first), 0);
	acquire_fast(&first);
	assert_int_equal(tsem_release(&copy), -EPERM);
	release_fast(&first);
	expect_all_available();
}

/* ---- the cached record ---- */

/* A claimed record has no ticket at first. A second claim before that must get another record. */
TEST_CACHED(a_cached_record_is_claimed_once_at_a_time)
{
	struct claim first, second;
	assert_int_equal(record_claim(sem, 1, USE_HOLD, 0, &first), 0);
	assert_int_equal(record_claim(sem, 1, USE_HOLD, 0, &second), 0);
	assert_int_equal(first.index, 0);
	assert_int_not_equal(second.index, 0);
	record_unclaim(sem, &first);
	record_unclaim(sem, &second);
	expect_all_available();
}

TEST_CACHED(a_cached_record_neither_holds_nor_waits_nor_blocks_a_removal)
{
	assert_int_equal(state_kind(state_of(sem, 0)), STATE_CLAIMED);
	assert_int_equal(stat_of(sem).held, 0);
	assert_int_equal(stat_of(sem).waiting, 0);
	assert_int_equal(tsem_remove(sem_name, 0), 0);
}

/* A CLAIMED record has a ticket if T carries its tag. Without capacity that alone makes the removal fail. */
TEST_CACHED(a_claimed_record_that_has_arrived_blocks_a_removal)
{
	struct header *header = sem->segment.header;
	assert_int_equal(tsem_set(sem, 0), 0);
	put_record(sem, 1, identity_owner(), STATE_CLAIMED, STATE_ARRIVAL_PHASE, 7, 1);
	const uint64_t tickets = LOAD_SEQ(&header->tickets);
	STORE_SEQ(&header->tickets, counter_word_advance(tickets, 0, tag_make(1, 1)));
	assert_int_equal(tsem_remove(sem_name, 0), -EBUSY);
	STORE_SEQ(&header->tickets, counter_word_advance(tickets, 0, tag_make(1, 0)));
	assert_int_equal(tsem_remove(sem_name, 0), 0);
}

TEST_CACHED(closing_frees_a_cached_record)
{
	tsem *other = open_semaphore(sem_name);
	tsem_close(sem);
	sem = other;
	assert_int_equal(LOAD_SEQ(&sem->segment.records[0].owner), 0);
	assert_int_equal(state_kind(state_of(sem, 0)), STATE_IDLE);
	assert_int_equal(state_value(state_of(sem, 0)), LOAD_SEQ(&sem->segment.records[0].gen) + 1);
}

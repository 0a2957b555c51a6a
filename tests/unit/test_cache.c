/* SPDX-License-Identifier: MIT */
/* Cached records: when a thread may use its record again, and that no record is lost. */
#include "fixture.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* It was handed over, released and freed, and another thread of this process has just become its owner. */
TEST_CACHED(a_record_whose_state_has_changed_is_not_reused)
{
	const uint32_t cached = use_one_permit();
	const uint64_t claimed = state_of(sem, cached);
	const uint64_t later = state_next(claimed, STATE_IDLE, state_value(claimed) + 2);
	STORE_SEQ(&sem->segment.records[cached].state, later);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_not_equal(hold_inside(&hold)->record, cached);
	assert_int_equal(state_of(sem, cached), later);
	assert_int_equal(tsem_release(&hold), 0);
}

TEST_CACHED(a_record_claimed_anew_goes_on_from_its_present_state)
{
	const uint32_t cached = use_one_permit();
	struct record *record = &sem->segment.records[cached];
	const uint64_t claimed = state_of(sem, cached);
	STORE_SEQ(&record->state, state_next(claimed, STATE_IDLE, state_value(claimed) + 2));
	STORE_SEQ(&record->owner, 0);
	STORE_SEQ(&sem->segment.header->free_hint, cached);
	for (uint64_t use = 3; use <= 5; use++) {
		assert_int_equal(use_one_permit(), cached);
		assert_true(state_of(sem, cached) > state_next(claimed, STATE_CLAIMED, state_value(claimed) + 2));
		assert_int_equal(state_value(state_of(sem, cached)), LOAD_SEQ(&record->gen));
	}
}

/* `gen` always is that of the state. */
TEST_CACHED(each_use_gets_the_same_record_in_a_new_state)
{
	enum { USES = 2 * (STATE_REPEAT_MASK / STATE_REPEAT_ONE) };
	const uint32_t cached = use_one_permit();
	struct record *record = &sem->segment.records[cached];
	uint64_t last = state_of(sem, cached);
	for (uint64_t use = 0; use < USES; use++) {
		assert_int_equal(use_one_permit(), cached);
		const uint64_t claimed = state_of(sem, cached);
		assert_int_equal(state_kind(claimed), STATE_CLAIMED);
		assert_int_equal(claimed & STATE_PHASES, ~last & STATE_PHASES);
		assert_true(claimed >> STATE_REPEAT_SHIFT > last >> STATE_REPEAT_SHIFT);
		assert_int_equal(LOAD_SEQ(&record->gen), state_value(claimed));
		last = claimed;
	}
	assert_true(state_value(last) > 1);
	assert_int_equal(records_owned(sem), 1);
}

static void *
release_in_thread(void *hold)
{
	assert_int_equal(tsem_release(hold), 0);
	return NULL;
}

static void
release_in_another_thread(tsem_hold *hold)
{
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, release_in_thread, hold), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Two holds at once, released in either order and by another thread. */
TEST_CACHED(nested_holds_leave_no_record_behind)
{
	for (int i = 0; i < 100; i++) {
		tsem_hold holds[2];
		for (int j = 0; j < 2; j++)
			assert_int_equal(tsem_acquire(sem, 1, NULL, &holds[j]), 0);
		assert_int_not_equal(hold_inside(&holds[0])->record, hold_inside(&holds[1])->record);
		tsem_hold *first = &holds[i % 2];
		tsem_hold *second = &holds[1 - i % 2];
		if (i % 4 < 2)
			assert_int_equal(tsem_release(first), 0);
		else
			release_in_another_thread(first);
		assert_int_equal(tsem_release(first), -EPERM);
		assert_int_equal(tsem_release(second), 0);
		assert_int_equal(records_in_use(sem), 0);
	}
	/* One for each entry of the cache that a thread has used. */
	assert_in_range(records_owned(sem), 1, CACHE_ENTRIES);
	assert_int_equal(grants_of(sem), tickets_of(sem));
}

/* A try claims a record before it fails. */
TEST_CACHED(failed_tries_leave_no_record_behind)
{
	tsem_hold hold, none;
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(tsem_try_acquire(sem, 1, &none), -EAGAIN);
	assert_in_range(records_owned(sem), 1, 2);
	assert_int_equal(tsem_release(&hold), 0);
}

enum { TAKES = 10 };

static void *
post_for_each_waiter(void *unused)
{
	(void)unused;
	for (int i = 0; i < TAKES; i++) {
		EVENTUALLY(stat_of(sem).waiting == 1);
		assert_int_equal(tsem_post(sem, 1, NULL), 0);
	}
	return NULL;
}

TEST_CACHED(takes_that_waited_leave_no_record_behind)
{
	pthread_t thread;
	assert_int_equal(tsem_take(sem, 2, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, post_for_each_waiter, NULL), 0);
	for (int i = 0; i < TAKES; i++)
		assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(records_in_use(sem), 0);
	assert_in_range(records_owned(sem), 1, 2);
}

TEST_CACHED(a_forked_child_has_no_cache)
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_ptr_not_equal(cache_entry(sem), NULL);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(cache_entry(sem) == NULL && tsem_release(&hold) == -EPERM ? 0 : 1);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(tsem_release(&hold), 0);
}

/* Permits that were posted beyond the capacity are still available then. */
TEST_CACHED(a_removal_is_noticed_with_a_cached_record)
{
	tsem_hold hold;
	use_one_permit();
	assert_int_equal(tsem_post(sem, 2, NULL), 0);
	removal_mark(sem);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EIDRM);
}

/* The release caches the record with the capacity as it is then, 0, which does not change any more. */
TEST_CACHED(a_removal_while_the_record_holds_is_noticed)
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_post(sem, 2, NULL), 0);
	removal_mark(sem);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EIDRM);
}

TEST_CACHED(a_removal_without_capacity_is_noticed)
{
	tsem_hold hold;
	tsem *empty = new_semaphore(0, 0);
	assert_int_equal(tsem_post(empty, 2, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tsem_acquire(empty, 1, NULL, &hold), 0);
		assert_int_equal(tsem_release(&hold), 0);
	}
	removal_mark(empty);
	assert_int_equal(tsem_try_acquire(empty, 1, &hold), -EIDRM);
	assert_int_equal(tsem_acquire(empty, 1, NULL, &hold), -EIDRM);
	tsem_close(empty);
}

TEST_CACHED(another_count_gets_that_many_permits)
{
	tsem_hold hold;
	use_one_permit();
	assert_int_equal(tsem_try_acquire(sem, 3, &hold), -EINVAL);
	assert_int_equal(tsem_try_acquire(sem, 0, &hold), -EINVAL);
	for (uint32_t count = 2; count >= 1; count--) {
		const uint64_t before = tickets_of(sem);
		assert_int_equal(tsem_acquire(sem, count, NULL, &hold), 0);
		assert_int_equal(tickets_of(sem) - before, count);
		assert_int_equal(LOAD_SEQ(&sem->segment.records[hold_inside(&hold)->record].count), count);
		assert_int_equal(tsem_release(&hold), 0);
		assert_int_equal(grants_of(sem), tickets_of(sem));
	}
}

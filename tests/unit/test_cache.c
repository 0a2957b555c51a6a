/* SPDX-License-Identifier: MIT */
/* Records that a thread keeps between its uses: which it may use again, and that none is lost. */
#include "wait.h"
#include "one_cached.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* Records that are somebody's, used or kept. */
static uint32_t
records_taken(void)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < LOAD_SEQ(&sem->segment.reserved); i++)
		n += LOAD_SEQ(&sem->segment.records[i].owner) != 0;
	return n;
}

static void
the_same_one_every_time(void **state)
{
	(void)state;
	const uint32_t record = acquire_and_release();
	for (int i = 0; i < 10; i++)
		assert_int_equal(acquire_and_release(), record);
	assert_int_equal(records_taken(), 1);
}

/* Handed over, released, free, and just claimed by another thread of this process, which has not got further yet. */
static void
not_one_that_others_have_used_since(void **state)
{
	(void)state;
	const uint32_t cached = acquire_and_release();
	const uint64_t claimed = state_of(sem, cached);
	const uint64_t later = state_next(claimed, STATE_IDLE, state_value(claimed) + 2);
	STORE_SEQ(&sem->segment.records[cached].state, later);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_not_equal(hold_inside(&hold)->record, cached);
	assert_int_equal(state_of(sem, cached), later);
	assert_int_equal(tsem_release(&hold), 0);
}

/* Claimed anew like any other, the record that this thread once kept goes on from where it is, and not from then. */
static void
one_that_was_claimed_again(void **state)
{
	(void)state;
	const uint32_t cached = acquire_and_release();
	struct record *record = &sem->segment.records[cached];
	const uint64_t claimed = state_of(sem, cached);
	STORE_SEQ(&record->state, state_next(claimed, STATE_IDLE, state_value(claimed) + 2));
	STORE_SEQ(&record->owner, 0);
	STORE_SEQ(&sem->segment.header->free_hint, cached);
	for (uint64_t use = 3; use <= 5; use++) {
		assert_int_equal(acquire_and_release(), cached);
		assert_true(state_of(sem, cached) > state_next(claimed, STATE_CLAIMED, state_value(claimed) + 2));
		assert_int_equal(state_value(state_of(sem, cached)), LOAD_SEQ(&record->gen));
	}
}

/* Every use leaves it in a state that it was never in, and `gen` is always that of the state. */
static void
no_state_comes_twice(void **state)
{
	enum { USES = 2 * (STATE_REPEAT_MASK / STATE_REPEAT_ONE) };
	(void)state;
	const uint32_t cached = acquire_and_release();
	struct record *record = &sem->segment.records[cached];
	uint64_t last = state_of(sem, cached);
	for (uint64_t use = 0; use < USES; use++) {
		assert_int_equal(acquire_and_release(), cached);
		const uint64_t claimed = state_of(sem, cached);
		assert_int_equal(state_kind(claimed), STATE_CLAIMED);
		assert_int_equal(claimed & STATE_PHASES, ~last & STATE_PHASES);
		assert_true(claimed >> STATE_REPEAT_SHIFT > last >> STATE_REPEAT_SHIFT);
		assert_int_equal(LOAD_SEQ(&record->gen), state_value(claimed));
		last = claimed;
	}
	assert_true(state_value(last) > 1);
}

static void *
release_in_thread(void *hold)
{
	assert_int_equal(tsem_release(hold), 0);
	return NULL;
}

static void
release_elsewhere(tsem_hold *hold)
{
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, release_in_thread, hold), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Two at once, given back in either order and by other threads: each has a record, and no record is left behind. */
static void
holds_within_holds(void **state)
{
	(void)state;
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
			release_elsewhere(first);
		assert_int_equal(tsem_release(first), -EPERM);
		assert_int_equal(tsem_release(second), 0);
		assert_int_equal(records_in_use(sem), 0);
	}
	/* One for each place among the kept ones that threads have had. */
	assert_in_range(records_taken(), 1, CACHE_ENTRIES);
	assert_int_equal(grants_of(sem), tickets_of(sem));
}

/* A try in vain has claimed one, too. */
static void
none_is_left_by_a_try(void **state)
{
	(void)state;
	tsem_hold hold, none;
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(tsem_try_acquire(sem, 1, &none), -EAGAIN);
	assert_in_range(records_taken(), 1, 2);
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

/* And a take that has stood in line. */
static void
none_is_left_by_a_take(void **state)
{
	(void)state;
	pthread_t thread;
	assert_int_equal(tsem_take(sem, 2, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, post_for_each_waiter, NULL), 0);
	for (int i = 0; i < TAKES; i++)
		assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(records_in_use(sem), 0);
	assert_in_range(records_taken(), 1, 2);
}

static void
none_in_a_forked_child(void **state)
{
	(void)state;
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

/* Permits may be over that were posted beyond those that were taken. */
static void
not_when_it_was_removed(void **state)
{
	(void)state;
	tsem_hold hold;
	acquire_and_release();
	assert_int_equal(tsem_post(sem, 2, NULL), 0);
	removal_mark(sem);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EIDRM);
}

/* Then there is no capacity that could change, and whoever notes it then notes that it is nothing. */
static void
not_when_it_was_removed_in_between(void **state)
{
	(void)state;
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_post(sem, 2, NULL), 0);
	removal_mark(sem);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EIDRM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -EIDRM);
}

static void
not_when_it_had_no_capacity_and_was_removed(void **state)
{
	(void)state;
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

/* Another number of permits, or one that there are not. */
static void
for_as_many_as_are_asked_for(void **state)
{
	(void)state;
	tsem_hold hold;
	acquire_and_release();
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_same_one_every_time),
		TEST(not_one_that_others_have_used_since),
		TEST(one_that_was_claimed_again),
		TEST(no_state_comes_twice),
		TEST(holds_within_holds),
		TEST(none_in_a_forked_child),
		TEST(none_is_left_by_a_try),
		TEST(none_is_left_by_a_take),
		TEST(not_when_it_was_removed),
		TEST(for_as_many_as_are_asked_for),
		TEST(not_when_it_was_removed_in_between),
		TEST(not_when_it_had_no_capacity_and_was_removed),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

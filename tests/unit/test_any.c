/* SPDX-License-Identifier: MIT */
/* tsem_acquire_any(): a semaphore without a free record, and what the records say of the wait. */
#include "fixture.h"

static tsem *ample;

/* `sem` has two records only. */
static int
set_up(void **state)
{
	(void)state;
	begin_embedded(1, 1);
	ample = new_semaphore(1, 0);
	fake_begin();
	return 0;
}

static int
tear_down_both(void **state)
{
	tsem_close(ample);
	return tear_down(state);
}

static void
take_both(void)
{
	assert_int_equal(tsem_take(ample, 1, NULL), 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
}

/* This process, which lives, owns both records. */
static void
peer_claims_the_records(void)
{
	for (uint32_t i = 0; i < 2; i++)
		put_record(sem, i, identity_owner(), STATE_HELD, 0, tickets_of(sem), 1);
	for (size_t i = 0; i < CACHE_ENTRIES; i++)
		cache_clear(sem->cache[i]);
}

#define TEST_BOTH(name) TEST_BETWEEN(set_up, tear_down_both, name)

TEST_BOTH(a_permit_elsewhere_needs_no_record_here)
{
	tsem *const sems[] = {sem, ample};
	tsem_hold hold;
	size_t which = 9;
	peer_claims_the_records();
	assert_int_equal(tsem_acquire_any(sems, 2, NULL, &hold, &which), 0);
	assert_int_equal(which, 1);
	assert_int_equal(tsem_release(&hold), 0);
}

static int
go_on(void *arg, uint32_t position)
{
	(void)arg;
	(void)position;
	return 0;
}

/* Its try still finds a record. It neither sleeps then nor waits in the other queue. */
TEST_BOTH(no_record_left_when_it_queues_up)
{
	tsem *const sems[] = {ample, sem};
	const struct timespec deadline = {.tv_sec = 1000000};
	const struct tsem_wait wait = {.size = sizeof(wait), .deadline = &deadline, .progress = go_on, .every_ms = 1000000};
	tsem_hold hold;
	size_t which = 9;
	take_both();
	const uint64_t sleeps = fake.sleeps;
	/*
	 * A first try shows how many calls a try makes. In the second one the peer acts within the first call behind the
	 * try.
	 */
	const uint64_t before = fake.calls;
	assert_int_equal(tsem_try_acquire(ample, 1, &hold), -EAGAIN);
	assert_int_equal(tsem_try_acquire(sem, 1, &hold), -EAGAIN);
	fake.at_call = fake.calls + (fake.calls - before) + 1;
	fake.peer = peer_claims_the_records;
	assert_int_equal(tsem_acquire_any(sems, 2, &wait, &hold, &which), -EUSERS);
	assert_null(fake.peer);
	assert_int_equal(fake.sleeps, sleeps);
	assert_int_equal(which, 9);
	assert_int_equal(stat_of(ample).waiting, 0);
}

/* So the kernel need not look for another sleeper. */
TEST_BOTH(a_waiter_that_wakes_up_by_itself_stays_one_sleeper)
{
	tsem *const sems[] = {ample, sem};
	tsem_hold hold;
	size_t which = 9;
	take_both();
	fake.peer = peer_posts;
	fake.peer_from_sleep = 3;
	assert_int_equal(tsem_acquire_any(sems, 2, NULL, &hold, &which), 0);
	assert_int_equal(which, 1);
	assert_int_equal(fake.sleeps, 3);
	assert_true(fake.wakes >= 1);
	assert_int_equal(LOAD_SEQ(fake.woken[0]) & WORD_SEVERAL, 0);
	assert_int_equal(tsem_release(&hold), 0);
}

TEST_BOTH(the_hold_begins_at_the_admission_by_the_clock_of_the_wait)
{
	tsem *const sems[] = {ample, sem};
	tsem_hold hold;
	size_t which = 9;
	take_both();
	fake.clock = 1000 * NS_PER_SECOND;
	fake.peer = peer_posts;
	assert_int_equal(tsem_acquire_any(sems, 2, NULL, &hold, &which), 0);
	assert_int_equal(which, 1);
	assert_int_equal(record_at(sem, hold_inside(&hold)->record)->since, fake.clock);
	assert_int_equal(tsem_release(&hold), 0);
}

static bool lower_once_enabled;

bool __real_wait_is_over(const struct tsem *s, const struct waiter *waiter);
bool __wrap_wait_is_over(const struct tsem *s, const struct waiter *waiter);

/* The linker puts it in place of wait_is_over(). It acts between one look and the next. */
bool
__wrap_wait_is_over(const struct tsem *s, const struct waiter *waiter)
{
	const bool over = __real_wait_is_over(s, waiter);
	if (over && lower_once_enabled) {
		lower_once_enabled = false;
		STORE_SEQ(&s->segment.header->capacity, 0);
	}
	return over;
}

/* The next look would find that the waiter is not enabled any more. */
TEST_BOTH(an_enabled_waiter_is_admitted_though_the_capacity_is_lowered)
{
	enum { INSTANTS = 12 }; /* at which the peer posts; 0: while the waiter sleeps */
	const struct tsem_wait wait = {.size = sizeof(wait), .flags = TSEM_INTERRUPTIBLE};
	uint32_t lowered = 0;
	for (uint64_t at = 0; at <= INSTANTS; at++) {
		for (int interrupted = 0; interrupted <= 1; interrupted++) {
			tsem *sems[] = {ample, sem};
			tsem_hold hold = {{0}};
			size_t which = 9;
			take_both();
			fake.at_call = at == 0 ? 0 : fake.calls + at;
			fake.peer = peer_posts;
			fake.sleep_result = -EINTR;
			fake.at_sleep = interrupted ? fake.sleeps + 1 : 0;
			lower_once_enabled = true;
			const int rc = tsem_acquire_any(sems, 2, &wait, &hold, &which);
			lowered += !lower_once_enabled;
			lower_once_enabled = false;
			if (rc != -EINTR) {
				assert_int_equal(rc, 0);
				assert_int_equal(which, 1);
				assert_int_equal(tsem_release(&hold), 0);
			}
			tear_down_both(state);
			set_up(state);
		}
	}
	assert_true(lowered > INSTANTS);
}

static int
see_deadline(const struct tsem_owner *owner, void *seen)
{
	assert_int_equal(owner->position, 1);
	assert_int_equal(owner->remaining_ns, 5 * NS_PER_SECOND);
	++*(size_t *)seen;
	return 0;
}

static void
peer_looks(void)
{
	size_t seen = 0;
	assert_int_equal(tsem_owners(ample, see_deadline, &seen), 0);
	assert_int_equal(tsem_owners(sem, see_deadline, &seen), 0);
	assert_int_equal(seen, 2);
}

TEST_BOTH(both_records_show_the_deadline)
{
	tsem *const sems[] = {ample, sem};
	const struct timespec deadline = {.tv_sec = 1005};
	const struct tsem_wait wait = {.size = sizeof(wait), .deadline = &deadline};
	tsem_hold hold;
	size_t which = 9;
	take_both();
	fake.clock = 1000 * NS_PER_SECOND;
	fake.peer = peer_looks;
	assert_int_equal(tsem_acquire_any(sems, 2, &wait, &hold, &which), -ETIMEDOUT);
	assert_null(fake.peer);
}

TEST_BOTH(a_signal_ends_the_wait_only_if_asked_for)
{
	enum { TICKS = 3 };
	tsem *const sems[] = {ample, sem};
	const struct timespec deadline = {.tv_sec = 1010};
	tsem_hold hold;
	size_t which = 9;
	take_both();
	fake.sleep_result = -EINTR;
	for (int asked_for = 0; asked_for <= 1; asked_for++) {
		const struct tsem_wait wait = {
			.size = sizeof(wait), .deadline = &deadline, .flags = asked_for ? TSEM_INTERRUPTIBLE : 0};
		fake.at_sleep = fake.sleeps + TICKS;
		fake.clock = 1000 * NS_PER_SECOND;
		assert_int_equal(tsem_acquire_any(sems, 2, &wait, &hold, &which), asked_for ? -EINTR : -ETIMEDOUT);
		if (asked_for)
			assert_int_equal(fake.sleeps, fake.at_sleep);
		else
			assert_true(fake.sleeps > fake.at_sleep);
		for (size_t i = 0; i < 2; i++)
			assert_int_equal(stat_of(sems[i]).waiting, 0);
	}
	assert_int_equal(which, 9);
}

/* SPDX-License-Identifier: MIT */
/* tsem_hold_slot, tsem_hold_slots, tsem_hold_recovered. */
#include "support.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- slots ---- */

static void
the_lowest_that_is_free(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(3, 0);
	tsem_hold a, b, c;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &a), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &b), 0);
	assert_int_equal(tsem_hold_slot(&b), 0); /* given when asked for */
	assert_int_equal(tsem_hold_slot(&a), 1);
	assert_int_equal(tsem_release(&b), 0);
	assert_int_equal(tsem_hold_slot(&b), TSEM_NO_SLOT);
	assert_int_equal(tsem_hold_slot(&a), 1); /* stays */
	assert_int_equal(tsem_acquire(sem, 1, NULL, &b), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &c), 0);
	assert_int_equal(tsem_hold_slot(&c), 0);
	assert_int_equal(tsem_hold_slot(&b), 2);
	tsem_close(sem);
}

static void
one_for_each_permit(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(2000, 0);
	tsem_hold one, some, many;
	uint32_t slots[2000];
	assert_int_equal(tsem_acquire(sem, 1, NULL, &one), 0);
	assert_int_equal(tsem_hold_slot(&one), 0);
	assert_int_equal(tsem_acquire(sem, 3, NULL, &some), 0);
	memset(slots, 0xff, sizeof(slots));
	assert_int_equal(tsem_hold_slots(&some, slots, 2), 3);
	assert_int_equal(slots[0], 1);
	assert_int_equal(slots[1], 2);
	assert_int_equal(slots[2], UINT32_MAX);
	assert_int_equal(tsem_hold_slots(&some, NULL, 0), 3);

	/* More than there are: as many as there are. */
	assert_int_equal(tsem_acquire(sem, 1500, NULL, &many), 0);
	assert_int_equal(tsem_hold_slots(&many, slots, 2000), TSEM_SLOTS_MAX - 4);
	for (uint32_t i = 0; i < TSEM_SLOTS_MAX - 4; i++)
		assert_int_equal(slots[i], i + 4);
	tsem_hold none;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &none), 0);
	assert_int_equal(tsem_hold_slot(&none), TSEM_NO_SLOT);
	assert_int_equal(tsem_release(&many), 0);
	assert_int_equal(tsem_hold_slot(&none), 4);
	tsem_close(sem);
}

struct seen {
	uint32_t slots[8];
	size_t n;
};

static int
note_slot(const struct tsem_owner *owner, void *arg)
{
	struct seen *seen = arg;
	if (owner->slot_count > 0 && owner->slots[0] != owner->slot)
		return 1;
	seen->slots[seen->n++] = owner->slot_count == 2 ? 100 + owner->slots[1] : owner->slot;
	return 0;
}

static int
take_one(void *arg)
{
	return -tsem_take(arg, 1, NULL);
}

static void
shown(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(4, 0);
	tsem_hold a, b, c;
	struct seen seen = {.n = 0};
	assert_int_equal(tsem_acquire(sem, 1, NULL, &a), 0);
	assert_int_equal(tsem_acquire(sem, 2, NULL, &b), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &c), 0);
	assert_int_equal(tsem_hold_slot(&c), 0);
	assert_int_equal(tsem_hold_slot(&b), 1);
	const pid_t waiter = start_child(take_one, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(tsem_owners(sem, note_slot, &seen), 0);
	assert_int_equal(seen.n, 4);
	assert_int_equal(seen.slots[0], TSEM_NO_SLOT); /* has not asked */
	assert_int_equal(seen.slots[1], 102);
	assert_int_equal(seen.slots[2], 0);
	assert_int_equal(seen.slots[3], TSEM_NO_SLOT);
	kill_child(waiter);
	tsem_close(sem);
}

/* ---- each its own, whoever dies ---- */

enum { PERMITS = 4, MEMBERS = 10, ROUNDS = 400 };

struct crowd {
	tsem *sem;
	_Atomic pid_t in_slot[PERMITS];
	_Atomic int rounds;
};

/* Some die with their slot. */
static int
use_slots(void *arg)
{
	struct crowd *crowd = arg;
	const pid_t self = getpid();
	unsigned seed = (unsigned)self;
	while (crowd->rounds++ < ROUNDS) {
		tsem_hold hold;
		CHECK(tsem_acquire(crowd->sem, 1, NULL, &hold) == 0);
		const uint32_t slot = tsem_hold_slot(&hold);
		CHECK(slot < PERMITS);
		CHECK(atomic_exchange(&crowd->in_slot[slot], self) == 0);
		sched_yield();
		CHECK(tsem_hold_slot(&hold) == slot);
		CHECK(atomic_exchange(&crowd->in_slot[slot], 0) == self);
		if (rand_r(&seed) % 20 == 0)
			raise(SIGKILL);
		CHECK(tsem_release(&hold) == 0);
	}
	return 0;
}

static void
no_two_have_one(void **state)
{
	(void)state;
	struct crowd *crowd = shared_memory(sizeof(*crowd));
	crowd->sem = new_semaphore(PERMITS, 0);
	pid_t members[MEMBERS];
	for (int i = 0; i < MEMBERS; i++)
		members[i] = start_child(use_slots, crowd);
	for (int i = 0; i < MEMBERS;) {
		const int end = end_of_child(members[i]);
		if (end == 128 + SIGKILL) {
			members[i] = start_child(use_slots, crowd);
			continue;
		}
		assert_int_equal(end, 0);
		i++;
	}
	tsem_close(crowd->sem);
	munmap(crowd, sizeof(*crowd));
}

/* ---- abandonment ---- */

static void
kill_a_holder(tsem *sem)
{
	const uint64_t held = stat_of(sem).held;
	const pid_t holder = start_child(hold_until_killed, sem);
	EVENTUALLY(stat_of(sem).held == held + 1);
	kill_child(holder);
}

static void
one_is_told(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(2, 0);
	tsem_hold before, told, after;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &before), 0);
	kill_a_holder(sem);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &told), 0);
	assert_false(tsem_hold_recovered(&before));
	assert_true(tsem_hold_recovered(&told));
	assert_true(tsem_hold_recovered(&told)); /* stays so */
	assert_int_equal(tsem_release(&before), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &after), 0);
	assert_false(tsem_hold_recovered(&after));
	assert_int_equal(stat_of(sem).recovered, 1);
	tsem_close(sem);
}

static int
expect_to_be_told(void *arg)
{
	tsem_hold hold;
	CHECK(tsem_acquire(arg, 1, NULL, &hold) == 0);
	return tsem_hold_recovered(&hold) ? 42 : 0;
}

/* The one who was told dies of it: the next one is told. */
static void
told_again(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(1, 0);
	kill_a_holder(sem);
	for (int i = 0; i < 3; i++)
		assert_int_equal(end_of_child(start_child(expect_to_be_told, sem)), 42);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_true(tsem_hold_recovered(&hold)); /* the last of them ended with its hold */
	tsem_close(sem);
}

static int
wait_briefly(void *arg)
{
	const struct timespec soon = deadline_in(30);
	return tsem_take(arg, 1, &soon) == -ETIMEDOUT ? 0 : 1;
}

/* Who gives up a place, dies in line, or takes without being recorded has nothing to leave behind. */
static void
nobody_is_told_of_waiters(void **state)
{
	(void)state;
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(end_of_child(start_child(wait_briefly, sem)), 0);
	const pid_t waiter = start_child(hold_until_killed, sem);
	EVENTUALLY(stat_of(sem).waiting == 1);
	kill_child(waiter);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_false(tsem_hold_recovered(&hold));
	tsem_close(sem);
}

/* Those who acquire only to give it back pass the news on. */
static void
news_is_passed_on(void **state)
{
	(void)state;
	const char *name = fresh_name();
	tsem *sem = new_semaphore_named(name, 1, 0);
	tsem *other = new_semaphore(1, 0);
	tsem *const both[] = {sem, other};
	const struct timespec past = {0};
	const struct tsem_wait at_once = {.size = sizeof(at_once), .deadline = &past};
	tsem_hold holds[2];
	kill_a_holder(sem);
	assert_int_equal(tsem_take(other, 1, NULL), 0);
	assert_int_equal(tsem_acquire_all(both, 2, &at_once, holds), -ETIMEDOUT);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &holds[0]), 0);
	assert_true(tsem_hold_recovered(&holds[0]));
	tsem_close(sem);
	tsem_close(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lowest_that_is_free),
		cmocka_unit_test(one_for_each_permit),
		cmocka_unit_test(shown),
		cmocka_unit_test(no_two_have_one),
		cmocka_unit_test(one_is_told),
		cmocka_unit_test(told_again),
		cmocka_unit_test(nobody_is_told_of_waiters),
		cmocka_unit_test(news_is_passed_on),
	};
	support_start(100);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* tsem_hold_slot, tsem_hold_slots. */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TEST(the_lowest_that_is_free)
{
	tsem *sem = new_semaphore(3, 0);
	tsem_hold a, b, c;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &a), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &b), 0);
	assert_int_equal(tsem_hold_slot(&b), 0); /* the call assigns it */
	assert_int_equal(tsem_hold_slot(&a), 1);
	assert_int_equal(tsem_release(&b), 0);
	assert_int_equal(tsem_hold_slot(&b), TSEM_NO_SLOT);
	assert_int_equal(tsem_hold_slot(&a), 1); /* does not change */
	assert_int_equal(tsem_acquire(sem, 1, NULL, &b), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &c), 0);
	assert_int_equal(tsem_hold_slot(&c), 0);
	assert_int_equal(tsem_hold_slot(&b), 2);
	tsem_close(sem);
}

TEST(one_for_each_permit)
{
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

	/* More than the hold has: all that it has. */
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

/* ---- one hold, several threads ---- */

enum { ASKING = 2, WANTED = 8, TIMES = 2000 };

struct asking {
	const tsem_hold *hold;
	pthread_barrier_t *start;
	uint32_t slots[WANTED];
	size_t n;
};

static void *
ask(void *arg)
{
	struct asking *self = arg;
	pthread_barrier_wait(self->start);
	self->n = tsem_hold_slots(self->hold, self->slots, WANTED);
	return NULL;
}

/* They get the same slots, and no others are assigned. */
TEST(threads_that_ask_at_once)
{
	tsem *sem = new_semaphore(WANTED + 1, 0);
	pthread_barrier_t start;
	assert_int_equal(pthread_barrier_init(&start, NULL, ASKING), 0);
	for (int time = 0; time < TIMES; time++) {
		tsem_hold hold, next;
		pthread_t thread;
		assert_int_equal(tsem_acquire(sem, WANTED, NULL, &hold), 0);
		struct asking asking[ASKING] = {{.hold = &hold, .start = &start}, {.hold = &hold, .start = &start}};
		assert_int_equal(pthread_create(&thread, NULL, ask, &asking[1]), 0);
		ask(&asking[0]);
		assert_int_equal(pthread_join(thread, NULL), 0);
		for (uint32_t i = 0; i < ASKING * WANTED; i++) {
			assert_int_equal(asking[i / WANTED].n, WANTED);
			assert_int_equal(asking[i / WANTED].slots[i % WANTED], i % WANTED);
		}
		assert_int_equal(tsem_acquire(sem, 1, NULL, &next), 0);
		assert_int_equal(tsem_hold_slot(&next), WANTED);
		assert_int_equal(tsem_release(&next), 0);
		assert_int_equal(tsem_release(&hold), 0);
	}
	pthread_barrier_destroy(&start);
	tsem_close(sem);
}

static int
ask_in_a_child(void *hold)
{
	return (int)tsem_hold_slots(hold, NULL, 0);
}

/* A copy of the hold in a child shows the slots of its owner, and assigns none. */
TEST(only_the_owner_takes_any)
{
	tsem *sem = new_semaphore(2, 0);
	tsem_hold first, second;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &first), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &second), 0);
	assert_int_equal(end_of_child(start_child(ask_in_a_child, &first)), 0);
	assert_int_equal(tsem_hold_slot(&second), 0);
	assert_int_equal(end_of_child(start_child(ask_in_a_child, &second)), 1);
	tsem_close(sem);
}

/* ---- output ---- */

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

TEST(slots_are_shown)
{
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
	assert_int_equal(seen.slots[0], TSEM_NO_SLOT); /* it has not asked */
	assert_int_equal(seen.slots[1], 102);
	assert_int_equal(seen.slots[2], 0);
	assert_int_equal(seen.slots[3], TSEM_NO_SLOT);
	kill_child(waiter);
	tsem_close(sem);
}

/* ---- different slots, although holders die ---- */

enum { PERMITS = 4, MEMBERS = 10, ROUNDS = 400 };

struct crowd {
	tsem *sem;
	_Atomic pid_t in_slot[PERMITS];
	_Atomic int rounds;
};

/* Some die while they have a slot. */
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

TEST(no_two_have_the_same)
{
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

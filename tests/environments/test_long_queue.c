/* SPDX-License-Identifier: MIT */
/* In a queue of 300 processes, most wake up rarely. Many are killed at once: the others are admitted, in order. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "protocol/handle.h"

enum { WAITERS = 300 };

/* The waiters in the order of their admission. Only the holder of the only permit writes it. */
struct order {
	uint32_t n;
	uint32_t owner[WAITERS];
};

static tsem *sem;
static struct order *order;
static pid_t holder;
static pid_t waiters[WAITERS];

static int
wait_in_queue(void *arg)
{
	const uint32_t *number = arg;
	tsem_hold hold;
	const int rc = tsem_acquire(sem, 1, NULL, &hold);
	if (rc == -ECANCELED)
		return ECANCELED;
	CHECK(rc == 0);
	CHECK(order->n < WAITERS);
	order->owner[order->n++] = *number;
	CHECK(tsem_release(&hold) == 0);
	return 0;
}

static uint64_t
tickets(void)
{
	return counter_value(LOAD_SEQ(&sem->segment.header->tickets));
}

static uint64_t
last_look(void)
{
	const struct header *header = sem->segment.header;
	uint64_t sum = 0; /* all of one PID namespace, so all but one are 0 */
	for (uint32_t i = 0; i < LOOKS; i++)
		sum += LOAD_SEQ(&header->looks[i]);
	return sum;
}

/*
 * Starts a holder of the only permit, and waiters. Each of them has looked for the dead since the queue stopped
 * growing, and sleeps.
 */
static int
set_up(void **state)
{
	(void)state;
	enum { ROUNDS = 2 };
	sem = new_semaphore(1, 0);
	order = shared_memory(sizeof(*order));
	holder = start_child(hold_until_killed, sem);
	EVENTUALLY(tickets() == 1);
	for (uint32_t i = 0; i < WAITERS; i++) {
		waiters[i] = start_child(wait_in_queue, &i);
		EVENTUALLY(tickets() == i + 2);
	}
	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t before = last_look();
		EVENTUALLY(last_look() != before);
	}
	assert_int_equal(stat_of(sem).waiting, WAITERS);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	tsem_close(sem);
	munmap(order, sizeof(*order));
	return 0;
}

/*
 * Kills all waiters except `n` of them from `first` on, and then the holder: the others are admitted one after another.
 */
static void
kill_all_but(uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < WAITERS; i++) {
		if (i < first || i >= first + n)
			kill(waiters[i], SIGKILL);
	}
	kill_child(holder);
	for (uint32_t i = 0; i < WAITERS; i++)
		assert_int_equal(end_of_child(waiters[i]), i < first || i >= first + n ? 128 + SIGKILL : 0);
	assert_int_equal(order->n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(order->owner[i], first + i);
	/* Dead waiters behind the last live one stay in the queue until a process recovers them. */
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(stat_of(sem).available, 1);
	assert_int_equal(stat_of(sem).held, 0);
	assert_int_equal(stat_of(sem).waiting, 0);
}

#define TEST_HERE(name) TEST_BETWEEN(set_up, tear_down, name)

TEST_HERE(the_holder_dies)
{
	kill_all_but(0, WAITERS);
}

TEST_HERE(and_the_first_200)
{
	kill_all_but(200, WAITERS - 200);
}

TEST_HERE(and_all_but_the_last)
{
	kill_all_but(WAITERS - 1, 1);
}

TEST_HERE(and_all_but_the_first)
{
	kill_all_but(0, 1);
}

/* Of two neighbours one looks for the dead at the next tick. */
TEST_HERE(and_all_but_two_in_the_middle)
{
	kill_all_but(150, 2);
}

/* That takes longer, but it happens. */
TEST_HERE(and_all_but_one_in_the_middle)
{
	kill_all_but(150, 1);
}

/* The process that admitted the first waiter died before it woke it; the others follow. */
TEST_HERE(the_first_is_admitted_and_not_woken)
{
	ADD_SEQ(&sem->segment.header->grants, counter_word_make(1, 0));
	for (uint32_t i = 0; i < WAITERS; i++)
		assert_int_equal(end_of_child(waiters[i]), 0);
	assert_int_equal(order->n, WAITERS);
	kill_child(holder);
}

TEST_HERE(all_are_cancelled_and_none_is_woken)
{
	ADD_SEQ(&sem->segment.header->cancels, 1);
	for (uint32_t i = 0; i < WAITERS; i++)
		assert_int_equal(end_of_child(waiters[i]), ECANCELED);
	kill_child(holder);
}

int
main(void)
{
	return run_all_tests(300);
}

/* SPDX-License-Identifier: MIT */
/* Two recoverers of the same record, and a slow recoverer whose record has another owner by then. */
#include "fixture.h"

#include <pthread.h>

static uint32_t permits_of_the_other;

/* What else happens while a recoverer looks for the exit status of a command. Here it finds none. */
static void (*during_look)(void);

bool __wrap_has_exited(pid_t pid, uint64_t start);

bool
__wrap_has_exited(pid_t pid, uint64_t start)
{
	(void)pid;
	(void)start;
	if (during_look != NULL)
		during_look();
	return false;
}

static void
another_recovers(void)
{
	recover_record(sem, RECORD, &permits_of_the_other);
}

TEST_RECOVERY(the_permits_come_back_once_for_two_recoverers)
{
	static const enum state_kind states[] = {STATE_QUEUED, STATE_HELD, STATE_RELEASING};
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		set_counters(sem, 100 + COUNT, 100);
		put_the_record(UNUSED_PROCESS, states[i], 100);
		permits_of_the_other = 0;
		during_judgement = another_recovers;
		const uint32_t permits = recover_the_record();
		assert_int_equal(permits + permits_of_the_other, states[i] == STATE_RELEASING ? 0 : COUNT);
		expect_freed(STATE_PHASES, COUNT);
	}
}

static uint64_t newcomer;
static uint64_t newcomers_ticket;

static void
recovered_and_taken_by_a_newcomer(void)
{
	another_recovers();
	assert_int_equal(owner_of_the_record(), 0);
	put_record(sem, RECORD, newcomer, STATE_HELD, STATE_PHASES, newcomers_ticket, COUNT);
	set_counters(sem, 100 + 2 * COUNT, grants_of(sem));
}

/* The recoverer knows that the old owner is dead. Meanwhile the record has got another owner. */
TEST_RECOVERY(the_next_owner_keeps_its_permits)
{
	newcomer = owner_process(1, 1);
	newcomers_ticket = 100 + COUNT;
	put_the_record(UNUSED_PROCESS, STATE_HELD, 100);
	during_judgement = recovered_and_taken_by_a_newcomer;
	assert_int_equal(recover_the_record(), 0);
	assert_int_equal(owner_of_the_record(), newcomer);
	assert_int_equal(state_of(sem, RECORD), state_next(STATE_PHASES, STATE_HELD, newcomers_ticket));
	assert_int_equal(grants_of(sem), 100 + COUNT);
}

TEST_RECOVERY(two_orphans_of_one_record_differ_by_their_tickets)
{
	const uint64_t first = owner_orphan(100);
	const uint64_t second = owner_orphan(103);
	assert_int_not_equal(first, second);
	put_the_record(second, STATE_IDLE, 8);
	record_free_for(sem, RECORD, &sem->segment.records[RECORD], first);
	assert_int_equal(owner_of_the_record(), second);
	record_free_for(sem, RECORD, &sem->segment.records[RECORD], second);
	assert_int_equal(owner_of_the_record(), 0);
}

static void
adopted_by_a_child(void)
{
	STORE_SEQ(&sem->segment.records[RECORD].owner, owner_process(1, 1));
	STORE_SEQ(&sem->segment.records[RECORD].state, state_adopted(state_of(sem, RECORD)));
}

TEST_RECOVERY(an_adopted_hold_is_not_recovered)
{
	put_the_record(UNUSED_PROCESS, STATE_HELD, 100);
	during_judgement = adopted_by_a_child;
	assert_int_equal(recover_the_record(), 0);
	assert_int_equal(owner_of_the_record(), owner_process(1, 1));
	assert_int_equal(state_kind(state_of(sem, RECORD)), STATE_HELD);
	assert_int_equal(grants_of(sem), 100);
}

enum { RACES = 3000 };
static pthread_barrier_t barrier;
static _Atomic uint32_t permits_of_all;

static void *
race(void *unused)
{
	for (int i = 0; i < RACES; i++) {
		uint32_t permits = 0;
		pthread_barrier_wait(&barrier);
		recover_record(sem, RECORD, &permits);
		ADD_RLX(&permits_of_all, permits);
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

/*
 * Two threads recover the same record at the same instant, many times. The scheduler varies the order of their steps.
 */
TEST_RECOVERY(two_recoverers_at_once_agree)
{
	pthread_t other;
	STORE_SEQ(&permits_of_all, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&other, NULL, race, NULL), 0);
	uint64_t phases = 0;
	uint32_t wrong = 0;
	for (int i = 0; i < RACES; i++) {
		put_record(sem, RECORD, UNUSED_PROCESS, i % 2 == 0 ? STATE_HELD : STATE_RELEASING, phases, 100, COUNT);
		STORE_SEQ(&sem->segment.header->grants,
		          counter_word_make(100, i % 3 == 0 ? tag_make(RECORD, phases == 0) : TAG_NONE));
		phases ^= STATE_PHASES;
		uint32_t permits = 0;
		pthread_barrier_wait(&barrier);
		recover_record(sem, RECORD, &permits);
		ADD_RLX(&permits_of_all, permits);
		pthread_barrier_wait(&barrier);
		wrong += grants_of(sem) != 100 + COUNT || owner_of_the_record() != 0
		         || state_of(sem, RECORD) != state_next(phases, STATE_IDLE, 8);
	}
	pthread_join(other, NULL);
	pthread_barrier_destroy(&barrier);
	assert_int_equal(wrong, 0);
	assert_int_equal(LOAD_SEQ(&permits_of_all), RACES / 2 * COUNT);
}

/* Its `tsem run` gives the permits back, and reaps it. */
static void
command_is_reaped(void)
{
	during_look = NULL;
	STORE_SEQ(&sem->segment.records[RECORD].state, state_next(state_of(sem, RECORD), STATE_IDLE, 8));
}

TEST_RECOVERY(a_command_that_is_reaped_during_the_look_has_abandoned_nothing)
{
	struct identity self;
	assert_int_equal(identity_get(&self), 0);
	for (int reaped = 0; reaped < 2; reaped++) {
		set_counters(sem, 100 + COUNT, 100);
		put_the_record(UNUSED_PROCESS, STATE_HELD, 100);
		STORE_SEQ(&sem->segment.records[RECORD].use, USE_COMMAND);
		STORE_SEQ(&sem->segment.records[RECORD].pid_ns, self.pid_ns);
		STORE_SEQ(&sem->segment.header->abandoned, 0);
		during_look = reaped != 0 ? command_is_reaped : NULL;
		recover_the_record();
		assert_int_equal(LOAD_SEQ(&sem->segment.header->abandoned), reaped == 0);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * Recovery of one record from every state, with an injected judge of life and death: it is called between reading `who`
 * and everything else, so what it does is what another process does while a slow recoverer thinks.
 */
#include "inside.h"

#include <errno.h>
#include <pthread.h>

#include "liveness.h"
#include "platform.h"
#include "record.h"
#include "recover.h"

enum { RECORD = 5, COUNT = 2 };

static tsem *sem;
static struct platform real;
static void (*meanwhile)(void); /* called once, by the next judgement */
static _Atomic bool everybody_lives;

static int
judge(const struct owner *owner)
{
	void (*action)(void) = meanwhile;
	if (action != NULL) {
		meanwhile = NULL; /* not written to while threads race */
		action();
	}
	if (everybody_lives || owner->pid != NOBODY_PID)
		return LIVENESS_ALIVE;
	return LIVENESS_DEAD;
}

static int
set_up(void **state)
{
	(void)state;
	sem = new_semaphore(3, 0);
	set_counters(sem, 100 + COUNT, 100);
	real = platform;
	platform.judge = judge;
	everybody_lives = false;
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	platform = real;
	meanwhile = NULL;
	tsem_close(sem);
	return 0;
}

static void
put(uint64_t who, enum state state, uint64_t value)
{
	put_record(sem, RECORD, who, state, 0, value, COUNT);
}

static uint32_t
recover(void)
{
	uint32_t permits = 0;
	recover_record(sem, RECORD, &permits);
	return permits;
}

static uint64_t
who_now(void)
{
	return LOAD_SEQ(&sem->segment.records[RECORD].who);
}

/* Free, used `uses` more times, and G moved by `moved`. */
static void
expect_freed(uint64_t faces, uint64_t moved)
{
	assert_int_equal(who_now(), 0);
	assert_int_equal(what_of(sem, RECORD), what_next(faces, STATE_IDLE, 8));
	assert_int_equal(grants_of(sem), 100 + moved);
	assert_int_equal(tickets_of(sem), 100 + COUNT);
}

static void
expect_untouched(uint64_t who, uint64_t what)
{
	assert_int_equal(who_now(), who);
	assert_int_equal(what_of(sem, RECORD), what);
	assert_int_equal(grants_of(sem), 100);
	assert_int_equal(tickets_of(sem), 100 + COUNT);
}

/* ---- from every state ---- */

static void
idle(void **state)
{
	(void)state;
	put(NOBODY, STATE_IDLE, 8);
	assert_int_equal(recover(), 0);
	expect_freed(0, 0);
}

static void
claimed_without_a_ticket(void **state)
{
	(void)state;
	put(NOBODY, STATE_CLAIMED, 7);
	assert_int_equal(recover(), 0);
	expect_freed(0, 0); /* the faces have not been used */
}

static void
claimed_with_a_stale_tag_of_its_own(void **state)
{
	(void)state;
	put(NOBODY, STATE_CLAIMED, 7);
	STORE_SEQ(&sem->segment.header->tickets, word_make(100 + COUNT, tag_make(RECORD, 1)));
	assert_int_equal(recover(), 0);
	expect_freed(0, 0);
}

static void
claimed_with_its_ticket(void **state)
{
	(void)state;
	put(NOBODY, STATE_CLAIMED, 7);
	STORE_SEQ(&sem->segment.header->tickets, word_make(100 + COUNT, tag_make(RECORD, 0)));
	assert_int_equal(recover(), COUNT); /* it was enabled at once, so it had the permits */
	expect_freed(WHAT_FACES, COUNT);
}

static void
held(void **state)
{
	(void)state;
	put(NOBODY, STATE_HELD, 100);
	assert_int_equal(recover(), COUNT);
	expect_freed(WHAT_FACES, COUNT);
	assert_int_equal(stat_of(sem).recovered, COUNT);
}

static void
queued_and_enabled(void **state)
{
	(void)state;
	put(NOBODY, STATE_QUEUED, 101);
	assert_int_equal(recover(), COUNT);
	expect_freed(WHAT_FACES, COUNT);
}

/* E is 103: the line has reached ticket 103, although two permits are not there. */
static void
queued_and_next_in_line(void **state)
{
	(void)state;
	put(NOBODY, STATE_QUEUED, 103);
	assert_int_equal(recover(), 0); /* a place skipped is no permit that came back */
	expect_freed(WHAT_FACES, COUNT);
	assert_int_equal(stat_of(sem).recovered, 0);
}

static void
queued_behind_others(void **state)
{
	(void)state;
	put(NOBODY, STATE_QUEUED, 104);
	const uint64_t what = what_of(sem, RECORD);
	assert_int_equal(recover(), 0);
	expect_untouched(NOBODY, what);
}

static void
releasing_before_the_move(void **state)
{
	(void)state;
	put(NOBODY, STATE_RELEASING, 100);
	assert_int_equal(recover(), 0);
	expect_freed(WHAT_FACES, COUNT);
}

static void
releasing_after_the_move(void **state)
{
	(void)state;
	put(NOBODY, STATE_RELEASING, 100);
	STORE_SEQ(&sem->segment.header->grants, word_make(100, tag_make(RECORD, 0)));
	assert_int_equal(recover(), 0);
	expect_freed(WHAT_FACES, 0);
}

static void
a_state_that_does_not_exist(void **state)
{
	(void)state;
	put(NOBODY, (enum state)7, 100);
	const uint64_t what = what_of(sem, RECORD);
	assert_int_equal(recover(), 0);
	expect_untouched(NOBODY, what);
}

static void
the_living_are_left_alone(void **state)
{
	(void)state;
	everybody_lives = true;
	for (unsigned s = STATE_IDLE; s <= STATE_RELEASING; s++) {
		put(NOBODY, (enum state)s, 100);
		const uint64_t what = what_of(sem, RECORD);
		assert_int_equal(recover(), 0);
		expect_untouched(NOBODY, what);
	}
}

/* ---- orphans and handed-over holds ---- */

static void
an_orphan_is_dead_without_asking(void **state)
{
	(void)state;
	everybody_lives = true;
	put(who_orphan(103), STATE_QUEUED, 103);
	assert_int_equal(recover(), 0);
	expect_freed(WHAT_FACES, COUNT);
}

static void
an_orphan_waits_for_the_line(void **state)
{
	(void)state;
	put(who_orphan(104), STATE_QUEUED, 104);
	note_orphan(sem, 104);
	const uint64_t what = what_of(sem, RECORD);
	assert_int_equal(recover(), 0);
	expect_untouched(who_orphan(104), what);

	/* Whoever moves E to it passes it over, so its two permits come on top of the one posted. */
	set_counters(sem, 106, 100);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(who_now(), 0);
	assert_int_equal(grants_of(sem), 101 + COUNT);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->concern) & CONCERN_ORPHANS, 0);
}

static void
an_orphan_behind_a_live_waiter_stays(void **state)
{
	(void)state;
	everybody_lives = true;
	set_counters(sem, 106, 100);
	put_record(sem, 6, NOBODY, STATE_QUEUED, 0, 103, 1);
	put(who_orphan(104), STATE_QUEUED, 104);
	note_orphan(sem, 104);
	uint32_t permits = 0;
	recover_all(sem, &permits);
	assert_int_equal(permits, 0);
	assert_int_equal(grants_of(sem), 100);
	assert_int_equal(who_now(), who_orphan(104));
	assert_int_equal(LOAD_SEQ(&sem->segment.header->concern) >> 16, 104);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->concern) & CONCERN_ORPHANS, 1);
}

/* More in a row than are collected in one scan, in an order that is not that of their records. */
static void
a_run_of_orphans_is_passed_over_at_once(void **state)
{
	(void)state;
	enum { ORPHANS = 150 };
	assert_int_equal(segment_reserve(&sem->segment, ORPHANS), 0);
	STORE_SEQ(&sem->segment.header->reserved, ORPHANS);
	set_counters(sem, 103 + ORPHANS, 100);
	for (uint32_t i = 0; i < ORPHANS; i++) {
		const uint64_t ticket = 103 + i * 37 % ORPHANS;
		put_record(sem, i, who_orphan(ticket), STATE_QUEUED, 0, ticket, 1);
		note_orphan(sem, ticket);
	}
	assert_int_equal(LOAD_SEQ(&sem->segment.header->concern) >> 16, 103);
	skip_orphans(sem);
	assert_int_equal(grants_of(sem), 100 + ORPHANS);
	assert_int_equal(records_in_use(sem), 0);
	assert_int_equal(LOAD_SEQ(&sem->segment.header->concern) & CONCERN_ORPHANS, 0);
}

static void
a_handed_over_hold_of_a_dead_process(void **state)
{
	(void)state;
	put(who_handed(NOBODY_PID, 100), STATE_HELD, 100);
	assert_int_equal(recover(), COUNT);
	expect_freed(WHAT_FACES, COUNT);
}

/* Its release was begun by somebody who may have died in it: it goes on, although the owner lives. */
static void
a_handed_over_hold_of_a_live_process(void **state)
{
	(void)state;
	everybody_lives = true;
	put(who_handed(NOBODY_PID, 100), STATE_HELD, 100);
	const uint64_t what = what_of(sem, RECORD);
	assert_int_equal(recover(), 0);
	expect_untouched(who_handed(NOBODY_PID, 100), what);

	put(who_handed(NOBODY_PID, 100), STATE_RELEASING, 100);
	assert_int_equal(recover(), 0);
	expect_freed(WHAT_FACES, COUNT);
}

/* ---- two at once ---- */

static uint32_t permits_of_the_other;

static void
another_recovers(void)
{
	recover_record(sem, RECORD, &permits_of_the_other);
}

static void
two_recoverers_in_turn(void **state)
{
	(void)state;
	static const enum state states[] = {STATE_QUEUED, STATE_HELD, STATE_RELEASING};
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		set_counters(sem, 100 + COUNT, 100);
		put(NOBODY, states[i], 100);
		permits_of_the_other = 0;
		meanwhile = another_recovers;
		const uint32_t permits = recover();
		assert_int_equal(permits + permits_of_the_other, states[i] == STATE_RELEASING ? 0 : COUNT);
		expect_freed(WHAT_FACES, COUNT);
	}
}

static uint64_t newcomer;
static uint64_t newcomers_ticket;

static void
recovered_and_taken_by_a_newcomer(void)
{
	another_recovers();
	assert_int_equal(who_now(), 0);
	put_record(sem, RECORD, newcomer, STATE_HELD, WHAT_FACES, newcomers_ticket, COUNT);
	set_counters(sem, 100 + 2 * COUNT, grants_of(sem));
}

/* The recoverer knows that the old owner is dead, and meanwhile the record has become somebody else's. */
static void
the_next_owner_is_not_robbed(void **state)
{
	(void)state;
	newcomer = who_owner(1, 1);
	newcomers_ticket = 100 + COUNT;
	put(NOBODY, STATE_HELD, 100);
	meanwhile = recovered_and_taken_by_a_newcomer;
	assert_int_equal(recover(), 0);
	assert_int_equal(who_now(), newcomer);
	assert_int_equal(what_of(sem, RECORD), what_next(WHAT_FACES, STATE_HELD, newcomers_ticket));
	assert_int_equal(grants_of(sem), 100 + COUNT);
}

/* Two orphans of one record differ by their tickets. */
static void
the_next_orphan_is_another(void **state)
{
	(void)state;
	const uint64_t first = who_orphan(100);
	const uint64_t second = who_orphan(103);
	assert_int_not_equal(first, second);
	put(second, STATE_IDLE, 8);
	record_free_for(sem, RECORD, &sem->segment.records[RECORD], first);
	assert_int_equal(who_now(), second);
	record_free_for(sem, RECORD, &sem->segment.records[RECORD], second);
	assert_int_equal(who_now(), 0);
}

static void
adopted_by_a_child(void)
{
	STORE_SEQ(&sem->segment.records[RECORD].who, who_owner(1, 1));
	STORE_SEQ(&sem->segment.records[RECORD].what, what_adopted(what_of(sem, RECORD)));
}

static void
an_adopted_hold_is_not_robbed(void **state)
{
	(void)state;
	put(NOBODY, STATE_HELD, 100);
	meanwhile = adopted_by_a_child;
	assert_int_equal(recover(), 0);
	assert_int_equal(who_now(), who_owner(1, 1));
	assert_int_equal(what_state(what_of(sem, RECORD)), STATE_HELD);
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

/* The same record, by two at the same instant, over and over; the pauses of the scheduler find the gaps. */
static void
two_recoverers_at_once(void **state)
{
	(void)state;
	pthread_t other;
	STORE_SEQ(&permits_of_all, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&other, NULL, race, NULL), 0);
	uint64_t faces = 0;
	uint32_t wrong = 0;
	for (int i = 0; i < RACES; i++) {
		put_record(sem, RECORD, NOBODY, i % 2 == 0 ? STATE_HELD : STATE_RELEASING, faces, 100, COUNT);
		STORE_SEQ(&sem->segment.header->grants, word_make(100, i % 3 == 0 ? tag_make(RECORD, faces == 0) : TAG_NONE));
		faces ^= WHAT_FACES;
		uint32_t permits = 0;
		pthread_barrier_wait(&barrier);
		recover_record(sem, RECORD, &permits);
		ADD_RLX(&permits_of_all, permits);
		pthread_barrier_wait(&barrier);
		wrong +=
			grants_of(sem) != 100 + COUNT || who_now() != 0 || what_of(sem, RECORD) != what_next(faces, STATE_IDLE, 8);
	}
	pthread_join(other, NULL);
	pthread_barrier_destroy(&barrier);
	assert_int_equal(wrong, 0);
	assert_int_equal(LOAD_SEQ(&permits_of_all), RACES / 2 * COUNT);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(idle),
		TEST(claimed_without_a_ticket),
		TEST(claimed_with_a_stale_tag_of_its_own),
		TEST(claimed_with_its_ticket),
		TEST(held),
		TEST(queued_and_enabled),
		TEST(queued_and_next_in_line),
		TEST(queued_behind_others),
		TEST(releasing_before_the_move),
		TEST(releasing_after_the_move),
		TEST(a_state_that_does_not_exist),
		TEST(the_living_are_left_alone),
		TEST(an_orphan_is_dead_without_asking),
		TEST(an_orphan_waits_for_the_line),
		TEST(an_orphan_behind_a_live_waiter_stays),
		TEST(a_run_of_orphans_is_passed_over_at_once),
		TEST(a_handed_over_hold_of_a_dead_process),
		TEST(a_handed_over_hold_of_a_live_process),
		TEST(two_recoverers_in_turn),
		TEST(the_next_owner_is_not_robbed),
		TEST(the_next_orphan_is_another),
		TEST(an_adopted_hold_is_not_robbed),
		TEST(two_recoverers_at_once),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

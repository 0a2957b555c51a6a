/* SPDX-License-Identifier: MIT */
/* Who of a long line wakes up when: those near its ends at each tick, the others in turns; and what one does for all. */
#include "liveness.h"
#include "recover.h"
#include "one_held.h"

#include <errno.h>

enum { PERMITS = 3, DEADLINE_MS = 10000, SLEEPS_SEEN = 12 };

/* In place of the one permit that all tests of waiting begin with. */
static void
begin_with_three_held(void **state)
{
	tear_down(state);
	sem = new_semaphore(PERMITS, 0);
	set_counters(sem, PERMITS, 0);
	put_record(sem, 40, NOBODY, STATE_HELD, 0, 0, PERMITS);
	fake_begin();
	began = fake.clock;
}

static uint64_t tickets_behind;

static void
others_line_up(void)
{
	const uint64_t tickets = tickets_of(sem);
	set_counters(sem, tickets + tickets_behind, grants_of(sem));
}

/* A waiter for `count` with `ahead` tickets in front of it, behind which others line up during its first sleep. */
static void
wait_in_vain(void **state, uint64_t ahead, uint64_t behind, uint32_t count)
{
	tsem_hold hold;
	begin_with_three_held(state);
	const struct timespec deadline = clock_after(DEADLINE_MS);
	set_counters(sem, PERMITS + ahead, 0);
	tickets_behind = behind;
	fake.others = others_line_up;
	assert_int_equal(tsem_acquire(sem, count, &deadline, &hold), -ETIMEDOUT);
	assert_true(fake.sleeps > SLEEPS_SEEN);
}

static bool
is_a_multiple(uint64_t time)
{
	return time % TICK_MAX == 0;
}

static void
assert_each_tick(void)
{
	for (size_t i = 1; i < SLEEPS_SEEN; i++) {
		assert_true(is_a_multiple(fake.slept_until[i]));
		assert_int_equal(fake.slept_until[i] - fake.slept_until[i - 1], TICK_MAX);
	}
}

/* From the second sleep on, the first that knows of those behind. Returns whether those are the odd ticks. */
static bool
assert_every_second_tick(void)
{
	assert_in_range(fake.slept_until[1] - fake.slept_until[0], TICK_MAX, 2 * TICK_MAX);
	for (size_t i = 2; i < SLEEPS_SEEN; i++) {
		assert_true(is_a_multiple(fake.slept_until[i]));
		assert_int_equal(fake.slept_until[i] - fake.slept_until[i - 1], 2 * TICK_MAX);
	}
	return fake.slept_until[1] / TICK_MAX % 2 != 0;
}

static void
at_the_ends_of_a_line_each_tick(void **state)
{
	static const uint64_t lines[][2] = {{0, 0}, {20, 20}, {63, 63}, {0, 1000}, {63, 1000}, {1000, 0}, {1000, 63}};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		for (uint32_t count = 1; count <= PERMITS; count++) {
			wait_in_vain(state, lines[i][0], lines[i][1], count);
			assert_each_tick();
		}
	}
}

/* So at each tick there is one, as long as two neighbours live, however many permits they all wait for. */
static void
in_the_middle_neighbours_take_turns(void **state)
{
	static const uint64_t lines[][2] = {{64, 64}, {65, 1000}, {1000, 64}, {499, 499}};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		for (uint32_t count = 1; count <= PERMITS; count++) {
			wait_in_vain(state, lines[i][0], lines[i][1], count);
			const bool odd = assert_every_second_tick();
			wait_in_vain(state, lines[i][0] + count, lines[i][1], count);
			assert_int_not_equal(assert_every_second_tick(), odd);
		}
	}
}

static void
the_line_moves_on(void)
{
	set_counters(sem, tickets_of(sem), 100);
}

static void
others_line_up_and_then_the_line_moves_on(void)
{
	others_line_up();
	fake.others = the_line_moves_on;
}

/* Who has come to the front meanwhile wakes up more often from then on. */
static void
in_front_while_asleep(void **state)
{
	(void)state;
	tsem_hold hold;
	const struct timespec deadline = clock_after(DEADLINE_MS);
	set_counters(sem, 101 + 40, 0);
	tickets_behind = 1000;
	fake.others = others_line_up_and_then_the_line_moves_on;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(grants_of(sem), 100);
	for (size_t i = 2; i < SLEEPS_SEEN; i++)
		assert_int_equal(fake.slept_until[i] - fake.slept_until[i - 1], TICK_MAX);
}

static uint64_t judged;

static int
judge_dead_at_the_second_look(const struct process_id *owner)
{
	(void)owner;
	return ++judged == 2 ? LIVENESS_DEAD : LIVENESS_ALIVE;
}

/* Where permits have just come back more may be about to: who finds that looks again soon, whoever's turn it is then. */
static void
looks_again_where_one_has_died(void **state)
{
	for (uint64_t ticket = 1000; ticket < 1002; ticket++) {
		tsem_hold hold;
		begin_with_three_held(state);
		const struct timespec deadline = clock_after(DEADLINE_MS);
		set_counters(sem, ticket, 0);
		tickets_behind = 1000;
		judged = 0;
		platform.judge = judge_dead_at_the_second_look;
		fake.others = others_line_up;
		assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
		assert_int_equal(grants_of(sem), PERMITS);
		assert_int_equal(fake.slept_until[1] - fake.slept_until[0], LOOK_EVERY);
		assert_true(is_a_multiple(fake.slept_until[2]));
	}
}

static uint32_t progress_calls;

static int
count_progress(void *arg, uint32_t position)
{
	(void)arg;
	(void)position;
	progress_calls++;
	return 0;
}

static int
judge_alive(const struct process_id *owner)
{
	(void)owner;
	judged++;
	return LIVENESS_ALIVE;
}

/* How far from the tick somebody else looks. */
static int64_t looks_after;

static void
others_look_at_each_tick(void)
{
	const uint64_t tick = fake.slept_until[fake.sleeps - 1];
	if (is_a_multiple(tick))
		STORE_SEQ(&sem->segment.header->scanned, tick + (uint64_t)looks_after);
	fake.others = others_look_at_each_tick;
}

/* Returns how many times the waiter looked itself, but for before it first sleeps and at its deadline. */
static uint64_t
looks_of_its_own(int64_t after, const struct tsem_wait *options)
{
	tsem_hold hold;
	judged = 0;
	looks_after = after;
	platform.judge = judge_alive;
	fake.others = others_look_at_each_tick;
	assert_int_equal(tsem_acquire_wait(sem, 1, options, &hold), -ETIMEDOUT);
	fake.others = NULL;
	return judged - 2;
}

/* Nor does it look at the clock: each call is that of a sleep. */
static void
no_look_where_somebody_else_has_looked(void **state)
{
	(void)state;
	enum { TICKS = 25, AT_THE_ENDS = 6 };
	const struct timespec deadline = clock_after(DEADLINE_MS);
	const struct tsem_wait options = {.size = sizeof(options), .deadline = &deadline, .progress = count_progress};
	progress_calls = 0;
	assert_int_equal(looks_of_its_own((int64_t)(LOOK_EVERY - NS_PER_MS), &options), 0);
	assert_in_range(fake.sleeps, TICKS, TICKS + 1);
	assert_in_range(fake.calls - fake.sleeps, 1, AT_THE_ENDS);
	assert_in_range(progress_calls, TICKS - 1, TICKS);
}

/* Long ago, or in another time namespace, or it was this process that did not run. */
static void
a_look_at_another_time_is_none(void **state)
{
	static const int64_t distances[] = {-1, -100 * (int64_t)NS_PER_MS, 100 * (int64_t)NS_PER_MS,
	                                    3600 * (int64_t)NS_PER_SECOND};
	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		tear_down(state);
		set_up(state);
		const struct timespec deadline = clock_after(DEADLINE_MS);
		const struct tsem_wait options = {.size = sizeof(options), .deadline = &deadline};
		assert_in_range(looks_of_its_own(distances[i], &options), 23, 25);
	}
}

static void
others_look_and_die_before_waking(void)
{
	others_look_at_each_tick();
	fake.others = NULL;
	others_post_and_die_before_waking();
}

static void
enabled_at_a_tick_at_which_somebody_else_looked(void **state)
{
	(void)state;
	tsem_hold hold;
	looks_after = 0;
	fake.others = others_look_and_die_before_waking;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_int_equal(tsem_release(&hold), 0);
}

static void
others_look_and_die_in_cancelling(void)
{
	others_look_at_each_tick();
	fake.others = NULL;
	ADD_SEQ(&sem->segment.header->cancels, 1);
}

static void
cancelled_at_a_tick_at_which_somebody_else_looked(void **state)
{
	(void)state;
	tsem_hold hold;
	looks_after = 0;
	fake.others = others_look_and_die_in_cancelling;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -ECANCELED);
	assert_int_equal(fake.sleeps, 1);
}

static int
give_up_at_the_second(void *arg, uint32_t position)
{
	return count_progress(arg, position) == 0 && progress_calls == 2;
}

static void
progress_gives_up_where_somebody_else_has_looked(void **state)
{
	(void)state;
	tsem_hold hold;
	const struct tsem_wait options = {.size = sizeof(options), .progress = give_up_at_the_second};
	progress_calls = 0;
	looks_after = 0;
	fake.others = others_look_at_each_tick;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ECANCELED);
	assert_int_equal(fake.sleeps, 2);
}

/* ---- what one does for all ---- */

static _Atomic uint32_t *
word_of(uint64_t ticket)
{
	return ticket_word(sem, ticket);
}

/* A live process with that ticket, who sleeps on the word of the last one. */
static void
put_sleeper(uint32_t index, enum state_kind state, uint64_t ticket, uint32_t count)
{
	put_record(sem, index, NOBODY, state, 0, ticket, count);
	wait_announce(word_of(ticket + count - 1), 0);
}

static uint32_t
wakes_of(uint64_t ticket)
{
	uint32_t n = 0;
	for (uint64_t i = 0; i < fake.wakes; i++)
		n += fake.woken[i] == word_of(ticket);
	return n;
}

/* Of which ten have left: E is 13. */
static void
begin_a_line(void **state, uint64_t tickets)
{
	begin_with_three_held(state);
	set_counters(sem, tickets, 10);
}

static void
somebody_looks(void)
{
	tsem_hold hold;
	const struct timespec deadline = clock_after(1);
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
}

/* Whoever lets somebody in and dies before waking: of all who wake up at a tick one looks, and wakes those. */
static void
a_look_wakes_those_who_were_let_in(void **state)
{
	begin_a_line(state, 1000);
	put_sleeper(41, STATE_QUEUED, 10, 1);
	put_sleeper(42, STATE_QUEUED, 11, 2);             /* and its last ticket 12 */
	put_sleeper(43, STATE_QUEUED, 13, 1);             /* next in line */
	put_sleeper(44, STATE_HELD, 20, 2);               /* admitted before the capacity was lowered */
	put_record(sem, 45, NOBODY, STATE_HELD, 0, 9, 1); /* awake */
	somebody_looks();
	assert_int_equal(wakes_of(10), 1);
	assert_int_equal(wakes_of(12), 1);
	assert_int_equal(wakes_of(21), 1);
	assert_int_equal(fake.wakes, 3);
}

/* Whoever was waking them, and others on the same words, died on the way. */
static void
a_look_wakes_whom_the_dead_were_waking(void **state)
{
	begin_a_line(state, 1000);
	put_record(sem, 41, NOBODY, STATE_QUEUED, 0, 10, 1);
	put_record(sem, 42, NOBODY, STATE_HELD, 0, 20, 2);
	OR_SEQ(word_of(10), WORD_SEVERAL);
	OR_SEQ(word_of(21), WORD_SEVERAL);
	somebody_looks();
	assert_int_equal(wakes_of(10), 1);
	assert_int_equal(wakes_of(21), 1);
	assert_int_equal(fake.wakes, 2);
}

/* Of those who share a word, only the one. */
static void
a_look_wakes_nobody_else(void **state)
{
	begin_a_line(state, 10 + ARRAY_WORDS + 10);
	put_sleeper(41, STATE_QUEUED, 10, 1);
	put_sleeper(42, STATE_QUEUED, 10 + ARRAY_WORDS, 1);
	somebody_looks();
	assert_int_equal(wakes_of(10), 1);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(fake.woken_bits[0], word_bit(10));
	assert_int_not_equal(word_bit(10), word_bit(10 + ARRAY_WORDS));
}

static void
others_cancel_and_die_before_waking(void)
{
	ADD_SEQ(&sem->segment.header->cancels, 1);
}

static void
others_mark_it_removed_and_die_before_waking(void)
{
	STORE_SEQ(&sem->segment.header->removed, 1);
}

/* Who notices by itself that all is over tells the others, who may sleep for longer. */
static void
called_off_by_somebody_who_died(void **state)
{
	static void (*const ways[])(void) = {others_cancel_and_die_before_waking,
	                                     others_mark_it_removed_and_die_before_waking};
	static const int results[] = {-ECANCELED, -EIDRM};
	for (size_t i = 0; i < 2; i++) {
		tsem_hold hold;
		begin_with_three_held(state);
		put_sleeper(41, STATE_QUEUED, 1000, 1);
		fake.others = ways[i];
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), results[i]);
		assert_int_equal(fake.sleeps, 1);
		assert_int_equal(wakes_of(1000), 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(at_the_ends_of_a_line_each_tick),
		TEST(in_the_middle_neighbours_take_turns),
		TEST(in_front_while_asleep),
		TEST(looks_again_where_one_has_died),
		TEST(no_look_where_somebody_else_has_looked),
		TEST(a_look_at_another_time_is_none),
		TEST(enabled_at_a_tick_at_which_somebody_else_looked),
		TEST(cancelled_at_a_tick_at_which_somebody_else_looked),
		TEST(progress_gives_up_where_somebody_else_has_looked),
		TEST(a_look_wakes_those_who_were_let_in),
		TEST(a_look_wakes_whom_the_dead_were_waking),
		TEST(a_look_wakes_nobody_else),
		TEST(called_off_by_somebody_who_died),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* lib/recovery/look.h: which waiter looks for dead owners, and when; which look serves others; and what one does for all. */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "lock.h"

enum { PERMITS = 3, LINE = 130 /* the first record of the waiters behind */ };

/* ---- how often a waiter looks ---- */

static uint32_t behind;
static uint32_t behind_count;
static uint64_t behind_owner;

/* They sleep in records of their own. */
static void
peers_queue_up(void)
{
	for (uint32_t i = 0; i < behind; i++) {
		const uint64_t ticket = tickets_of(sem);
		put_record(sem, LINE + i, behind_owner, STATE_QUEUED, 0, ticket, behind_count);
		set_counters(sem, ticket + behind_count, grants_of(sem));
	}
}

/* Chooses the peers of peers_queue_up(), and makes records for them. */
static void
choose_peers(uint32_t n, uint32_t count, uint64_t owner)
{
	_Atomic uint32_t *reserved = &sem->segment.header->reserved;
	assert_int_equal(segment_reserve(&sem->segment, LINE + n), 0);
	if (LOAD_SEQ(reserved) < LINE + n)
		STORE_SEQ(reserved, LINE + n);
	behind = n;
	behind_count = count;
	behind_owner = owner;
}

/*
 * Waits in vain for `count` permits. `ahead` tickets are drawn before, and `n` waiters of the same count come during the
 * first sleep.
 */
static void
wait_in_front_of(uint64_t owner, uint64_t ahead, uint32_t n, uint32_t count, uint64_t ms)
{
	tsem_hold hold;
	begin_held(PERMITS);
	const struct timespec deadline = clock_after(ms);
	choose_peers(n, count, owner);
	set_counters(sem, PERMITS + ahead, 0);
	fake.peer = peers_queue_up;
	assert_int_equal(tsem_acquire(sem, count, &deadline, &hold), -ETIMEDOUT);
}

static void
wait_in_line(uint64_t ahead, uint32_t n, uint32_t count, uint64_t ms)
{
	wait_in_front_of(UNUSED_PROCESS, ahead, n, count, ms);
}

/* From sleep `from` to the sleep before `to`, each ends at the next multiple of `period`. */
static void
expect_period(size_t from, size_t to, uint64_t period)
{
	assert_true(fake.sleeps > to);
	for (size_t i = from; i < to; i++) {
		assert_int_equal(fake.slept_until[i] % period, 0);
		if (i > from)
			assert_int_equal(fake.slept_until[i] - fake.slept_until[i - 1], period);
	}
}

TEST_HELD(the_last_waiter_looks_often)
{
	static const uint64_t lines[] = {0, 1, 1000, 100000};
	for (size_t i = 0; i < 4; i++) {
		for (uint32_t count = 1; count <= PERMITS; count++) {
			wait_in_line(lines[i], 0, count, 10000);
			expect_period(0, 60, LOOKOUT_EVERY);
		}
	}
}

/* Otherwise a thousand semaphores with one waiter each would cost as much as 20,000 looks a second. */
TEST_HELD(the_last_waiter_looks_less_often_after_a_while)
{
	tsem_hold hold;
	const struct timespec deadline = clock_after(60000);
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	const uint64_t often = LOOKOUT_FOR / LOOKOUT_EVERY;
	const uint64_t seldom = (60 * NS_PER_SECOND - LOOKOUT_FOR) / TICK;
	assert_in_range(fake.sleeps, often + seldom, often + seldom + 3);
}

/* Each look judges each holder. */
TEST_HELD(the_last_waiter_looks_less_often_if_there_are_many_holders)
{
	static const struct {
		uint32_t holders;
		uint64_t period;
	} rows[] = {
		{LOOKOUT_HOLDERS - 1, LOOKOUT_EVERY},
		{LOOKOUT_HOLDERS, 2 * LOOKOUT_EVERY},
		{5 * LOOKOUT_HOLDERS, 6 * LOOKOUT_EVERY},
		{20 * LOOKOUT_HOLDERS, TICK},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tsem_hold hold;
		begin_fake(rows[i].holders);
		const struct timespec deadline = clock_after(10000);
		choose_peers(rows[i].holders, 1, UNUSED_PROCESS);
		for (uint32_t holder = 0; holder < rows[i].holders; holder++)
			put_record(sem, LINE + holder, UNUSED_PROCESS, STATE_HELD, 0, holder, 1);
		set_counters(sem, rows[i].holders, 0);
		assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
		expect_period(0, 20, rows[i].period);
	}
}

TEST_HELD(the_waiters_near_the_end_look_at_each_tick)
{
	for (uint32_t n = 1; n <= DEPUTIES; n++) {
		for (uint32_t count = 1; count <= PERMITS; count++) {
			wait_in_line(n, n, count, 10000);
			expect_period(1, 20, TICK);
		}
	}
}

TEST_HELD(the_others_look_seldom)
{
	for (uint32_t count = 1; count <= PERMITS; count++) {
		wait_in_line(0, DEPUTIES + 1, count, 60000);
		expect_period(1, 10, SLOW_TICK);
		wait_in_line(500, 200, count, 60000);
		expect_period(1, 10, SLOW_TICK);
	}
}

/* The longer the line, the more waiters wake up at each of its ticks. */
TEST_HELD(in_a_long_line_the_others_look_more_seldom)
{
	wait_in_line(0, SLOW_LINE - 1, 1, 300000);
	expect_period(1, 10, SLOW_TICK);
	wait_in_line(0, SLOW_LINE, 1, 300000);
	expect_period(1, 10, 2 * SLOW_TICK);
	wait_in_line(0, 4 * SLOW_LINE, 1, 300000);
	expect_period(1, 10, 4 * SLOW_TICK);
	wait_in_line(1000000, 200, PERMITS, 60000); /* each may want very many permits: the records limit their number */
	expect_period(1, 10, SLOW_TICK);
}

/* They may be gone for a long time when E comes to them. */
TEST_HELD(waiters_that_gave_up_do_not_count)
{
	wait_in_front_of(owner_orphan(1000), 0, 50, 1, 10000);
	expect_period(1, 60, LOOKOUT_EVERY);
}

/* Clients that try with a time-out behind a holder that stays leave very many. */
TEST_HELD(nor_do_they_make_the_line_long)
{
	tsem_hold hold;
	begin_held(1);
	const struct timespec deadline = clock_after(60000);
	choose_peers(5 * SLOW_LINE, 1, owner_orphan(1000));
	peers_queue_up();
	choose_peers(50, 1, UNUSED_PROCESS);
	fake.peer = peers_queue_up;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	expect_period(3, 10, SLOW_TICK);
}

static void
the_queue_moves_on(void)
{
	set_counters(sem, tickets_of(sem), 100);
}

static void
peers_queue_up_and_then_the_queue_moves_on(void)
{
	peers_queue_up();
	fake.peer = the_queue_moves_on;
}

/* A post must not wake it to tell it so, and the last one looks for all. */
TEST_HELD(being_first_changes_nothing)
{
	tsem_hold hold;
	const struct timespec deadline = clock_after(60000);
	set_counters(sem, 101 + 40, 0);
	choose_peers(50, 1, UNUSED_PROCESS);
	fake.peer = peers_queue_up_and_then_the_queue_moves_on;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(grants_of(sem), 100);
	expect_period(2, 10, SLOW_TICK);
}

/* ---- the looks of others ---- */

static uint64_t judged;

static int
judge_alive(const struct process_id *owner)
{
	(void)owner;
	judged++;
	return LIVENESS_ALIVE;
}

/* How long after the tick the peer begins its look, and where. */
static int64_t looks_after;
static uint32_t looks_in;

static void
peer_looks_at_each_tick(void)
{
	const uint64_t tick = fake.slept_until[fake.sleeps - 1];
	peer_has_looked(looks_in, tick + (uint64_t)looks_after);
	fake.peer = peer_looks_at_each_tick;
}

/* Returns how often the waiter looked in ten seconds, except before it first sleeps and at its deadline. */
static uint64_t
looks_of_its_own(int64_t after, uint32_t pid_ns)
{
	tsem_hold hold;
	begin_held(1);
	const struct timespec deadline = clock_after(10000);
	judged = 0;
	looks_after = after;
	looks_in = pid_ns;
	platform.judge = judge_alive;
	fake.peer = peer_looks_at_each_tick;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	fake.peer = NULL;
	return judged - 2;
}

enum { LOOKS_IN_TEN_SECONDS = 10000 / 50 };

TEST_HELD(a_waiter_does_not_look_when_a_process_of_its_namespace_has)
{
	const uint32_t here = identity_pid_ns();
	assert_int_equal(looks_of_its_own(0, here), 0);
	assert_int_equal(looks_of_its_own((int64_t)(TICK - NS_PER_MS), here), 0);
}

/* It may not be able to judge what this one can, whether or not both share a word of the header. */
TEST_HELD(a_look_of_another_namespace_does_not_count)
{
	const uint32_t here = identity_pid_ns();
	assert_in_range(looks_of_its_own(0, here + 1), LOOKS_IN_TEN_SECONDS - 2, LOOKS_IN_TEN_SECONDS);
	assert_in_range(looks_of_its_own(0, here + LOOKS), LOOKS_IN_TEN_SECONDS - 2, LOOKS_IN_TEN_SECONDS);
}

/* The look was before the tick, or in another time namespace, or this process did not run meanwhile. */
TEST_HELD(a_look_at_another_time_does_not_count)
{
	static const int64_t distances[] = {-(int64_t)NS_PER_MS, -100 * (int64_t)NS_PER_MS, (int64_t)TICK,
	                                    3600 * (int64_t)NS_PER_SECOND};
	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++)
		assert_in_range(looks_of_its_own(distances[i], identity_pid_ns()), LOOKS_IN_TEN_SECONDS - 2,
		                LOOKS_IN_TEN_SECONDS);
}

/* Another process's look finds a long line. */
static void
peer_looks_and_the_line_grows(void)
{
	STORE_SEQ(&sem->segment.header->line, 5 * SLOW_LINE);
	peer_looks_at_each_tick();
}

static void
peer_looks_and_those_behind_leave(void)
{
	for (uint32_t i = 0; i < behind; i++)
		STORE_SEQ(&record_at(sem, LINE + i)->owner, owner_orphan(1000));
	peer_looks_at_each_tick();
}

static void (*then)(void);

static void
peers_queue_up_and_then(void)
{
	peers_queue_up();
	fake.peer = then;
	fake.peer_from_sleep = 4;
}

static void
wait_while_others_look(uint64_t ms, void (*at_fourth_sleep)(void))
{
	tsem_hold hold;
	const struct timespec deadline = clock_after(ms);
	looks_after = 0;
	looks_in = identity_pid_ns();
	choose_peers(50, 1, UNUSED_PROCESS);
	then = at_fourth_sleep;
	fake.peer = peers_queue_up_and_then;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	fake.peer = NULL;
	expect_period(1, 3, SLOW_TICK);
}

/* Most waiters of a long line never look: others do at their ticks. */
TEST_HELD(the_length_of_the_line_counts_also_for_a_waiter_that_need_not_look)
{
	wait_while_others_look(300000, peer_looks_and_the_line_grows);
	expect_period(4, 10, 5 * SLOW_TICK);
}

TEST_HELD(a_waiter_that_need_not_look_finds_out_that_it_has_become_the_last)
{
	wait_while_others_look(20000, peer_looks_and_those_behind_leave);
	expect_period(4, 40, LOOKOUT_EVERY);
}

static uint64_t look_while_judging;

static uint64_t
look_of_ours(void)
{
	return LOAD_SEQ(&sem->segment.header->looks[identity_pid_ns() % LOOKS]);
}

static int
note_the_look(const struct process_id *owner)
{
	(void)owner;
	if (judged++ == 0)
		look_while_judging = look_of_ours();
	return LIVENESS_ALIVE;
}

/* A process that is killed or stopped in its look keeps no other from looking. */
TEST_HELD(a_look_counts_when_it_is_complete)
{
	tsem_hold hold;
	const struct timespec deadline = clock_after(1);
	look_while_judging = 1;
	judged = 0;
	platform.judge = note_the_look;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(look_while_judging, 0);
	assert_int_equal(look_of_ours(), look_make(identity_pid_ns(), (uint32_t)(began / NS_PER_MS)));
}

static int
judge_unknown(const struct process_id *owner)
{
	(void)owner;
	return LIVENESS_UNKNOWN;
}

/* A process without a free descriptor, for example. Others may have one. */
TEST_HELD(a_look_that_cannot_judge_an_owner_of_its_own_namespace_does_not_count)
{
	tsem_hold hold;
	const struct timespec deadline = clock_after(1);
	STORE_SEQ(&record_at(sem, 40)->pid_ns, identity_pid_ns());
	platform.judge = judge_unknown;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(look_of_ours(), 0);
	STORE_SEQ(&record_at(sem, 40)->owner, owner_handed(1, 0));
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_int_equal(look_of_ours(), 0);
	platform.judge = judge_alive;
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
	assert_true(look_of_ours() != 0);
}

static void
peer_looks_posts_and_dies_before_waking(void)
{
	peer_looks_at_each_tick();
	fake.peer = NULL;
	peer_posts_and_dies_before_waking();
}

TEST_HELD(a_waiter_enabled_at_a_tick_at_which_another_process_looked_acquires)
{
	tsem_hold hold;
	looks_after = 0;
	looks_in = identity_pid_ns();
	fake.peer = peer_looks_posts_and_dies_before_waking;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(fake.sleeps, 1);
	assert_int_equal(tsem_release(&hold), 0);
}

static void
peer_looks_and_dies_while_cancelling(void)
{
	peer_looks_at_each_tick();
	fake.peer = NULL;
	peer_cancels_and_dies_before_waking();
}

TEST_HELD(a_waiter_cancelled_at_a_tick_at_which_another_process_looked_ends)
{
	tsem_hold hold;
	looks_after = 0;
	looks_in = identity_pid_ns();
	fake.peer = peer_looks_and_dies_while_cancelling;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), -ECANCELED);
	assert_int_equal(fake.sleeps, 1);
}

/* ---- what one look does for all ---- */

/* A live process with that ticket, which sleeps on the word of its last one. */
static void
put_sleeper(uint32_t index, enum state_kind state, uint64_t ticket, uint32_t count)
{
	put_record(sem, index, UNUSED_PROCESS, state, 0, ticket, count);
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

/* G is 10 and E is 13. */
static void
begin_queue(uint64_t tickets)
{
	begin_held(PERMITS);
	set_counters(sem, tickets, 10);
}

/* Waits in vain, and so looks when it begins to sleep, and then as the last waiter. */
static void
look_for(uint64_t ms)
{
	tsem_hold hold;
	const struct timespec deadline = clock_after(ms);
	assert_int_equal(tsem_acquire(sem, 1, &deadline, &hold), -ETIMEDOUT);
}

/* The process that enabled or admitted them died before it woke them. */
TEST_HELD(a_look_wakes_the_waiters_that_a_dead_process_let_in)
{
	begin_queue(1000);
	put_sleeper(41, STATE_QUEUED, 10, 1);
	put_sleeper(42, STATE_QUEUED, 11, 2);                     /* its last ticket is 12 */
	put_sleeper(43, STATE_QUEUED, 13, 1);                     /* next, not enabled */
	put_sleeper(44, STATE_HELD, 20, 2);                       /* admitted before the capacity was lowered */
	put_record(sem, 45, UNUSED_PROCESS, STATE_HELD, 0, 9, 1); /* awake */
	look_for(1);
	assert_int_equal(wakes_of(10), 1);
	assert_int_equal(wakes_of(12), 1);
	assert_int_equal(wakes_of(21), 1);
	assert_int_equal(fake.wakes, 3);
}

/* SEVERAL without SLEEPERS: the waker died between its two steps. */
TEST_HELD(a_look_wakes_the_waiters_that_a_dead_process_was_waking)
{
	begin_queue(1000);
	put_record(sem, 41, UNUSED_PROCESS, STATE_QUEUED, 0, 10, 1);
	put_record(sem, 42, UNUSED_PROCESS, STATE_HELD, 0, 20, 2);
	OR_SEQ(word_of(10), WORD_SEVERAL);
	OR_SEQ(word_of(21), WORD_SEVERAL);
	look_for(1);
	assert_int_equal(wakes_of(10), 1);
	assert_int_equal(wakes_of(21), 1);
	assert_int_equal(fake.wakes, 2);
}

/* Both sleep on the same word. */
TEST_HELD(a_look_wakes_no_waiter_that_is_not_enabled)
{
	begin_queue(10 + ARRAY_WORDS + 10);
	put_sleeper(41, STATE_QUEUED, 10, 1);
	put_sleeper(42, STATE_QUEUED, 10 + ARRAY_WORDS, 1);
	look_for(1);
	assert_int_equal(wakes_of(10), 1);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(fake.woken_bits[0], word_bit(10));
	assert_int_not_equal(word_bit(10), word_bit(10 + ARRAY_WORDS));
}

static void
peer_marks_removed_and_dies_before_waking(void)
{
	STORE_SEQ(&sem->segment.header->removed, 1);
}

/* The others may sleep longer than the waiter that notices first, so that one wakes them. */
TEST_HELD(a_waiter_that_notices_the_end_of_all_waits_wakes_the_others)
{
	static void (*const ways[])(void) = {peer_cancels_and_dies_before_waking,
	                                     peer_marks_removed_and_dies_before_waking};
	static const int results[] = {-ECANCELED, -EIDRM};
	for (size_t i = 0; i < 2; i++) {
		tsem_hold hold;
		begin_held(PERMITS);
		put_sleeper(41, STATE_QUEUED, 1000, 1);
		fake.peer = ways[i];
		assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), results[i]);
		assert_int_equal(fake.sleeps, 1);
		assert_int_equal(wakes_of(1000), 1);
	}
}

/* ---- calling a waiter that can judge ---- */

enum { HERE = 50, THERE = 60 }; /* the first records of sleepers */

static const uint32_t there = 4711;

/* A live process of that namespace, without a presence lock. */
static void
put_process(uint32_t index, uint32_t pid_ns, enum state_kind state, uint64_t ticket)
{
	put_record(sem, index, owner_in_namespace(UNUSED_PROCESS, pid_ns), state, 0, ticket, 1);
	STORE_SEQ(&sem->segment.records[index].pid_ns, pid_ns);
	if (state == STATE_QUEUED)
		wait_announce(word_of(ticket), 0);
}

/* Of the namespaces, all that the judge does not know is this process's own. */
static int
judge_here(const struct process_id *owner)
{
	return owner->pid_ns == identity_pid_ns() ? LIVENESS_ALIVE : LIVENESS_UNKNOWN;
}

/* A process of `pid_ns` holds. Behind it, three processes sleep here, and three there. */
static void
begin_mixed(uint32_t pid_ns)
{
	begin_fake(1);
	choose_peers(0, 0, 0);
	platform.judge = judge_here;
	STORE_SEQ(&sem->segment.header->pid_ns, identity_pid_ns());
	STORE_SEQ(&sem->segment.header->mixed_pid_ns, 1);
	put_process(40, pid_ns, STATE_HELD, 0);
	for (uint32_t i = 0; i < 3; i++) {
		put_process(HERE + i, identity_pid_ns(), STATE_QUEUED, 1 + i);
		put_process(THERE + i, there, STATE_QUEUED, 4 + i);
	}
	set_counters(sem, 7, 0);
}

/* The waiters that are woken look, and announce themselves again. */
static void
fall_asleep_again(void)
{
	for (uint32_t i = THERE; i < record_limit(sem); i++) {
		const uint64_t state = state_of(sem, i);
		if (state_kind(state) == STATE_QUEUED)
			OR_SEQ(word_of(state_value(state)), WORD_SLEEPERS | WORD_SEVERAL);
	}
	fake.peer_at_wake = fall_asleep_again;
}

TEST_HELD(a_look_wakes_a_waiter_that_can_judge)
{
	begin_mixed(there);
	look_for(1);
	assert_int_equal(wakes_of(4), 1);
	assert_int_equal(fake.wakes, 1);
}

/* A child of a dead owner may have inherited it. */
TEST_HELD(a_lock_that_is_taken_does_not_show_that_the_owner_lives)
{
	char path[32];
	begin_mixed(there);
	const uint64_t owner = LOAD_SEQ(&record_at(sem, 40)->owner);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sem->segment.fd);
	const int child = open(path, O_RDWR);
	assert_int_equal(lock_take(&sem->segment, child, owner_unlocked(owner)), 0);
	STORE_SEQ(&record_at(sem, 40)->owner, owner | OWNER_LOCKED);
	look_for(1);
	assert_int_equal(state_kind(state_of(sem, 40)), STATE_HELD);
	assert_int_equal(wakes_of(4), 1);
	assert_int_equal(fake.wakes, 1);
	close(child);
}

TEST_HELD(a_look_wakes_no_waiter_for_an_owner_that_it_can_judge)
{
	begin_mixed(identity_pid_ns());
	look_for(2000);
	assert_int_equal(fake.wakes, 0);
}

/* There is no waiter of that namespace. */
TEST_HELD(a_look_wakes_no_waiter_that_cannot_judge_either)
{
	begin_mixed(there + 1);
	look_for(2000);
	assert_int_equal(fake.wakes, 0);
}

/* The first one may be dead. */
TEST_HELD(another_waiter_is_woken_each_time)
{
	enum { SECONDS = 12, ROUNDS = SECONDS * 1000 / 400 };
	begin_mixed(there);
	fall_asleep_again();
	look_for(SECONDS * 1000);
	for (uint64_t ticket = 4; ticket < 7; ticket++)
		assert_in_range(wakes_of(ticket), ROUNDS / 3, ROUNDS / 3 + 1);
	assert_in_range(fake.wakes, ROUNDS, ROUNDS + 1);
}

/* At each turn one of each, whatever the order of their records, and those of namespaces that need no judge. */
TEST_HELD(each_waiter_of_each_namespace_has_its_turn)
{
	enum { SECONDS = 12, ROUNDS = SECONDS * 1000 / 400, NAMESPACES = 20, IDLE_NAMESPACES = 40 };
	uint32_t index = THERE + 3;
	uint64_t ticket = 7;
	begin_mixed(identity_pid_ns());
	choose_peers(400, 0, 0);
	for (uint32_t i = 0; i < IDLE_NAMESPACES; i++)
		put_process(index++, 4900 + i, STATE_QUEUED, ticket++);
	for (uint32_t i = 0; i < NAMESPACES; i++) {
		put_process(i, 5000 + i, STATE_HELD, 0);
		for (uint32_t n = 0; n <= i % 4; n++)
			put_process(index++, 5000 + i, STATE_QUEUED, ticket++);
	}
	set_counters(sem, ticket, 0);
	fall_asleep_again();
	look_for(SECONDS * 1000);
	for (uint64_t t = 7; t < 7 + IDLE_NAMESPACES; t++)
		assert_int_equal(wakes_of(t), 0);
	ticket = 7 + IDLE_NAMESPACES;
	for (uint32_t i = 0; i < NAMESPACES; i++) {
		for (uint32_t n = 0; n <= i % 4; n++, ticket++)
			assert_in_range(wakes_of(ticket), ROUNDS / (i % 4 + 1), ROUNDS / (i % 4 + 1) + 1);
	}
}

static uint64_t called_at;
static uint64_t looked_at; /* first after that */

static int
note_the_time(const struct process_id *owner)
{
	(void)owner;
	if (looked_at == 0 && called_at != 0)
		looked_at = fake.clock;
	return LIVENESS_ALIVE;
}

/* Ends the second sleep long before the next tick of its own. */
static void
peer_calls(void)
{
	called_at = fake.clock += 3 * LOOKOUT_EVERY / 2;
	fake.at_sleep = fake.sleeps;
	fake.sleep_result = 0;
}

static void
peers_queue_up_and_call(void)
{
	peers_queue_up();
	fake.peer = peer_calls;
}

static int
give_up_after_the_call(void *arg, uint32_t position)
{
	(void)arg;
	(void)position;
	return called_at != 0;
}

TEST_HELD(a_waiter_that_is_woken_looks)
{
	tsem_hold hold;
	const struct tsem_wait options = {.size = sizeof(options), .progress = give_up_after_the_call, .every_ms = 1000};
	called_at = looked_at = 0;
	platform.judge = note_the_time;
	choose_peers(20, 1, UNUSED_PROCESS);
	fake.peer = peers_queue_up_and_call;
	assert_int_equal(tsem_acquire_wait(sem, 1, &options, &hold), -ECANCELED);
	assert_true(called_at > began);
	assert_int_equal(looked_at, called_at);
}

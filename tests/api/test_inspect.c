/* SPDX-License-Identifier: MIT */
/* tsem_stat, tsem_owners, tsem_snapshot. */
#include "support.h"
#include "traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEN_MAX = 32 };

struct seen {
	struct tsem_owner owners[SEEN_MAX];
	size_t n;
	size_t stop_at;
};

static int
note_owner(const struct tsem_owner *owner, void *arg)
{
	struct seen *seen = arg;
	if (seen->n < SEEN_MAX)
		seen->owners[seen->n] = *owner;
	return ++seen->n == seen->stop_at ? 4711 : 0;
}

static struct seen
owners_of(tsem *sem)
{
	struct seen seen = {.n = 0};
	assert_int_equal(tsem_owners(sem, note_owner, &seen), 0);
	return seen;
}

TEST(stat_sizes)
{
	tsem *sem = new_semaphore(2, 7);
	struct tsem_stat stat, untouched;
	memset(&untouched, 0x5a, sizeof(untouched));
	static const size_t bad[] = {0, offsetof(struct tsem_stat, excess) - 1, 4097, SIZE_MAX};
	for (size_t i = 0; i < 4; i++) {
		untouched.size = bad[i];
		stat = untouched;
		assert_int_equal(tsem_stat(sem, &stat), -EINVAL);
		assert_memory_equal(&stat, &untouched, sizeof(stat));
	}
	stat = stat_of(sem);
	assert_int_equal(stat.size, sizeof(stat));
	assert_int_equal(stat.permits, 2);
	assert_int_equal(stat.capacity, 2);
	assert_int_equal(stat.max, 7);
	assert_int_equal(stat.available, 2);
	assert_int_equal(stat.held, 0);
	assert_int_equal(stat.waiting, 0);
	assert_int_equal(stat.uid, geteuid());
	assert_int_equal(stat.gid, getegid());
	assert_int_equal(stat.flags, 0);
	assert_in_range(stat.created, time(NULL) - 60, time(NULL) + 1);
	tsem_close(sem);
}

TEST(what_is_posted_beyond_what_was_taken)
{
	tsem *sem = new_semaphore(2, 0);
	tsem_hold hold;
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(stat_of(sem).excess, 0);
	assert_int_equal(tsem_post(sem, 3, NULL), 0);
	const struct tsem_stat stat = stat_of(sem);
	assert_int_equal(stat.available, 4);
	assert_int_equal(stat.held, 1);
	assert_int_equal(stat.excess, 3);
	/* Holders of a lowered capacity are no excess. */
	assert_int_equal(tsem_take(sem, 2, NULL), 0);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	assert_int_equal(tsem_set(sem, 0), 0);
	assert_int_equal(stat_of(sem).excess, 0);
	assert_int_equal(stat_of(sem).held, 1);
	assert_int_equal(tsem_release(&hold), 0);
	tsem_close(sem);
}

struct arrival {
	tsem *sem;
	uint32_t count;
	bool owned;
	const struct timespec *deadline;
};

static int
arrive(void *arg)
{
	const struct arrival *arrival = arg;
	tsem_hold hold;
	const int rc = arrival->owned ? tsem_acquire(arrival->sem, arrival->count, arrival->deadline, &hold)
	                              : tsem_take(arrival->sem, arrival->count, arrival->deadline);
	if (rc != 0)
		return -rc;
	return stay_until_killed(NULL);
}

TEST(owners_in_order)
{
	enum { WAITERS = 4 };
	tsem *sem = new_semaphore(5, 0);
	tsem_hold first, second;
	const struct timespec late = deadline_in(100000);
	struct arrival arrivals[WAITERS] = {
		{sem, 2, true, NULL}, {sem, 1, false, NULL}, {sem, 5, true, &late}, {sem, 1, true, NULL}};
	pid_t children[WAITERS];
	/* Later holders have earlier records: the order must be that of the holds. */
	assert_int_equal(tsem_acquire(sem, 1, NULL, &second), 0);
	assert_int_equal(tsem_acquire(sem, 3, NULL, &first), 0);
	assert_int_equal(tsem_release(&second), 0);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &second), 0);
	const pid_t third = start_child(hold_until_killed, sem);
	EVENTUALLY(stat_of(sem).held == 5);
	for (uint32_t i = 0; i < WAITERS; i++) {
		if (i == 2) {
			kill_child(third);
			assert_int_equal(tsem_recover(sem, NULL), 0);
		}
		children[i] = start_child(arrive, &arrivals[i]);
		EVENTUALLY(stat_of(sem).waiting == i + 1);
	}

	struct seen seen = owners_of(sem);
	assert_int_equal(seen.n, 2 + WAITERS);
	static const uint32_t counts[] = {3, 1, 2, 1, 5, 1};
	for (size_t i = 0; i < seen.n; i++) {
		const struct tsem_owner *owner = &seen.owners[i];
		assert_int_equal(owner->size, sizeof(*owner));
		assert_int_equal(owner->pid, i < 2 ? getpid() : children[i - 2]);
		assert_int_equal(owner->uid, geteuid());
		assert_int_equal(owner->count, counts[i]);
		assert_int_equal(owner->position, i < 2 ? 0 : i - 1);
		assert_int_equal(owner->alive, TSEM_ALIVE);
		assert_int_equal(owner->owned, i != 3);
		assert_false(owner->handed_over);
		assert_true(owner->elapsed_ns < UINT64_C(60) * 1000000000);
		if (i == 4)
			assert_in_range(owner->remaining_ns, 1, INT64_C(100) * 1000000000);
		else
			assert_int_equal(owner->remaining_ns, -1);
	}
	const struct tsem_stat stat = stat_of(sem);
	assert_int_equal(stat.held, 4);
	assert_int_equal(stat.available, 0);

	/* One waiter leaves from the middle: those behind it move up. */
	kill_child(children[0]);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	seen = owners_of(sem);
	assert_int_equal(seen.n, 4); /* the second one took the free permit */
	assert_int_equal(seen.owners[2].pid, children[2]);
	assert_int_equal(seen.owners[2].position, 1);
	assert_int_equal(seen.owners[3].position, 2);
	for (size_t i = 1; i < WAITERS; i++)
		kill_child(children[i]);
	tsem_close(sem);
}

TEST(dead_owners_and_handed_over_holds)
{
	tsem *sem = new_semaphore(3, 0);
	struct arrival arrival = {sem, 1, true, NULL};
	tsem_hold hold;
	const pid_t child = start_child(arrive, &arrival);
	EVENTUALLY(stat_of(sem).held == 1);
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	assert_int_equal(tsem_hand_over(&hold, getpid()), 0);
	kill_child(child);
	const struct seen seen = owners_of(sem);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.owners[0].pid, child);
	assert_int_equal(seen.owners[0].alive, TSEM_DEAD);
	assert_int_equal(seen.owners[1].pid, getpid());
	assert_int_equal(seen.owners[1].alive, TSEM_ALIVE);
	assert_true(seen.owners[1].handed_over);
	assert_int_equal(stat_of(sem).held, 3); /* reading changes nothing */
	tsem_close(sem);
}

TEST(an_enumeration_can_be_ended)
{
	tsem *sem = new_semaphore(3, 0);
	tsem_hold holds[3];
	struct seen seen = {.stop_at = 2};
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(tsem_acquire(sem, 1, NULL, &holds[i]), 0);
	assert_int_equal(tsem_owners(sem, note_owner, &seen), 4711);
	assert_int_equal(seen.n, 2);
	tsem_close(sem);
}

/* ---- snapshots ---- */

/* In each snapshot, the counts are those of the processes that it names. */
TEST(counts_and_owners_agree_in_use)
{
	enum { USERS = 3, SNAPSHOTS = 1000 };
	tsem *sem = new_semaphore(2, 0);
	pid_t children[USERS];
	uint64_t last = 0;
	int waiting = 0;
	for (size_t i = 0; i < USERS; i++)
		children[i] = start_child(acquire_again_and_again, sem);
	for (int taken = 0; taken < SNAPSHOTS || waiting == 0;) {
		struct tsem_stat stat;
		assert_true(snapshot_adds_up(sem, 2, &stat));
		taken += stat.ticket != last;
		waiting += stat.waiting > 0;
		last = stat.ticket;
	}
	for (size_t i = 0; i < USERS; i++)
		kill_child(children[i]);
	tsem_close(sem);
}

TEST(a_snapshot_is_refused_as_a_stat_is)
{
	tsem *sem = new_semaphore(1, 0);
	struct tsem_stat stat = {.size = 7};
	struct seen seen = {.n = 0};
	assert_int_equal(tsem_snapshot(sem, &stat, note_owner, &seen), -EINVAL);
	assert_int_equal(stat.size, 7);
	tsem_close(sem);
}

TEST(waits_are_counted)
{
	tsem *sem = new_semaphore(1, 0);
	const struct timespec past = {0};
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	struct tsem_stat stat = stat_of(sem);
	assert_int_equal(stat.contended, 0);
	assert_int_equal(tsem_take(sem, 1, &past), -ETIMEDOUT);
	const struct timespec soon = deadline_in(100); /* long enough for a slow machine */
	assert_int_equal(tsem_take(sem, 1, &soon), -ETIMEDOUT);
	stat = stat_of(sem);
	assert_int_equal(stat.contended, 2);
	assert_int_equal(stat.timeouts, 2);
	assert_true(stat.wait_longest_ns > 0);
	assert_true(stat.wait_total_ns >= stat.wait_longest_ns);
	uint64_t sum = 0;
	for (size_t i = 0; i < TSEM_HISTOGRAM_BINS; i++) {
		sum += stat.histogram[i];
		if (i > 0 && stat.histogram[i] != 0) /* a bin has the longest wait */
			assert_true(stat.wait_longest_ns / 1000 >= UINT64_C(1) << (i - 1));
	}
	assert_int_equal(sum, 2);
	tsem_close(sem);
}

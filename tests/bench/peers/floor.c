/* SPDX-License-Identifier: MIT */
/*
 * What tsem cannot be faster than, as peers: not semaphores to use.
 *
 * owned-floor: of acquire and release, without contention, the two locked instructions, the stores that the protocol asks
 * for around them, what a hold has to say, and a look at the clock for `since`. No handle, no thread, no errors, nobody
 * who waits, no library between. For one participant.
 *
 * ticking-sleep: of waiting, what the kernel takes for sleepers that wake up every 0.8 s, all at the same time, which is
 * cheaper than each at its own.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "support.h"

/* ---- owned-floor ---- */

struct counter_line {
	_Atomic uint64_t tickets;
	_Atomic uint64_t grants;
};

struct floor_record {
	_Alignas(64) _Atomic uint64_t who;
	_Atomic uint64_t what;
};

struct owned_floor {
	_Alignas(64) struct counter_line counters;
	struct floor_record record;
	_Alignas(64) uint64_t claimed; /* the record's state between two uses */
	time_t second;
};

/* A hold's contents: where, and under which ticket. */
struct floor_hold {
	struct owned_floor *floor;
	uint64_t index;
	uint64_t what;
};

enum { HELD = 3, FACES = 0x18, TURN = 0x20, COUNTER_SHIFT = 16 };

static void
set_word(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_release);
}

static __attribute__((noinline)) void
floor_acquire(struct owned_floor *floor, struct floor_hold *hold)
{
	uint64_t tickets = atomic_load_explicit(&floor->counters.tickets, memory_order_relaxed);
	const uint64_t next = (tickets + (UINT64_C(1) << COUNTER_SHIFT)) ^ 1;
	if (!atomic_compare_exchange_strong(&floor->counters.tickets, &tickets, next))
		die("owned-floor is for one participant");
	const uint64_t held = (tickets >> COUNTER_SHIFT << COUNTER_SHIFT) | (floor->claimed & FACES) | HELD;
	set_word(&floor->record.what, held);
	*hold = (struct floor_hold){.floor = floor, .what = held};
	const time_t second = time(NULL);
	if (floor->second != second)
		floor->second = second;
}

static __attribute__((noinline)) void
floor_release(struct floor_hold *hold)
{
	struct owned_floor *floor = hold->floor;
	set_word(&floor->record.what, hold->what + 1);
	uint64_t grants = atomic_load_explicit(&floor->counters.grants, memory_order_relaxed);
	const uint64_t next = (grants + (UINT64_C(1) << COUNTER_SHIFT)) ^ 1;
	if (!atomic_compare_exchange_strong(&floor->counters.grants, &grants, next))
		die("owned-floor is for one participant");
	const uint64_t claimed = (floor->claimed ^ FACES) + TURN;
	set_word(&floor->record.what, claimed);
	floor->claimed = claimed;
}

static void *
owned_floor_create(unsigned permits)
{
	(void)permits;
	return fresh_line(sizeof(struct owned_floor));
}

static void
owned_floor_destroy(void *semaphore)
{
	fresh_line_free(semaphore, sizeof(struct owned_floor));
}

static inline void
owned_floor_take(void *semaphore, struct seat *seat)
{
	floor_acquire(semaphore, (void *)&seat->hold);
}

static inline void
owned_floor_give(void *semaphore, struct seat *seat)
{
	(void)semaphore;
	floor_release((void *)&seat->hold);
}

DEFINE_PAIRS(owned_floor)

const struct peer peer_owned_floor = {
	.name = "owned-floor",
	.traits = LOCK | SPINS,
	.create = owned_floor_create,
	.destroy = owned_floor_destroy,
	.take = owned_floor_take,
	.give = owned_floor_give,
	.pairs = owned_floor_pairs,
};

/* ---- ticking-sleep ---- */

enum { TICK_NS = 800000000 };

static void *
ticking_sleep_create(unsigned permits)
{
	atomic_uint *free_permits = fresh_line(sizeof(*free_permits));
	atomic_store(free_permits, permits);
	return free_permits;
}

static void
ticking_sleep_destroy(void *semaphore)
{
	fresh_line_free(semaphore, sizeof(atomic_uint));
}

static bool
take_one(atomic_uint *free_permits)
{
	unsigned seen = atomic_load(free_permits);
	while (seen > 0)
		if (atomic_compare_exchange_weak(free_permits, &seen, seen - 1))
			return true;
	return false;
}

static void
ticking_sleep_take(void *semaphore, struct seat *seat)
{
	(void)seat;
	while (!take_one(semaphore)) {
		const uint64_t now = now_ns();
		const uint64_t until = now - now % TICK_NS + TICK_NS;
		const struct timespec deadline = {.tv_sec = (time_t)(until / 1000000000),
		                                  .tv_nsec = (long)(until % 1000000000)};
		syscall(SYS_futex, semaphore, FUTEX_WAIT_BITSET, 0, &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
	}
}

static void
ticking_sleep_give(void *semaphore, struct seat *seat)
{
	(void)seat;
	atomic_fetch_add((atomic_uint *)semaphore, 1);
	futex_wake(semaphore, 1, BETWEEN_PROCESSES);
}

static void
ticking_sleep_pairs(void *semaphore, struct seat *seat, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		ticking_sleep_take(semaphore, seat);
		ticking_sleep_give(semaphore, seat);
	}
}

const struct peer peer_ticking_sleep = {
	.name = "ticking-sleep",
	.create = ticking_sleep_create,
	.destroy = ticking_sleep_destroy,
	.take = ticking_sleep_take,
	.give = ticking_sleep_give,
	.pairs = ticking_sleep_pairs,
};

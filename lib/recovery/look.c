/* SPDX-License-Identifier: MIT */
#include "recovery/look.h"

#include "protocol/protocol.h"
#include "recovery/recover.h"
#include "recovery/removal.h"
#include "system/identity.h"
#include "wake/wake.h"

uint64_t
lookout_period(const struct tsem *sem)
{
	const uint64_t holders = LOAD_RLX(&sem->segment.header->holders);
	return earlier_of(LOOKOUT_EVERY * (holders / LOOKOUT_HOLDERS + 1), TICK);
}

/* ---- looks that count for others ---- */

/* A number that repeats after 49 days. */
static uint32_t
in_ms(uint64_t ns)
{
	return (uint32_t)(ns / NS_PER_MS);
}

static _Atomic uint64_t *
look_of(const struct tsem *sem, uint32_t pid_ns)
{
	return &sem->segment.header->looks[pid_ns % LOOKS];
}

/*
 * Whether a process of that PID namespace has completed a look that began at `since` or later. In another time
 * namespace the clock may be far ahead or behind: only a look within TICK counts, so a wrong one cannot count for long.
 */
static bool
is_done(const struct tsem *sem, uint32_t pid_ns, uint64_t since)
{
	const uint64_t look = LOAD_ACQ(look_of(sem, pid_ns));
	return look_namespace(look) == pid_ns && look_ms(look) - in_ms(since) < in_ms(TICK);
}

/* ---- waking a waiter that can judge ---- */

enum { NAMESPACES_CALLED = 64 };

/*
 * Whether the owner of this record keeps other processes waiting if it is dead. A presence lock that is taken does not
 * prove the contrary, because a child may have inherited it.
 */
static bool
may_hold_up(struct tsem *sem, uint32_t index, const struct record *record)
{
	const uint64_t state = LOAD_ACQ(&record->state);
	if (LOAD_ACQ(&record->owner) == 0)
		return false;
	switch (state_kind(state)) {
	case STATE_IDLE:
		return false;
	case STATE_CLAIMED:
		return tag_record(counter_tag(LOAD_SEQ(&sem->segment.header->tickets))) == index;
	case STATE_QUEUED:
		return counter_diff(enabled_limit(sem), state_value(state)) >= 0;
	default:
		return true;
	}
}

static bool
is_waiter_of(const struct record *record, uint32_t pid_ns, uint64_t *state)
{
	return record_is_queued(record, state) && LOAD_ACQ(&record->pid_ns) == pid_ns;
}

/* At each turn, wakes another waiter of the PID namespace, because that one may be dead, too. */
static void
wake_in_turn(struct tsem *sem, uint32_t pid_ns, uint64_t turn)
{
	uint32_t n = 0;
	uint64_t state;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record)
		n += is_waiter_of(record, pid_ns, &state);
	uint64_t before = n == 0 ? 0 : turn % n;
	FOR_EACH_RECORD(sem, i, record) {
		if (is_waiter_of(record, pid_ns, &state) && before-- == 0)
			wake_waiter(sem, state_value(state), LOAD_ACQ(&record->count));
	}
}

static bool
contains(const uint32_t *numbers, size_t n, uint32_t number)
{
	while (n > 0 && numbers[n - 1] != number)
		n--;
	return n > 0;
}

/* At most once in a TICK, wakes one waiter of each other PID namespace that has an owner to judge. */
static void
call_judges(struct tsem *sem, uint32_t pid_ns, uint64_t now)
{
	struct header *header = sem->segment.header;
	const uint64_t called = LOAD_ACQ(&header->called);
	const uint64_t round = now / TICK & COUNTER_MASK;
	const uint64_t turn = counter_tag(called);
	if (LOAD_SEQ(&header->mixed_pid_ns) == 0 || counter_value(called) == round
	    || !CAS_SEQ(&header->called, called, counter_word_make(round, (turn + 1) & TAG_MASK)))
		return;

	uint32_t done[NAMESPACES_CALLED] = {pid_ns};
	size_t n = 1;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		const uint32_t its_namespace = LOAD_ACQ(&record->pid_ns);
		if (n < NAMESPACES_CALLED && !contains(done, n, its_namespace) && may_hold_up(sem, i, record)) {
			done[n++] = its_namespace;
			wake_in_turn(sem, its_namespace, turn);
		}
	}
}

/* ---- the look ---- */

static void
count_owners(struct tsem *sem)
{
	uint32_t waiters = 0;
	uint32_t holders = 0;
	uint64_t state;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		waiters += record_is_queued(record, &state);
		holders += state_kind(LOAD_RLX(&record->state)) == STATE_HELD;
	}
	STORE_RLX(&sem->segment.header->line, waiters);
	STORE_RLX(&sem->segment.header->holders, holders);
}

void
look_unless_done(struct tsem *sem, uint64_t now, uint64_t due)
{
	const uint32_t pid_ns = identity_pid_ns();
	if (is_done(sem, pid_ns, due != 0 ? due : now - lookout_period(sem)))
		return;
	STORE_RLX(&sem->unsure, false);
	recover_all(sem, NULL);
	count_owners(sem);
	wake_overlooked(sem);
	removal_notice(sem);
	call_judges(sem, pid_ns, now);
	/* Only now: a look that a death cuts short counts for no other process. */
	if (!LOAD_RLX(&sem->unsure))
		STORE_REL(look_of(sem, pid_ns), look_make(pid_ns, in_ms(now)));
}

/* SPDX-License-Identifier: MIT */
#include "look.h"

#include "identity.h"
#include "owner.h"
#include "protocol.h"
#include "record_wake.h"
#include "recover.h"
#include "removal.h"
#include "wake.h"

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
 * Whether a process of that PID namespace has completed a look that began at `since` or later. In another time namespace
 * the clock may be far ahead or behind: only a look within TICK counts, so a wrong one cannot count for long.
 */
static bool
is_done(const struct tsem *sem, uint32_t pid_ns, uint64_t since)
{
	const uint64_t look = LOAD_ACQ(look_of(sem, pid_ns));
	return look_namespace(look) == pid_ns && look_ms(look) - in_ms(since) < in_ms(TICK);
}

/* ---- waking a waiter that can judge ---- */

/*
 * Whether the owner of this record is of that PID namespace, keeps other processes waiting if it is dead, and cannot be
 * judged here.
 */
static bool
needs_judge(struct tsem *sem, uint32_t index, const struct record *record, uint32_t pid_ns)
{
	const uint64_t owner = LOAD_ACQ(&record->owner);
	if (owner == 0 || LOAD_ACQ(&record->pid_ns) != pid_ns)
		return false;
	const uint64_t state = LOAD_ACQ(&record->state);
	switch (state_kind(state)) {
	case STATE_IDLE:
		return false;
	case STATE_CLAIMED:
		if (tag_record(counter_tag(LOAD_SEQ(&sem->segment.header->tickets))) != index)
			return false;
		break;
	case STATE_QUEUED:
		if (counter_diff(enabled_limit(sem), state_value(state)) < 0)
			return false;
		break;
	default:
		break;
	}
	return owner_liveness(sem, record, owner) == LIVENESS_UNKNOWN;
}

static bool
has_owner_to_judge(struct tsem *sem, uint32_t pid_ns)
{
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		if (needs_judge(sem, i, record, pid_ns))
			return true;
	}
	return false;
}

/*
 * One of 64 bits for each PID namespace. Two that share a bit in one round do not in most others. (The multipliers are
 * those of MurmurHash3.)
 */
static uint64_t
namespace_bit(uint32_t pid_ns, uint64_t round)
{
	uint32_t hash = (pid_ns + (uint32_t)round) * UINT32_C(0x85ebca6b);
	hash = (hash ^ hash >> 13) * UINT32_C(0xc2b2ae35);
	return UINT64_C(1) << (hash >> 26);
}

/*
 * Wakes one waiter of each PID namespace that has an owner which this process cannot judge: at most once in a TICK, and
 * another waiter each time, because that one may be dead, too.
 */
static void
call_judges(struct tsem *sem, uint32_t pid_ns, uint64_t now)
{
	struct header *header = sem->segment.header;
	const uint64_t called = LOAD_ACQ(&header->called);
	const uint64_t round = now / TICK & COUNTER_MASK;
	if (LOAD_SEQ(&header->mixed_pid_ns) == 0 || counter_value(called) == round)
		return;
	const uint32_t from = (uint32_t)counter_tag(called);
	const uint64_t begun = counter_word_make(round, from);
	if (!CAS_SEQ(&header->called, called, begun))
		return;

	const uint32_t records = record_limit(sem);
	uint64_t done = namespace_bit(pid_ns, round);
	uint64_t state;
	for (uint32_t i = 0; i < records; i++) {
		const uint32_t index = (from + i) % records;
		const struct record *record = record_at(sem, index);
		if (record == NULL || !record_is_queued(record, &state))
			continue;
		const uint32_t its_namespace = LOAD_ACQ(&record->pid_ns);
		const uint64_t bit = namespace_bit(its_namespace, round);
		if ((done & bit) == 0 && has_owner_to_judge(sem, its_namespace)) {
			CAS_SEQ(&header->called, begun, counter_word_make(round, index + 1));
			wake_waiter(sem, state_value(state), LOAD_ACQ(&record->count));
		}
		done |= bit;
	}
}

/* ---- the look ---- */

/* Wakes a waiter for each free record: the process that freed one, or the waiter woken for it, may have died. */
static void
serve_record_waiters(struct tsem *sem)
{
	if (!record_is_wanted(sem->segment.header))
		return;
	recover_spare_records(sem);
	uint32_t n = 0;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record)
		n += LOAD_RLX(&record->owner) == 0 && state_kind(LOAD_RLX(&record->state)) == STATE_IDLE;
	if (n > 0)
		record_wake(sem->segment.header, n);
}

static void
count_waiters(struct tsem *sem)
{
	uint32_t n = 0;
	uint64_t state;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record)
		n += record_is_queued(record, &state);
	STORE_RLX(&sem->segment.header->line, n);
}

void
look_unless_done(struct tsem *sem, uint64_t now, uint64_t due)
{
	const uint32_t pid_ns = identity_pid_ns();
	if (is_done(sem, pid_ns, due != 0 ? due : now - LOOKOUT_EVERY))
		return;
	STORE_RLX(&sem->unsure, false);
	recover_all(sem, NULL);
	count_waiters(sem);
	serve_record_waiters(sem);
	wake_overlooked(sem);
	removal_notice(sem);
	call_judges(sem, pid_ns, now);
	/* Only now: a look that a death cuts short counts for no other process. */
	if (!LOAD_RLX(&sem->unsure))
		STORE_REL(look_of(sem, pid_ns), look_make(pid_ns, in_ms(now)));
}

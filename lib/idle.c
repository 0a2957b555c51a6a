/* SPDX-License-Identifier: MIT */
#include "idle.h"

#include <errno.h>
#include <limits.h>

#include "census.h"
#include "platform.h"
#include "queue.h"
#include "recover.h"

/* Whoever still waits sets its bit again. In this order: who read `idle` before may have set it before it was cleared. */
static void
clear_and_wake(struct tsem *sem, uint64_t bits)
{
	struct header *header = sem->segment.header;
	AND_SEQ(&header->concern, ~bits);
	ADD_SEQ(&header->idle, 1);
	platform.wake(&header->idle, (uint32_t)bits, INT_MAX);
}

/*
 * The third Dekker pair beside those of lib/protocol.h: who waits sets its bit in `concern` and then looks at the counters
 * and records; who moves G looks at `concern` after that. So either the waiter sees the move, or the mover the bit. (A post looks
 * before it moves G, and moves it only if no process has called stir_grants() since.)
 *
 * Every way to idleness ends with a move of G: a release, a post, a place that is passed over. Nobody holds or waits only
 * if T has not passed G; whether nobody holds while some wait takes a look at the records, which the sleeper takes.
 */
void
idle_notify(struct tsem *sem)
{
	struct header *header = sem->segment.header;
	const uint64_t concern = LOAD_SEQ(&header->concern);
	if ((concern & (CONCERN_IDLE | CONCERN_HOLDERS)) == 0)
		return;
	const uint64_t grants = LOAD_SEQ(&header->grants);
	const uint64_t tickets = LOAD_SEQ(&header->tickets);
	const bool all_back = counter_diff(word_counter(tickets), word_counter(grants)) <= 0;
	const uint64_t due = concern & (all_back ? CONCERN_IDLE | CONCERN_HOLDERS : CONCERN_HOLDERS);
	if (due != 0)
		clear_and_wake(sem, due);
}

void
idle_forget(struct tsem *sem, uint64_t bits)
{
	const uint64_t left = LOAD_SEQ(&sem->segment.header->concern) & bits;
	if (left != 0)
		clear_and_wake(sem, left);
}

static uint64_t
bit_of(bool holders_only)
{
	return holders_only ? CONCERN_HOLDERS : CONCERN_IDLE;
}

/* One look; whoever sleeps behind it has set the bit before it. 0: idle; -EAGAIN: not yet. */
static int
look(struct tsem *sem, bool holders_only)
{
	if (is_removed(sem))
		return -EIDRM;
	return census_is_idle(sem, holders_only) ? 0 : -EAGAIN;
}

/* The time is up. */
static int
look_once_more(struct tsem *sem, bool holders_only)
{
	recover_all(sem, NULL);
	int rc = look(sem, holders_only);
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}

static int
sleep_until_idle(struct tsem *sem, bool holders_only, uint64_t until, unsigned flags)
{
	struct header *header = sem->segment.header;
	const uint64_t bit = bit_of(holders_only);
	uint64_t now;
	while ((now = platform.now()) < until) {
		const uint32_t seen = LOAD_ACQ(&header->idle);
		OR_SEQ(&header->concern, bit);
		stir_grants(sem);
		int rc = look(sem, holders_only);
		if (rc != -EAGAIN)
			return rc;
		const uint64_t again = recover_if_due(sem, now);
		rc = platform.sleep(&header->idle, seen, (uint32_t)bit, earlier_of(again, until));
		if (rc == -EINTR && (flags & TSEM_INTERRUPTIBLE) != 0) {
			rc = look(sem, holders_only);
			return rc == -EAGAIN ? -EINTR : rc;
		}
	}
	return look_once_more(sem, holders_only);
}

int
tsem_wait_idle(tsem *sem, unsigned flags, const struct timespec *deadline)
{
	const bool holders_only = (flags & TSEM_HOLDERS) != 0;
	if ((flags & ~(TSEM_HOLDERS | TSEM_INTERRUPTIBLE)) != 0 || !queue_is_deadline(deadline))
		return -EINVAL;
	if (!sem->segment.writable)
		return -EPERM;
	int rc = look(sem, holders_only);
	if (rc != -EAGAIN)
		return rc;
	/* A try leaves the others asleep. */
	const uint64_t until = queue_deadline(deadline);
	if (platform.now() >= until)
		return look_once_more(sem, holders_only);
	rc = sleep_until_idle(sem, holders_only, until, flags);
	idle_forget(sem, bit_of(holders_only));
	return rc;
}

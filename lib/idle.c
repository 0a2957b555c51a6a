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
notify_bits(struct tsem *sem, uint64_t bits)
{
	struct header *header = sem->segment.header;
	AND_SEQ(&header->pending, ~bits);
	ADD_SEQ(&header->idle, 1);
	platform.wake(&header->idle, (uint32_t)bits, INT_MAX);
}

/*
 * The third Dekker pair beside those of lib/protocol.h: who waits sets its bit in `pending` and then looks at the counters
 * and records; who moves G looks at `pending` after that. So either the waiter sees the move, or the mover the bit. (A post looks
 * before it moves G, and moves it only if no process has called stir_grants() since.)
 *
 * Every way to idleness ends with a move of G: a release, a post, a place that is passed over. Nobody holds or waits only
 * if T has not passed G; whether nobody holds while some wait takes a look at the records, which the sleeper takes.
 */
void
notify_idle(struct tsem *sem)
{
	struct header *header = sem->segment.header;
	const uint64_t pending = LOAD_SEQ(&header->pending);
	if ((pending & (PENDING_IDLE | PENDING_HOLDERS)) == 0)
		return;
	const uint64_t grants = LOAD_SEQ(&header->grants);
	const uint64_t tickets = LOAD_SEQ(&header->tickets);
	const bool all_back = counter_diff(counter_value(tickets), counter_value(grants)) <= 0;
	const uint64_t due = pending & (all_back ? PENDING_IDLE | PENDING_HOLDERS : PENDING_HOLDERS);
	if (due != 0)
		notify_bits(sem, due);
}

void
notify_forget(struct tsem *sem, uint64_t bits)
{
	const uint64_t left = LOAD_SEQ(&sem->segment.header->pending) & bits;
	if (left != 0)
		notify_bits(sem, left);
}

static uint64_t
bit_of(bool holders_only)
{
	return holders_only ? PENDING_HOLDERS : PENDING_IDLE;
}

/* One look; whoever sleeps behind it has set the bit before it. 0: idle; -EAGAIN: not yet. */
static int
look(struct tsem *sem, bool holders_only)
{
	if (removal_notice(sem))
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
		OR_SEQ(&header->pending, bit);
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
	notify_forget(sem, bit_of(holders_only));
	return rc;
}
